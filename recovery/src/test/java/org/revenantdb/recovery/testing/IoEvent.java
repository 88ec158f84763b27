package org.revenantdb.recovery.testing;

import java.nio.file.Path;

/**
 * One thing that is about to happen to a file.
 *
 * @param kind what
 * @param file the real file or directory
 * @param position first byte concerned, 0 where that means nothing
 * @param length how many bytes, 0 where that means nothing
 */
public record IoEvent(Kind kind, Path file, long position, long length) {
  /** What happens. */
  public enum Kind {
    /** A file is opened or created. */
    OPEN,
    /** Bytes are read. */
    READ,
    /** Bytes are written. */
    WRITE,
    /** A file or directory is forced. */
    FORCE,
    /** A file is cut. */
    TRUNCATE,
    /** A directory is created. */
    CREATE_DIRECTORY,
    /** A file or directory is renamed. */
    RENAME,
    /** A file or directory is deleted. */
    DELETE,
    /** A part of a file is mapped for writing. */
    MAP
  }

  /**
   * Whether this event concerns that file and is of that kind.
   *
   * @param wanted the kind
   * @param fileName the last part of its path
   * @return true if both are so
   */
  public boolean is(Kind wanted, String fileName) {
    return kind == wanted && file.getFileName().toString().equals(fileName);
  }

  @Override
  public String toString() {
    String range = length == 0 ? "" : " " + position + "+" + length;
    return kind + " " + file.getFileName() + range;
  }
}

package org.revenantdb.recovery.file;

import java.nio.file.Path;

/** The file was written in another format version than the one that this library reads. */
public final class FormatVersionException extends StorageException {
  private static final long serialVersionUID = 1L;

  /** The version of the file. */
  private final int found;

  /** The version of this library. */
  private final int supported;

  /**
   * A file of another version.
   *
   * @param file the file
   * @param offset where its version stands
   * @param found the version of the file
   * @param supported the version that this library reads and writes
   */
  public FormatVersionException(Path file, long offset, int found, int supported) {
    super(
        file,
        offset,
        "the file has format version "
            + Integer.toUnsignedString(found)
            + ", this library reads version "
            + supported,
        Integer.compareUnsigned(found, supported) > 0
            ? "use a newer release of RevenantDB"
            : "use the release of RevenantDB that wrote it",
        /* cause= */ null);
    this.found = found;
    this.supported = supported;
  }

  /**
   * The version of the file.
   *
   * @return the version found, unsigned
   */
  public int found() {
    return found;
  }

  /**
   * The version of this library.
   *
   * @return the version supported
   */
  public int supported() {
    return supported;
  }
}

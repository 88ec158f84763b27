package org.revenantdb.recovery.file;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Something is wrong with a file: which one, where in it, why, and what to do.
 *
 * <p>The message is one sentence made of the four; the accessors give them one by one. Subclasses
 * say what kind of trouble it is.
 */
public class StorageException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** The offset of trouble that concerns a whole file. */
  public static final long NO_OFFSET = -1;

  private final transient Path file;

  /** The byte in the file, -1 where the whole file is meant. */
  private final long offset;

  /** What is wrong. */
  private final String reason;

  /** What the user can do. */
  private final String cure;

  /**
   * Trouble with a file.
   *
   * @param file the file or directory
   * @param offset the byte in it, or {@link #NO_OFFSET}
   * @param reason what is wrong, a clause without a full stop
   * @param cure what the user can do, a clause without a full stop
   * @param cause what the system said, if it said anything
   */
  public StorageException(
      Path file, long offset, String reason, String cure, @Nullable Throwable cause) {
    super(sentence(file, offset, reason, cure), cause);
    this.file = file;
    this.offset = offset;
    this.reason = reason;
    this.cure = cure;
  }

  private static String sentence(Path file, long offset, String reason, String cure) {
    String place = offset < 0 ? "" : " at byte " + offset;
    return file + place + ": " + reason + "; " + cure + ".";
  }

  /**
   * The file or directory.
   *
   * @return its path, as it was given to the engine
   */
  public final Path file() {
    return file;
  }

  /**
   * Where in the file.
   *
   * @return the byte, or {@link #NO_OFFSET} where the whole file is meant
   */
  public final long offset() {
    return offset;
  }

  /**
   * What is wrong.
   *
   * @return a clause
   */
  public final String reason() {
    return reason;
  }

  /**
   * What the user can do.
   *
   * @return a clause
   */
  public final String cure() {
    return cure;
  }
}

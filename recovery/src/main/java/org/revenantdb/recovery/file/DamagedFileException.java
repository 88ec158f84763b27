package org.revenantdb.recovery.file;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * The part of a file that is known to be durable is damaged: its content cannot be what the engine
 * has written.
 *
 * <p>What an ordinary crash or power cut leaves is never reported as damage. Users of the engine
 * receive the engine's exception of the same name instead; see {@link FileException}.
 */
public final class DamagedFileException extends FileException {
  private static final long serialVersionUID = 1L;

  private static final String CURE =
      "if files of the database were copied, moved or changed by hand, put back all of them from"
          + " one copy; if not, check the device and restore the database from a copy";

  /**
   * Creates an exception with all its parts.
   *
   * @param file the file or directory
   * @param offset the byte in it, or {@link #NO_OFFSET}
   * @param reason what is wrong, a clause without a full stop
   * @param cure what the user can do, a clause without a full stop
   * @param cause the error of the system, or null
   */
  public DamagedFileException(
      Path file, long offset, String reason, String cure, @Nullable Throwable cause) {
    super(file, offset, reason, cure, cause);
  }

  /**
   * Creates an exception about damage at an offset, with the usual remedy.
   *
   * @param file the damaged file
   * @param offset the byte where the damaged thing begins, or {@link #NO_OFFSET}
   * @param reason what is wrong, a clause without a full stop
   */
  public DamagedFileException(Path file, long offset, String reason) {
    this(file, offset, reason, /* cause= */ null);
  }

  /**
   * Creates an exception about damage at an offset, with the usual remedy and the exception that
   * revealed it.
   *
   * @param file the damaged file
   * @param offset the byte where the damaged thing begins, or {@link #NO_OFFSET}
   * @param reason what is wrong, a clause without a full stop
   * @param cause the exception that the damage caused
   */
  public DamagedFileException(Path file, long offset, String reason, @Nullable Throwable cause) {
    this(file, offset, reason, CURE, cause);
  }

  @Override
  protected FileException copy() {
    return new DamagedFileException(file(), offset(), reason(), cure(), this);
  }
}

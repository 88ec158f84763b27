package org.revenantdb.recovery.file;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * The content of a file cannot be what was written there: damage in the part that is known to be
 * durable.
 *
 * <p>The traces of an ordinary crash or power cut are never reported as damage.
 */
public final class CorruptDataException extends StorageException {
  private static final long serialVersionUID = 1L;

  private static final String CURE =
      "if files of the database were copied, moved or changed by hand, put back all of them from"
          + " one copy; if not, check the device and restore the database from a copy";

  /**
   * Makes an exception of this kind.
   *
   * @param file the file or directory
   * @param offset the byte in it, or {@link #NO_OFFSET}
   * @param reason what is wrong, a clause without a full stop
   * @param cure what the user can do, a clause without a full stop
   * @param cause the error of the system, or null
   */
  public CorruptDataException(
      Path file, long offset, String reason, String cure, @Nullable Throwable cause) {
    super(file, offset, reason, cure, cause);
  }

  /**
   * Damage at a place, with the usual cure.
   *
   * @param file the damaged file
   * @param offset the byte where the damaged thing begins, or {@link #NO_OFFSET}
   * @param reason what is wrong, a clause without a full stop
   */
  public CorruptDataException(Path file, long offset, String reason) {
    this(file, offset, reason, /* cause= */ null);
  }

  /**
   * Damage at a place, with the usual cure and the exception by which it was noticed.
   *
   * @param file the damaged file
   * @param offset the byte where the damaged thing begins, or {@link #NO_OFFSET}
   * @param reason what is wrong, a clause without a full stop
   * @param cause the exception that the damage caused
   */
  public CorruptDataException(Path file, long offset, String reason, @Nullable Throwable cause) {
    this(file, offset, reason, CURE, cause);
  }

  @Override
  protected StorageException copy() {
    return new CorruptDataException(file(), offset(), reason(), cure(), this);
  }
}

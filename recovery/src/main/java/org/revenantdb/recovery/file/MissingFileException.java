package org.revenantdb.recovery.file;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** A file or directory that belongs to the database, or was asked for, is not there. */
public final class MissingFileException extends FileException {
  private static final long serialVersionUID = 1L;

  /**
   * Makes an exception of this kind.
   *
   * @param file the file or directory
   * @param offset the byte in it, or {@link #NO_OFFSET}
   * @param reason what is wrong, a clause without a full stop
   * @param cure what the user can do, a clause without a full stop
   * @param cause the error of the system, or null
   */
  public MissingFileException(
      Path file, long offset, String reason, String cure, @Nullable Throwable cause) {
    super(file, offset, reason, cure, cause);
  }

  @Override
  protected FileException copy() {
    return new MissingFileException(file(), offset(), reason(), cure(), this);
  }
}

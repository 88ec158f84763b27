package org.revenantdb.recovery.file;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** The directory or file holds something, but no RevenantDB database. */
public final class NotADatabaseException extends FileException {
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
  public NotADatabaseException(
      Path file, long offset, String reason, String cure, @Nullable Throwable cause) {
    super(file, offset, reason, cure, cause);
  }

  @Override
  protected FileException copy() {
    return new NotADatabaseException(file(), offset(), reason(), cure(), this);
  }
}

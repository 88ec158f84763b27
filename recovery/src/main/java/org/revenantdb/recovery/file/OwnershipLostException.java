package org.revenantdb.recovery.file;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * The files at the database's path are no longer those that this engine has open, or another engine
 * has taken over the database. This engine has stopped before it wrote another byte.
 */
public final class OwnershipLostException extends FileException {
  private static final long serialVersionUID = 1L;

  /**
   * Makes an exception of this kind.
   *
   * @param file the file or directory
   * @param reason what is wrong, a clause without a full stop
   * @param cure what the user can do, a clause without a full stop
   * @param cause the error of the system, or null
   */
  public OwnershipLostException(Path file, String reason, String cure, @Nullable Throwable cause) {
    super(file, NO_OFFSET, reason, cure, cause);
  }

  @Override
  protected FileException copy() {
    return new OwnershipLostException(file(), reason(), cure(), this);
  }
}

package org.revenantdb.recovery.file;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * The files at the database's path are no longer those that this engine has open, or another engine
 * has taken the database over. The engine has stopped before it wrote another byte.
 */
public final class OwnershipLostException extends StorageException {
  private static final long serialVersionUID = 1L;

  /**
   * Trouble of this kind.
   *
   * @param file the file or directory
   * @param reason what is wrong, a clause without a full stop
   * @param cure what the user can do, a clause without a full stop
   * @param cause what the system said, if it said anything
   */
  public OwnershipLostException(Path file, String reason, String cure, @Nullable Throwable cause) {
    super(file, NO_OFFSET, reason, cure, cause);
  }

  @Override
  protected StorageException copy() {
    return new OwnershipLostException(file(), reason(), cure(), this);
  }
}

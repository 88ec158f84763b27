package org.revenantdb.engine;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * A file has contents that the engine cannot have left there: the device has damaged it, or another
 * program has written to it. A crash or a power cut never leaves such contents.
 *
 * <p>The read or open that throws this has no result. Nothing was repaired or overwritten. Keep a
 * copy of the directory, check the device, and restore the database from a copy.
 */
public final class CorruptDataException extends StorageException {
  private static final long serialVersionUID = 1L;

  /**
   * An exception, as the engine makes it. Public, so that tests of applications can make one.
   *
   * @param file the damaged file
   * @param offset where the damaged part begins, or {@link #NO_OFFSET}
   * @param problem what is wrong, a clause without a full stop
   * @param cure what the user can do, a clause without a full stop
   * @param cause the exception that the engine received, if any
   */
  public CorruptDataException(
      Path file, long offset, String problem, String cure, @Nullable Throwable cause) {
    super(Reason.DAMAGED, file, offset, problem, cure, cause);
  }

  @Override
  RevenantException copy() {
    return new CorruptDataException(file(), offset(), problem(), cure(), this);
  }
}

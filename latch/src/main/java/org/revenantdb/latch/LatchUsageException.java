package org.revenantdb.latch;

import java.io.Serial;

/**
 * A use of latches that can end in a deadlock, found in debug mode ({@link LatchDebug}).
 *
 * <p>It is thrown before the wait: nothing was acquired, and the thread still holds what it held.
 */
public final class LatchUsageException extends IllegalStateException {
  @Serial private static final long serialVersionUID = 1;

  LatchUsageException(String message) {
    super(message);
  }
}

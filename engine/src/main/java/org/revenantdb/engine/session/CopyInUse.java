package org.revenantdb.engine.session;

import org.revenantdb.recovery.file.DamagedFileException;
import org.revenantdb.recovery.file.MissingFileException;

/**
 * Adds the cause to the report of damage in a directory that was copied while the original was in
 * use. The device is not to blame, and another copy made in the same way would be no better.
 */
public final class CopyInUse {
  private static final String WHY =
      "; this is a copy of a database that was in use, or not closed, when it was copied, so its files may be of"
          + " different moments";
  private static final String CURE =
      "make another copy with backup, or copy the database while it is closed; if this is not a copy, restore the database from a backup";

  private CopyInUse() {}

  /** The exception to throw in place of one that was met in such a directory. */
  public static RuntimeException told(RuntimeException failure) {
    return switch (failure) {
      case DamagedFileException damage ->
          new DamagedFileException(
              damage.file(), damage.offset(), damage.reason() + WHY, CURE, damage);
      case MissingFileException missing ->
          new MissingFileException(
              missing.file(), missing.offset(), missing.reason() + WHY, CURE, missing);
      default -> failure;
    };
  }
}

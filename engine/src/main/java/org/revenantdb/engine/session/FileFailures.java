package org.revenantdb.engine.session;

import java.util.Map;
import org.revenantdb.engine.CorruptDataException;
import org.revenantdb.engine.StorageException;
import org.revenantdb.engine.StorageException.Reason;
import org.revenantdb.recovery.file.DatabaseLockedException;
import org.revenantdb.recovery.file.DiskFullException;
import org.revenantdb.recovery.file.ForceFailedException;
import org.revenantdb.recovery.file.FormatVersionException;
import org.revenantdb.recovery.file.MissingFileException;
import org.revenantdb.recovery.file.NotADatabaseException;
import org.revenantdb.recovery.file.OwnershipLostException;
import org.revenantdb.recovery.file.ReadOnlyStorageException;
import org.revenantdb.recovery.file.StorageIOException;

/**
 * Translates exceptions about files from the recovery module to the API. This is the only place
 * that makes one from the other, and the only class that has to know both families: the recovery
 * module's {@code StorageException} has a subclass for each cause, the API's has a {@link Reason}.
 */
public final class FileFailures {
  /** The reason for each class; a class that is not here has no reason of its own yet. */
  private static final Map<Class<?>, Reason> REASONS =
      Map.ofEntries(
          Map.entry(org.revenantdb.recovery.file.FileException.class, Reason.IO),
          Map.entry(StorageIOException.class, Reason.IO),
          Map.entry(DiskFullException.class, Reason.DISK_FULL),
          Map.entry(ReadOnlyStorageException.class, Reason.ACCESS_DENIED),
          Map.entry(ForceFailedException.class, Reason.FORCE_FAILED),
          Map.entry(OwnershipLostException.class, Reason.OWNERSHIP_LOST),
          Map.entry(DatabaseLockedException.class, Reason.LOCKED),
          Map.entry(NotADatabaseException.class, Reason.NOT_A_DATABASE),
          Map.entry(FormatVersionException.class, Reason.FORMAT_VERSION),
          Map.entry(MissingFileException.class, Reason.MISSING_FILE),
          Map.entry(org.revenantdb.recovery.file.DamagedFileException.class, Reason.DAMAGED));

  private FileFailures() {}

  /** Whether a class of the recovery module has a reason in the API. */
  static boolean isKnown(Class<?> type) {
    return REASONS.containsKey(type);
  }

  /**
   * Returns the exception of the API. It has the stack of the current thread, the internal
   * exception as its cause, and the same message.
   *
   * @param failure the exception of the recovery module
   * @return the exception of the API
   */
  public static StorageException toApi(org.revenantdb.recovery.file.FileException failure) {
    Reason reason = REASONS.getOrDefault(failure.getClass(), Reason.IO);
    return reason == Reason.DAMAGED
        ? new CorruptDataException(
            failure.file(), failure.offset(), failure.reason(), failure.cure(), failure)
        : new StorageException(
            reason, failure.file(), failure.offset(), failure.reason(), failure.cure(), failure);
  }
}

package org.revenantdb.engine.access;

import java.lang.invoke.MethodHandles;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.ConflictException;
import org.revenantdb.engine.ConflictReason;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.DatabaseStatistics;
import org.revenantdb.engine.RestartPhase;
import org.revenantdb.engine.RevenantException;
import org.revenantdb.engine.Sequence;
import org.revenantdb.engine.SequenceOptions;
import org.revenantdb.engine.Statistic;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.Transaction;
import org.revenantdb.engine.TransactionOptions;
import org.revenantdb.engine.Waits;
import org.revenantdb.engine.catalog.SequenceMark;
import org.revenantdb.engine.catalog.TableState;
import org.revenantdb.engine.serial.SerialReads;
import org.revenantdb.engine.session.Engine;
import org.revenantdb.engine.session.LostRow;
import org.revenantdb.engine.session.TransactionCore;
import org.revenantdb.latch.WaitStatistics;

/**
 * Gives the engine access to package-private members of the exported package. There is no other way
 * to them.
 *
 * <p>Threads: any.
 */
public abstract class ApiAccess {
  private static volatile @Nullable ApiAccess registered;

  private static final class Holder {
    static final ApiAccess API = find();

    private static ApiAccess find() {
      try {
        MethodHandles.lookup().ensureInitialized(Database.class);
      } catch (IllegalAccessException e) {
        throw new AssertionError(e);
      }
      ApiAccess found = registered;
      if (found == null) {
        throw new AssertionError("the API has not registered its access");
      }
      return found;
    }
  }

  /** For the exported package. */
  protected ApiAccess() {}

  /** The access. */
  public static ApiAccess api() {
    return Holder.API;
  }

  /** Called by the exported package, once. */
  public static void register(ApiAccess access) {
    registered = access;
  }

  // ---- tables and sequences

  /** The API object of a table. */
  public abstract Table table(TableState state);

  /** The engine's state of a table. */
  public abstract TableState state(Table table);

  /** Makes a sequence. */
  public abstract Sequence sequence(
      Engine engine, String name, SequenceOptions options, SequenceMark mark);

  /** The options in a row of the catalogue. */
  public abstract SequenceOptions sequenceOptions(byte[] row);

  /** Options as a row of the catalogue. */
  public abstract byte[] row(SequenceOptions options);

  // ---- transactions

  /** A transaction with a snapshot. */
  public abstract Transaction transaction(
      Engine engine,
      int slot,
      TransactionOptions options,
      @Nullable Throwable begun,
      @Nullable SerialReads reads);

  /** The core of a transaction: everything except the user's object. */
  public abstract TransactionCore core(Transaction transaction);

  /** Its core, if it was used; else it holds nothing but its slot. */
  public abstract @Nullable TransactionCore usedCore(Transaction transaction);

  /** Its core, which can be ended without it; null if it has ended. */
  public abstract @Nullable TransactionCore openCore(Transaction transaction);

  /** Called at the end of the database: no thread is inside it. */
  public abstract void databaseCloses(Transaction transaction);

  /** Its name; null if it has none. */
  public abstract @Nullable String name(Transaction transaction);

  /** Runs an action in a transaction. */
  public abstract <T extends @Nullable Object> T inside(
      Transaction transaction, Supplier<T> action);

  /** Deletes a range of rows; the last argument runs before the first is deleted, for tests. */
  public abstract long deleteRange(
      Transaction transaction,
      Table table,
      byte @Nullable [] from,
      byte @Nullable [] to,
      Runnable beforeDeletion);

  // ---- options

  /** The greatest size of the log in bytes. */
  public abstract long logBytes(DatabaseOptions options, int segmentBytes);

  /** Whether lazy commits are forced only on request. */
  public abstract boolean isLazyForcedOnRequestOnly(DatabaseOptions options);

  /** The code of a phase in a counters file. */
  public abstract int code(RestartPhase phase);

  // ---- exceptions

  /** A conflict. */
  public abstract ConflictException conflict(
      ConflictReason reason, String message, String cure, long holder);

  /** A deadlock. */
  public final ConflictException deadlock(String message, String cure, long holder) {
    return conflict(ConflictReason.DEADLOCK, message, cure, holder);
  }

  /** A lock that could not be acquired in time. */
  public final ConflictException lockTimeout(String message) {
    return conflict(ConflictReason.LOCK_TIMEOUT, message, /* cure= */ "", /* holder= */ 0);
  }

  /** A conflict of serializable transactions. */
  public final ConflictException serializationConflict(String message, String cure) {
    return conflict(ConflictReason.NOT_SERIALIZABLE, message, cure, /* holder= */ 0);
  }

  /** Marks the exception as the end of the retries, with their number and what to do now. */
  public abstract void gaveUp(ConflictException conflict, String attempts);

  /** Whether two conflicts have the same reason and the same other transaction, if any. */
  public abstract boolean isSame(ConflictException one, ConflictException other);

  /** Records that a transaction of the same thread is the reason. */
  public abstract void isBecauseOf(
      ConflictException conflict, @Nullable TransactionCore core, boolean isAlone);

  public abstract void lost(ConflictException conflict, @Nullable LostRow row);

  /** The row that was lost; null for another kind of conflict, or outside an attempt. */
  public abstract @Nullable LostRow lost(ConflictException conflict);

  /** Whether the holder of the row may have it for long. */
  public abstract boolean isOfLongUse(ConflictException conflict);

  /** Whether another attempt may succeed. */
  public abstract boolean isWorthAnotherAttempt(
      ConflictException conflict, TransactionCore attempt);

  /** The same for the current thread, with its stack. */
  public abstract RevenantException forCaller(RevenantException exception);

  // ---- statistics

  /**
   * Statistics of a moment.
   *
   * @param values of all statistics
   * @param oldestSnapshotName the name of the transaction with the oldest snapshot; null if there
   *     is none
   * @param database identifies the open database
   * @param nanoTime when the engine began to read them
   */
  public abstract DatabaseStatistics statistics(
      Map<Statistic, Long> values,
      @Nullable String oldestSnapshotName,
      Object database,
      long nanoTime);

  /** Updates the counters file now, if the database has one. */
  public abstract void writeCounters(Database database);

  /** Waits by class, in the order of the classes. */
  public abstract Waits waits(WaitStatistics.Snapshot... snapshots);
}

package org.revenantdb.engine;

import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.access.ApiAccess;
import org.revenantdb.engine.catalog.SequenceMark;
import org.revenantdb.engine.catalog.TableState;
import org.revenantdb.engine.flight.FlightEvents;
import org.revenantdb.engine.serial.SerialReads;
import org.revenantdb.engine.session.Engine;
import org.revenantdb.engine.session.LostRow;
import org.revenantdb.engine.session.TransactionCore;
import org.revenantdb.latch.WaitStatistics;

/** The package-private members of this package, for the engine. */
final class EngineFaces extends ApiAccess {
  @Override
  public Table table(TableState state) {
    return new Table(state);
  }

  @Override
  public TableState state(Table table) {
    return table.state();
  }

  @Override
  public Sequence sequence(Engine engine, String name, SequenceOptions options, SequenceMark mark) {
    return new Sequence(engine, name, options, mark);
  }

  @Override
  public SequenceOptions sequenceOptions(byte[] row) {
    return SequenceOptions.of(row);
  }

  @Override
  public byte[] row(SequenceOptions options) {
    return options.row();
  }

  @Override
  public Transaction transaction(
      Engine engine,
      int slot,
      TransactionOptions options,
      @Nullable Throwable begun,
      @Nullable SerialReads reads) {
    return new Transaction(engine, slot, options, begun, reads);
  }

  @Override
  public TransactionCore core(Transaction transaction) {
    return transaction.core();
  }

  @Override
  public @Nullable TransactionCore usedCore(Transaction transaction) {
    return transaction.usedCore();
  }

  @Override
  public @Nullable TransactionCore openCore(Transaction transaction) {
    return transaction.openCore();
  }

  @Override
  public void databaseCloses(Transaction transaction) {
    transaction.databaseCloses();
  }

  @Override
  public @Nullable String name(Transaction transaction) {
    return transaction.name();
  }

  @Override
  public <T extends @Nullable Object> T inside(Transaction transaction, Supplier<T> action) {
    return transaction.inside(action);
  }

  @Override
  public long deleteRange(
      Transaction transaction,
      Table table,
      byte @Nullable [] from,
      byte @Nullable [] to,
      Runnable beforeDeletion) {
    return transaction.deleteRange(table, from, to, beforeDeletion);
  }

  @Override
  public long logBytes(DatabaseOptions options, int segmentBytes) {
    return options.logBytes(segmentBytes);
  }

  @Override
  public boolean isLazyForcedOnRequestOnly(DatabaseOptions options) {
    return options.isLazyForcedOnRequestOnly();
  }

  @Override
  public int code(RestartPhase phase) {
    return phase.code();
  }

  @Override
  public ConflictException conflict(
      ConflictReason reason, String message, String cure, long holder) {
    FlightEvents.conflict(reason.name(), message, holder);
    return new ConflictException(reason, message, cure, holder);
  }

  @Override
  public void gaveUp(ConflictException conflict, String attempts) {
    conflict.gaveUp(attempts);
  }

  @Override
  public boolean isSame(ConflictException one, ConflictException other) {
    return one.isAs(other);
  }

  @Override
  public void isBecauseOf(
      ConflictException conflict, @Nullable TransactionCore core, boolean isAlone) {
    conflict.isBecauseOf(core, isAlone);
  }

  @Override
  public void lost(ConflictException conflict, @Nullable LostRow row) {
    conflict.lost(row);
  }

  @Override
  public @Nullable LostRow lost(ConflictException conflict) {
    return conflict.lost();
  }

  @Override
  public boolean isOfLongUse(ConflictException conflict) {
    return conflict.isOfLongUse();
  }

  @Override
  public boolean isWorthAnotherAttempt(ConflictException conflict, TransactionCore attempt) {
    return conflict.isWorthAnotherAttempt(attempt);
  }

  @Override
  public RevenantException forCaller(RevenantException exception) {
    return exception.forCaller();
  }

  @Override
  public void writeCounters(Database database) {
    database.writeCounters();
  }

  @Override
  public DatabaseStatistics statistics(
      Map<Statistic, Long> values,
      @Nullable String oldestSnapshotName,
      Object database,
      long nanoTime) {
    return new DatabaseStatistics(
        new StatisticValues(values), oldestSnapshotName, database, nanoTime);
  }

  @Override
  public Waits waits(WaitStatistics.Snapshot... snapshots) {
    return new Waits(snapshots);
  }
}

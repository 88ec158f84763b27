package org.revenantdb.engine.testing;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.change.Journal;
import org.revenantdb.recovery.format.LittleEndian;
import org.revenantdb.recovery.format.LogRecordLayout;
import org.revenantdb.recovery.log.LogStoppedException;
import org.revenantdb.recovery.log.RecordBuilder;
import org.revenantdb.recovery.log.RecordType;

/** A log in memory that keeps every record; durable as far as somebody waited for it. */
public final class MemoryJournal extends Journal {
  /** Where the first record begins. */
  static final long START = 4096;

  /** A record as it was published; the length is without padding. */
  public record Entry(long lsn, byte[] bytes) {
    public boolean is(RecordType type) {
      return bytes[LogRecordLayout.TYPE] == type.code();
    }

    public long transaction() {
      return LittleEndian.getLong(bytes, LogRecordLayout.TRANSACTION);
    }
  }

  /** Called with a record before it is published; may throw. */
  public interface Gate {
    void before(RecordBuilder record);
  }

  private final List<Entry> entries = new ArrayList<>();
  private long tail = START;
  private long durable = START;
  private volatile @Nullable Throwable failure;
  public volatile Gate gate = record -> {};

  /** Waits until no record before an LSN is missing; may throw. */
  public volatile LongConsumer unbroken = lsn -> {};

  public MemoryJournal() {}

  /** A journal that goes on after these. */
  public MemoryJournal(List<Entry> former) {
    entries.addAll(former);
    tail = former.isEmpty() ? START : former.getLast().lsn();
    durable = tail;
  }

  @Override
  public long publish(RecordBuilder record) {
    gate.before(record);
    synchronized (this) {
      Throwable cause = failure;
      if (cause != null) {
        throw new LogStoppedException(cause);
      }
      tail += LogRecordLayout.aligned(record.length());
      entries.add(new Entry(tail, Arrays.copyOf(record.array(), record.length())));
      return tail;
    }
  }

  public synchronized List<Entry> entries() {
    return List.copyOf(entries);
  }

  /** Everything published is durable now. */
  public synchronized void force() {
    durable = tail;
  }

  @Override
  public synchronized long tail() {
    return tail;
  }

  @Override
  public synchronized long durableLsn() {
    return durable;
  }

  @Override
  public synchronized void awaitDurable(long lsn) {
    durable = Math.max(durable, Math.min(lsn, tail));
  }

  @Override
  public void awaitUnbroken(long lsn) {
    unbroken.accept(lsn);
  }

  @Override
  public void awaitDurableUnasked(long lsn) {
    awaitDurable(lsn);
  }

  @Override
  public void requestFlush(long lsn) {
    awaitDurable(lsn);
  }

  @Override
  public void requestFlushWithin(long lsn, long nanos) {
    // Time does not pass here.
  }

  @Override
  public @Nullable Throwable failure() {
    return failure;
  }

  @Override
  public void fail(Throwable cause) {
    if (failure == null) {
      failure = cause;
    }
  }

  @Override
  public long bytesInDirectory() {
    return 0;
  }
}

package org.revenantdb.recovery.restart;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.ArrayDeque;
import java.util.concurrent.locks.Condition;
import org.jspecify.annotations.Nullable;
import org.revenantdb.latch.PatientLock;
import org.revenantdb.recovery.log.PartKind;

/**
 * The way of parts of records from the one who reads the log to one worker, in the order in which
 * they were put in.
 *
 * <p>Threads: one puts in and ends; one takes out.
 */
final class RedoLane {
  /*
   * A part in a batch   u64 number | u64 LSN | u32 page | u32 kind and length | its bytes
   *
   * A batch is with   nobody yet    made when the reader needs one and fewer than DEPTH exist
   *                   the reader    who fills it; it is nobody else's business until it is full
   *                   `full`        in order
   *                   the worker    who hands it back when it has carried out all of it
   *                   `empty`
   *
   * So what a lane holds is bounded, and nothing is allocated for a part. Both wait for the other only in here, with
   * nothing held: the reader has no latch, the worker has given up its frame.
   */

  /** Room for the longest part and then some. */
  static final int BATCH = 1 << 17;

  /** So many batches at most. */
  static final int DEPTH = 4;

  private static final VarHandle LONG =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
  private static final VarHandle INT =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);

  private static final int NUMBER = 0;
  private static final int LSN = NUMBER + Long.BYTES;
  private static final int PAGE = LSN + Long.BYTES;
  private static final int KIND_AND_LENGTH = PAGE + Integer.BYTES;
  private static final int HEADER = KIND_AND_LENGTH + Integer.BYTES;
  private static final int KIND_SHIFT = 16;

  /** Some parts, one after the other. */
  static final class Batch {
    private final byte[] bytes = new byte[BATCH];
    private int end;

    private boolean fits(int length) {
      return end + HEADER + length <= BATCH;
    }

    private void add(
        long number, int page, long lsn, PartKind kind, byte[] from, int offset, int length) {
      LONG.set(bytes, end + NUMBER, number);
      LONG.set(bytes, end + LSN, lsn);
      INT.set(bytes, end + PAGE, page);
      INT.set(bytes, end + KIND_AND_LENGTH, kind.code() << KIND_SHIFT | length);
      System.arraycopy(from, offset, bytes, end + HEADER, length);
      end += HEADER + length;
    }

    boolean hasPartAt(int at) {
      return at < end;
    }

    long number(int at) {
      return (long) LONG.get(bytes, at + NUMBER);
    }

    /** Hands a part over; returns where the next one is. */
    int redo(int at, RedoTarget target) {
      int kindAndLength = (int) INT.get(bytes, at + KIND_AND_LENGTH);
      int length = kindAndLength & (1 << KIND_SHIFT) - 1;
      @Nullable PartKind kind = PartKind.of(kindAndLength >>> KIND_SHIFT);
      if (kind == null) {
        throw new AssertionError("kind " + (kindAndLength >>> KIND_SHIFT));
      }
      int page = (int) INT.get(bytes, at + PAGE);
      target.redo(page, (long) LONG.get(bytes, at + LSN), kind, bytes, at + HEADER, length);
      return at + HEADER + length;
    }
  }

  private final PatientLock lock = new PatientLock();
  private final Condition changed = lock.newCondition();
  private final ArrayDeque<Batch> full = new ArrayDeque<>(DEPTH);
  private final ArrayDeque<Batch> empty = new ArrayDeque<>(DEPTH);
  private int made;
  private boolean ended;
  private boolean abandoned;

  /** Of the reader alone. */
  private @Nullable Batch filling;

  /** Puts a part in; waits while the worker is too far behind. */
  void put(long number, int page, long lsn, PartKind kind, byte[] from, int offset, int length) {
    Batch batch = filling;
    if (batch != null && !batch.fits(length)) {
      handOver(batch);
      batch = null;
    }
    if (batch == null) {
      batch = awaitEmpty();
      filling = batch;
    }
    batch.add(number, page, lsn, kind, from, offset, length);
  }

  private void handOver(Batch batch) {
    filling = null;
    lock.lock();
    try {
      full.addLast(batch);
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** Nobody takes anything out of an abandoned lane: what is put in is of no interest any more. */
  private Batch awaitEmpty() {
    lock.lock();
    try {
      while (empty.isEmpty() && made == DEPTH && !abandoned) {
        changed.awaitUninterruptibly();
      }
      Batch batch = abandoned ? full.pollFirst() : empty.pollFirst();
      if (batch == null) {
        batch = new Batch();
        made++;
      }
      batch.end = 0;
      return batch;
    } finally {
      lock.unlock();
    }
  }

  /** Says that nothing more comes; what was put in is still taken out. */
  void end() {
    Batch batch = filling;
    if (batch != null) {
      handOver(batch);
    }
    lock.lock();
    try {
      ended = true;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** The next batch; waits for it. Null when nothing more comes. */
  @Nullable Batch take() {
    lock.lock();
    try {
      while (full.isEmpty() && !ended) {
        changed.awaitUninterruptibly();
      }
      return full.pollFirst();
    } finally {
      lock.unlock();
    }
  }

  /** Gives a batch back that has been carried out. */
  void giveBack(Batch batch) {
    lock.lock();
    try {
      empty.addLast(batch);
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** The worker has ended before its time: the reader need not wait for it. */
  void abandon() {
    lock.lock();
    try {
      abandoned = true;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** For tests: how many batches there are. */
  int batches() {
    lock.lock();
    try {
      return made;
    } finally {
      lock.unlock();
    }
  }
}

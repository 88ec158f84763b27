package org.revenantdb.jmh.space;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.revenantdb.engine.page.Page;
import org.revenantdb.jmh.baseline.TenByteLsn;

/**
 * What does the LSN of a page that several threads change cost, as one word compared with the
 * paper's ten bytes?
 *
 * <p>Three questions: <b>raise</b>, to an LSN that was just reserved, so usually to the highest
 * (the reservation, one addition to a tail on its own cache line, is in both, and a separate
 * point); <b>read</b>, while no thread raises; <b>turns</b>, raise and then read, so that with two
 * threads each reads what the other writes. All threads work on the same page.
 *
 * <p>{@code ./revenant bench space-map}. We would give an LSN ten bytes, for files of their own
 * number, if that were as fast.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class PageLsnBenchmark {
  private static final int READS = 1_000;
  private static final int STEP = 64; // bytes of a record
  private static final int SLOTS_OF_A_BLOCK = 1 << 9; // of 32 KiB

  private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();

  /** Each on its own cache line, and away from the one-word LSN at 8. */
  private static final long TAIL = 2048;

  private static final long TEN = 4096;

  private final Arena arena = Arena.ofShared();
  private final MemorySegment page = arena.allocate(Page.SIZE, Page.SIZE);

  private final TenByteLsn ten = new TenByteLsn(page, TEN);

  /** JMH makes one. */
  public PageLsnBenchmark() {}

  /** Gives the page back. */
  @TearDown
  public void free() {
    arena.close();
  }

  /**
   * The common part of both.
   *
   * @return an LSN
   */
  @Benchmark
  public long reserve() {
    return (long) LONG.getAndAdd(page, TAIL, (long) STEP);
  }

  /** Ours. */
  @Benchmark
  public void raise_word() {
    Page.raiseLsn(page, reserve());
  }

  /** The paper's. */
  @Benchmark
  public void raise_ten() {
    raiseTen(reserve());
  }

  /** Blocks have many records each, as in the paper: a slot is the record's number there. */
  private void raiseTen(long lsn) {
    long record = lsn / STEP;
    ten.raise(record / SLOTS_OF_A_BLOCK, (int) (record % SLOTS_OF_A_BLOCK));
  }

  /**
   * Ours.
   *
   * @return the sum of what was read
   */
  @Benchmark
  @OperationsPerInvocation(READS)
  public long read_word() {
    long sum = 0;
    for (int i = 0; i < READS; i++) {
      sum += readWord();
    }
    return sum;
  }

  /** The fence keeps each read where it is. */
  private long readWord() {
    long lsn = Page.lsn(page);
    VarHandle.acquireFence();
    return lsn;
  }

  /**
   * The paper's.
   *
   * @return the sum of what was read
   */
  @Benchmark
  @OperationsPerInvocation(READS)
  public long read_ten() {
    long sum = 0;
    for (int i = 0; i < READS; i++) {
      sum += readTen();
    }
    return sum;
  }

  private long readTen() {
    TenByteLsn.Lsn lsn = ten.read();
    return lsn.block() + lsn.slot();
  }

  /**
   * Ours.
   *
   * @return what was read
   */
  @Benchmark
  public long turns_word() {
    Page.raiseLsn(page, reserve());
    return readWord();
  }

  /**
   * The paper's.
   *
   * @return what was read
   */
  @Benchmark
  public long turns_ten() {
    raiseTen(reserve());
    return readTen();
  }
}

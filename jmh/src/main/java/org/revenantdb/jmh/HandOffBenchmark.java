package org.revenantdb.jmh;

import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import org.jctools.queues.MessagePassingQueue;
import org.jctools.queues.varhandle.MpmcVarHandleArrayQueue;
import org.jctools.queues.varhandle.MpscUnboundedVarHandleArrayQueue;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.revenantdb.latch.PatientLock;
import org.revenantdb.recovery.file.Errand;
import org.revenantdb.recovery.file.ErrandQueue;
import org.revenantdb.recovery.file.LsnWaiters;

/**
 * What does it cost to put an object into a queue and to take one out, by the kind of the queue?
 *
 * <p>No thread sleeps in these loops, so this is the cost without the wake-up of the other thread.
 * In {@code spare}, objects are kept for the next thread that needs one: run it with {@code -t 1}
 * and {@code -t 2}. In {@code request}, a caller passes work to a thread of the engine. In {@code
 * waiter}, a thread registers to be woken at a position of the log. Run all of them with {@code
 * -prof gc}.
 *
 * <p>Requests would move to JCTools if the lock cost a tenth of the wake-up that follows it, or of
 * the read of a page. Both take some microseconds.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class HandOffBenchmark {
  private static final int SPARES = 16;
  private static final int CHUNK = 64;

  private static final class Request {}

  private final Queue<Object> spareBlocking = filled(new ArrayBlockingQueue<>(SPARES));
  private final Queue<Object> spareLinked = filled(new ConcurrentLinkedQueue<>());
  private final Queue<Object> spareArray = filled(new MpmcVarHandleArrayQueue<>(SPARES));

  private final MessagePassingQueue<Object> spareRelaxed = new MpmcVarHandleArrayQueue<>(SPARES);

  private final PatientLock lock = new PatientLock();
  private final Condition work = lock.newCondition();
  private final ArrayDeque<Request> locked = new ArrayDeque<>();
  private final ErrandQueue<Errand> errands = new ErrandQueue<>();
  private final Queue<Request> linked = new ConcurrentLinkedQueue<>();
  private final Queue<Request> manyToOne = new MpscUnboundedVarHandleArrayQueue<>(CHUNK);
  private final Queue<Request> manyToMany = new MpmcVarHandleArrayQueue<>(CHUNK);

  private final LsnWaiters waiters = new LsnWaiters();

  /** JMH makes one. */
  public HandOffBenchmark() {
    spareRelaxed.fill(Object::new, SPARES / 2);
  }

  private static Queue<Object> filled(Queue<Object> queue) {
    for (int i = 0; i < SPARES / 2; i++) {
      queue.add(new Object());
    }
    return queue;
  }

  /**
   * A lock around an array.
   *
   * @return what was taken
   */
  @Benchmark
  public @Nullable Object spare_ArrayBlockingQueue() {
    return exchange(spareBlocking);
  }

  /**
   * Links.
   *
   * @return what was taken
   */
  @Benchmark
  public @Nullable Object spare_ConcurrentLinkedQueue() {
    return exchange(spareLinked);
  }

  /**
   * An array of slots with sequence numbers.
   *
   * @return what was taken
   */
  @Benchmark
  public @Nullable Object spare_MpmcArrayQueue() {
    return exchange(spareArray);
  }

  /**
   * The same; while another thread is between two steps, this one finds nothing.
   *
   * @return what was taken
   */
  @Benchmark
  public @Nullable Object spare_MpmcArrayQueue_relaxed() {
    Object taken = spareRelaxed.relaxedPoll();
    if (taken != null) {
      spareRelaxed.relaxedOffer(taken);
    }
    return taken;
  }

  private static @Nullable Object exchange(Queue<Object> queue) {
    Object taken = queue.poll();
    if (taken != null) {
      queue.offer(taken);
    }
    return taken;
  }

  /**
   * As the page readers do it.
   *
   * @return what was taken
   */
  @Benchmark
  public @Nullable Object request_lockedArrayDeque() {
    Request request = new Request();
    lock.lock();
    try {
      locked.addLast(request);
      work.signal();
    } finally {
      lock.unlock();
    }
    lock.lock();
    try {
      return locked.pollFirst();
    } finally {
      lock.unlock();
    }
  }

  /**
   * As the page writer does it.
   *
   * @return what was taken
   */
  @Benchmark
  public @Nullable Object request_lockedErrandQueue() {
    Errand errand = new Errand();
    lock.lock();
    try {
      errands.push(errand);
      work.signal();
    } finally {
      lock.unlock();
    }
    lock.lock();
    try {
      return errands.take();
    } finally {
      lock.unlock();
    }
  }

  /**
   * As the cleaner does it.
   *
   * @return what was taken
   */
  @Benchmark
  public @Nullable Object request_ConcurrentLinkedQueue() {
    linked.add(new Request());
    return linked.poll();
  }

  /**
   * Chunks that are used again, for one thread that takes.
   *
   * @return what was taken
   */
  @Benchmark
  public @Nullable Object request_MpscUnboundedArrayQueue() {
    manyToOne.offer(new Request());
    return manyToOne.poll();
  }

  /**
   * Bounded, for many threads that take.
   *
   * @return what was taken
   */
  @Benchmark
  public @Nullable Object request_MpmcArrayQueue() {
    manyToMany.offer(new Request());
    return manyToMany.poll();
  }

  /** A stack of waiters that is taken whole; the position has been reached already. */
  @Benchmark
  public void waiter_LsnWaiters() {
    waiters.await(1, lsn -> true);
    waiters.wakeAll();
  }
}

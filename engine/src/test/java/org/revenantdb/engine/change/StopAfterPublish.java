package org.revenantdb.engine.change;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Stops one thread at the first, or another, of the places that it passes between publishing and
 * the last change, until it is released. Other threads pass, and are recorded.
 */
public final class StopAfterPublish implements AutoCloseable {
  private final Journal journal;
  private final CountDownLatch arrived = new CountDownLatch(1);
  private final CountDownLatch go = new CountDownLatch(1);
  private final Set<Thread> passed = ConcurrentHashMap.newKeySet();

  /** Stops that thread. */
  public StopAfterPublish(Journal journal, Thread thread) {
    this(journal, thread, Object.class);
  }

  /** Stops that thread at the first place that it passes inside a class. */
  public StopAfterPublish(Journal journal, Thread thread, Class<?> inside) {
    this(journal, thread, inside, 0);
  }

  /** Stops that thread at a place inside a class, after it has passed so many others there. */
  public StopAfterPublish(Journal journal, Thread thread, Class<?> inside, int places) {
    AtomicInteger before = new AtomicInteger(places);
    this.journal = journal;
    journal.steps =
        step -> {
          passed.add(Thread.currentThread());
          if (Thread.currentThread() == thread
              && (inside == Object.class || isInside(inside))
              && before.getAndDecrement() <= 0) {
            arrived.countDown();
            awaitWhole(go);
          }
        };
  }

  /** Waits until the thread has come there. */
  public void awaitArrival() {
    awaitWhole(arrived);
  }

  /** Lets it go on. */
  public void letGo() {
    go.countDown();
  }

  /** The threads that have passed so far. */
  public Set<Thread> passed() {
    return Set.copyOf(passed);
  }

  @Override
  public void close() {
    journal.steps = ChangeSteps.NONE;
    letGo();
  }

  private static boolean isInside(Class<?> type) {
    return StackWalker.getInstance()
        .walk(frames -> frames.anyMatch(frame -> frame.getClassName().equals(type.getName())));
  }

  private static void awaitWhole(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new IllegalStateException("interrupted in a test", e);
    }
  }
}

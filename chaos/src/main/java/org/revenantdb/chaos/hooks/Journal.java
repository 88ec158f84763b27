package org.revenantdb.chaos.hooks;

import java.io.IOException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * The order of a recorded JVM, on its {@link Tape}: the one lock, the places, promises and
 * controls. Both recorders have one.
 *
 * <p>Threads: any.
 */
final class Journal {

  /** Of a control, and of a look at mapped memory, if pages change meanwhile. */
  private static final int MOST_LOOKS = 5;

  private final ReentrantLock lock = new ReentrantLock();
  private final AtomicLong clock = new AtomicLong();

  /** Where promises are made. Taken with the lock held, as those of operations. */
  private final Stacks promises = new Stacks(this, /* sign= */ -1);

  private final Pages pages;
  private @Nullable Tape theTape;

  /** The place of the first page that an unfinished look found; 0 if none is unfinished. */
  private long lookFrom;

  /** Mapped memory. */
  interface Pages {

    /**
     * Writes the changed pages onto the tape. Called with the lock held.
     *
     * @param all whether also pages are compared that seem untouched
     */
    void compare(boolean all) throws Throwable;
  }

  Journal(Pages pages) {
    this.pages = pages;
  }

  ReentrantLock lock() {
    return lock;
  }

  AtomicLong clock() {
    return clock;
  }

  /** Begins to write onto a tape. */
  void use(Tape tape) {
    theTape = tape;
    promises.reset();
    lookFrom = 0;
  }

  Tape tape() {
    Tape tape = theTape;
    if (tape == null) {
      throw new IllegalStateException();
    }
    return tape;
  }

  /** Something could not be recorded. */
  void lost(Throwable t) {
    try {
      Tape tape = theTape;
      if (tape != null) {
        tape.lose(Tape.FAILED);
      }
      if (t instanceof RuntimeException
          || t instanceof IOException
          || t instanceof ReflectiveOperationException) {
        t.printStackTrace();
      }
    } catch (Throwable again) {
      // The bit is set; that must do.
    }
  }

  /**
   * Writes the changed pages of mapped memory onto the tape. Called with the lock held.
   *
   * <p>Other threads may store meanwhile, and then the pages that were found are not the memory of
   * any moment: one may lack a store that came before a store in another one. So the look is
   * repeated until it finds nothing: the tape then has the memory as it was between the last two
   * passes. If that never happens, the next look continues this one.
   */
  void look(int thread, int stack, boolean all) throws Throwable {
    long before = clock.get();
    boolean settled = false;
    for (int pass = 0; pass < MOST_LOOKS && !settled; pass++) {
      long passed = clock.get();
      pages.compare(all);
      settled = clock.get() == passed;
    }
    long last = clock.get();
    if (lookFrom == 0 && last > before) {
      lookFrom = before + 1;
    }
    if (lookFrom != 0 && (!settled || last > lookFrom)) {
      long at = tape().begin(Tape.LOOK, 0, 0, thread, stack);
      if (at != 0) {
        tape().set(at, Tape.A, lookFrom);
        tape().set(at, Tape.B, settled ? last : Long.MAX_VALUE);
        tape().publish(at, 0);
        tape().done(at, 0, 0);
      }
    }
    if (settled) {
      lookFrom = 0;
    }
  }

  /** Drops all records, so that a life has the whole tape. Nobody may need them. */
  void rewind() {
    lock.lock();
    try {
      tape().rewind();
      promises.reset();
    } finally {
      lock.unlock();
    }
  }

  /** Writes a text that records refer to. */
  boolean note(int kind, int number, byte[] text) {
    lock.lock();
    try {
      long at = tape().begin(kind, 0, text.length, 0, number);
      if (at == 0) {
        return false;
      }
      tape().put(at, 0, text, text.length);
      tape().publish(at, 0);
      tape().done(at, 0, 0);
      return true;
    } finally {
      lock.unlock();
    }
  }

  /** Notes which number the directory under test has. */
  void root(long number) {
    long at = tape().begin(Tape.ROOT, 0, 0, 0, 0);
    tape().set(at, Tape.A, number);
    tape().publish(at, 0);
    tape().done(at, 0, 0);
  }

  /** Takes a place for a promise: stores into mapped memory until now have smaller ones. */
  long place() {
    lock.lock();
    try {
      look(0, 0, /* all= */ false);
      return clock.incrementAndGet();
    } catch (Throwable t) {
      lost(t);
      return clock.incrementAndGet();
    } finally {
      lock.unlock();
    }
  }

  /**
   * Writes a report of the subject.
   *
   * @param stack whether it is a promise, so that the place that made it is of interest
   */
  void promised(byte[] event, boolean stack) {
    report(Tape.PROMISE, event, 0, stack);
  }

  /** Writes the promises with which a life begins on what another process left. */
  void begun(byte[] former) {
    report(Tape.LIFE, former, place(), /* stacked= */ false);
  }

  private void report(int kind, byte[] bytes, long place, boolean stacked) {
    lock.lock();
    try {
      // With the lock held: a number belongs to this tape, and rewind() takes lock and stacks in
      // the same order.
      int stack = stacked ? promises.here() : 0;
      long at = tape().begin(kind, bytes.length, 0, 0, stack);
      if (at != 0) {
        tape().put(at, 0, bytes, bytes.length);
        tape().publish(at, place);
        tape().done(at, 0, 0);
      }
    } finally {
      lock.unlock();
    }
  }

  /**
   * Stops all operations until the parent has looked at the directory. Stores into mapped memory
   * cannot be stopped: a look during which a mapped page changed counts for nothing, and is
   * repeated a few times.
   *
   * @param tell receives the place; the parent answers on the tape
   * @param forget receives the place of a look that counts for nothing
   */
  void control(LongConsumer tell, LongConsumer forget) {
    lock.lock();
    try {
      look(0, 0, /* all= */ true);
      for (int look = 0; look < MOST_LOOKS; look++) {
        long number = tape().asked() + 1;
        tape().ask(number);
        long place = clock.incrementAndGet();
        tape().lastPlace(place);
        tell.accept(place);
        while (tape().answered() < number) {
          LockSupport.parkNanos(50_000);
        }
        long before = tape().operations();
        look(0, 0, /* all= */ true);
        if (tape().operations() == before) {
          return;
        }
        forget.accept(place);
      }
    } catch (Throwable t) {
      lost(t);
    } finally {
      lock.unlock();
    }
  }
}

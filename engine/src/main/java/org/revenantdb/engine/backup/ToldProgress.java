package org.revenantdb.engine.backup;

import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.RestoreProgress;
import org.revenantdb.engine.access.Misuse;

/**
 * How far a restore is, or the applying of backups. A listener hears of it now and then, and may
 * end it.
 *
 * <p>Threads: the one that does the work.
 */
public final class ToldProgress {
  private static final long TELL_EVERY = TimeUnit.MILLISECONDS.toNanos(100);

  private final String work;
  private final Predicate<RestoreProgress> listener;
  private long told;
  private long done;
  private long toDo;

  /**
   * Nothing is done yet.
   *
   * @param work what the message says is cancelled
   * @param listener receives the progress, and returns whether it goes on
   */
  public ToldProgress(String work, Predicate<RestoreProgress> listener) {
    this.work = work;
    this.listener = listener;
  }

  /** Sets how many bytes it will be in all. */
  public void expect(long bytes) {
    toDo = bytes;
  }

  /** Sets how many bytes are done, and tells nothing. */
  void isAt(long bytes) {
    done = bytes;
  }

  /** Counts bytes that are done, and tells the listener if it has not heard for a while. */
  public void wrote(long bytes) {
    done += bytes;
    long now = System.nanoTime();
    if (told == 0 || now - told >= TELL_EVERY) {
      told = now;
      tell();
    }
  }

  /**
   * Tells the listener.
   *
   * @throws java.util.concurrent.CancellationException if it has returned false, or has thrown an
   *     exception
   */
  public void tell() {
    boolean goesOn;
    @Nullable RuntimeException cause = null;
    try {
      goesOn = listener.test(new RestoreProgress(done, toDo));
    } catch (RuntimeException ofListener) {
      goesOn = false;
      cause = ofListener;
    }
    if (!goesOn) {
      throw new Misuse.OfCancellation(work + " was cancelled by its listener", cause);
    }
  }
}

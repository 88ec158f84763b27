package org.revenantdb.chaos.crash;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Threads that work side by side, and the first thing that one of them has thrown.
 *
 * <p>Threads: the one that starts them, which also waits for their end.
 */
public final class Together {

  private final List<Thread> threads = new ArrayList<>();
  private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();

  /** Nobody yet. */
  public Together() {}

  /**
   * Starts a thread, which does not keep the process alive.
   *
   * @param name of the thread
   * @param work what it does
   */
  public void start(String name, Runnable work) {
    threads.add(Thread.ofPlatform().daemon().name(name).start(() -> run(work)));
  }

  /**
   * Does something in the calling thread; what it throws is told at the end, too.
   *
   * @param work what is done
   */
  public void run(Runnable work) {
    try {
      work.run();
    } catch (Throwable e) {
      failure.compareAndSet(null, e);
    }
  }

  /** Waits until all have ended, whatever interrupts it, and throws what was thrown first. */
  public void await() {
    threads.forEach(Together::join);
    if (failure.get() instanceof Error error) {
      throw error;
    }
    if (failure.get() instanceof RuntimeException exception) {
      throw exception;
    }
  }

  /**
   * Waits until a thread has ended; an interrupt is kept until then.
   *
   * @param thread which ends by itself
   */
  public static void join(Thread thread) {
    boolean interrupted = false;
    while (true) {
      try {
        thread.join();
        break;
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}

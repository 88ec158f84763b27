package org.revenantdb.chaos.crash;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Threads that work side by side, and the first exception of one of them.
 *
 * <p>Threads: the one that starts them and waits for their end.
 */
public final class Together {

  private final List<Thread> threads = new ArrayList<>();
  private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();

  /** Creates an empty group. */
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
   * Runs some work in the calling thread. Its exception is thrown at the end, too.
   *
   * @param work the work
   */
  public void run(Runnable work) {
    try {
      work.run();
    } catch (Throwable e) {
      failure.compareAndSet(null, e);
    }
  }

  /** Waits until all have ended, despite interrupts, and then throws the first exception. */
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
   * Waits until a thread has ended; an interrupt is delayed until then.
   *
   * @param thread a thread that ends by itself
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

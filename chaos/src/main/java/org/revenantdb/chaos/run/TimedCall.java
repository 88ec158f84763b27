package org.revenantdb.chaos.run;

import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.revenantdb.chaos.crash.StallWatch;
import org.revenantdb.chaos.trace.CallStack;

/**
 * Runs code of a subject in its own thread, so that a hang, an exception or the end of the JVM does
 * not pass for success.
 *
 * <p>Threads: {@link #run} waits. A call that does not end is interrupted and left behind.
 */
final class TimedCall {

  /** Receives what is being done, for the complaint. */
  interface Step {
    void now(String what);

    /** Whether nobody waits for the code any more. It was interrupted for that reason. */
    default boolean isAbandoned() {
      return false;
    }
  }

  /** Code of a subject. */
  interface Body {
    void run(Step step) throws Exception;
  }

  private final StallWatch watch;
  private volatile String step;
  private volatile boolean abandoned;
  private volatile @Nullable Throwable failure;
  private volatile @Nullable Throwable death;
  private @Nullable String hanging;
  private StackTraceElement[] standsAt = {};
  private @Nullable String interrupted;

  private TimedCall(String step, Duration limit) {
    this.step = step;
    this.watch = new StallWatch(limit);
  }

  /**
   * Runs code and waits until it ends or stalls.
   *
   * @param what is done, until the body reports a step
   * @param limit the time limit of each step; see {@link StallWatch}
   * @param body the code
   * @return the result
   */
  static TimedCall run(String what, Duration limit, Body body) {
    TimedCall call = new TimedCall(what, limit);
    Thread thread = Thread.ofPlatform().daemon().name("subject").start(() -> call.guarded(body));
    ExitGuard guard = ExitGuard.on(() -> call.step);
    try {
      if (!call.watch.await(thread::join)) {
        call.standsAt = thread.getStackTrace();
        call.hanging =
            call.step
                + " did not end within "
                + limit.toSeconds()
                + " s; its stack:\n"
                + new CallStack(List.of(call.standsAt)).text();
        call.abandoned = true;
        thread.interrupt();
      }
    } catch (InterruptedException e) {
      call.abandoned = true;
      thread.interrupt();
      Thread.currentThread().interrupt();
      call.interrupted = call.step + " was interrupted";
    } finally {
      guard.close();
    }
    return call;
  }

  private final class Steps implements Step {
    @Override
    public void now(String what) {
      step = what;
      watch.alive();
    }

    @Override
    public boolean isAbandoned() {
      return abandoned;
    }
  }

  private void guarded(Body body) {
    try (UncaughtExceptions threads = UncaughtExceptions.watch()) {
      body.run(new Steps());
      death = threads.first();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      failure = e;
    } catch (Exception | Error e) { // any exception of a subject
      failure = e;
    }
  }

  /**
   * Returns what went wrong, in the body or in a thread that it started.
   *
   * @return a sentence with a stack, or an empty text
   */
  String complaint() {
    Throwable thrown = failure;
    if (hanging != null) {
      return hanging;
    }
    if (interrupted != null) {
      return interrupted;
    }
    if (thrown != null) {
      return step + " failed: " + CallStack.text(thrown);
    }
    Throwable died = death;
    return died == null
        ? ""
        : "a thread of the store failed, at the latest in " + step + ": " + CallStack.text(died);
  }

  /**
   * Returns the exception.
   *
   * @return the exception, or null
   */
  @Nullable Throwable failure() {
    return failure;
  }

  /**
   * Returns the exception, or the uncaught exception of a thread that the body started.
   *
   * @return the exception, or null
   */
  @Nullable Throwable thrownAnywhere() {
    Throwable died = death;
    return failure != null || died == null ? failure : died.getCause();
  }

  /**
   * Returns where it hangs.
   *
   * @return the frames of its thread, innermost first; none if it ended
   */
  StackTraceElement[] standsAt() {
    return standsAt.clone();
  }

  /**
   * Returns whether it did not end.
   *
   * @return true if it did not
   */
  boolean hangs() {
    return hanging != null;
  }
}

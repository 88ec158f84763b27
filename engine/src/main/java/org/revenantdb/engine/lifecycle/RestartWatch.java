package org.revenantdb.engine.lifecycle;

import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.RestartPhase;
import org.revenantdb.engine.RestartStatus;
import org.revenantdb.recovery.restart.RestartProgress;

/**
 * Reports the progress of a restart to the listener of the options, the counters file and the
 * flight recorder.
 *
 * <p>Threads: the thread that opens the database, then the thread that redoes pages. Failure:
 * exceptions of the listener or the file have no effect on the restart.
 */
final class RestartWatch implements RestartProgress {
  /** The minimum time between two calls of the listener in a phase. */
  private static final long LISTENER_PAUSE = 200_000_000L;

  /** The minimum time before the first write of the file, and between two writes. */
  private static final long FILE_PAUSE = 1_000_000_000L;

  private final Consumer<RestartStatus> listener;
  private final Consumer<RestartStatus> file;
  private final LongSupplier clock;
  private long toldAt;
  private long filedAt;
  private boolean warned;
  private @Nullable Object event;
  private long done;

  /**
   * Creates the watch of a restart that begins now.
   *
   * @param listener the listener of the caller
   * @param file writes the status to the counters file
   * @param clock nanoseconds since any moment
   */
  RestartWatch(Consumer<RestartStatus> listener, Consumer<RestartStatus> file, LongSupplier clock) {
    this.listener = listener;
    this.file = file;
    this.clock = clock;
    this.filedAt = clock.getAsLong();
  }

  /**
   * Notes that a phase begins.
   *
   * @param total the amount of its work, 0 if not known
   */
  void begin(RestartPhase phase, long total) {
    event = RestartEvents.begin();
    done = 0;
    tell(status(phase, total));
    if (phase == RestartPhase.ANALYSIS) {
      fileInTime(status(phase, total));
    }
  }

  @Override
  public void analysed(long bytes) {
    done = bytes;
    RestartStatus status = status(RestartPhase.ANALYSIS, /* total= */ 0);
    tellInTime(status);
    fileInTime(status);
  }

  /** Pages were redone. The database is open, and its own counters show this. */
  void redone(long pages, long total) {
    done = pages;
    tellInTime(status(RestartPhase.REDO, total));
  }

  private void tellInTime(RestartStatus status) {
    if (clock.getAsLong() - toldAt >= LISTENER_PAUSE) {
      tell(status);
    }
  }

  /**
   * Notes that a phase has ended.
   *
   * @param total the amount of its work
   */
  void end(RestartPhase phase, long total) {
    done = total;
    RestartStatus status = status(phase, total);
    RestartEvents.end(event, status);
    event = null;
    tell(status);
  }

  private RestartStatus status(RestartPhase phase, long total) {
    return new RestartStatus(phase, done, total);
  }

  private void tell(RestartStatus status) {
    try {
      listener.accept(status);
    } catch (RuntimeException | Error thrown) {
      warn(thrown);
    }
    toldAt = clock.getAsLong();
  }

  private void warn(Throwable thrown) {
    if (!warned) {
      warned = true;
      System.getLogger("org.revenantdb")
          .log(
              System.Logger.Level.WARNING,
              "the restart listener has thrown an exception; the restart continues",
              thrown);
    }
  }

  private void fileInTime(RestartStatus status) {
    long now = clock.getAsLong();
    if (now - filedAt >= FILE_PAUSE) {
      filedAt = now;
      file.accept(status);
    }
  }
}

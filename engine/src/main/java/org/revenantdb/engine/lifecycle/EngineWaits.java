package org.revenantdb.engine.lifecycle;

import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.WaitClass;
import org.revenantdb.engine.Waits;
import org.revenantdb.engine.access.ApiAccess;
import org.revenantdb.engine.buffer.PoolWaits;
import org.revenantdb.engine.page.Page;
import org.revenantdb.latch.WaitMeter;
import org.revenantdb.latch.WaitStatistics;
import org.revenantdb.recovery.file.FileThread;
import org.revenantdb.recovery.log.LogWaits;

/**
 * Counts the waits of one open database by class, and reports them to the flight recorder.
 *
 * <p>Threads: any. A wait costs an object, two reads of the clock and three atomic additions; a
 * call without a wait costs nothing here.
 */
public final class EngineWaits implements PoolWaits {
  /** The meter of one class. */
  private static final class Counter implements WaitMeter {
    final WaitClass waitClass;
    final WaitStatistics statistics;

    Counter(WaitClass waitClass) {
      this.waitClass = waitClass;
      this.statistics = new WaitStatistics(waitClass.text());
    }

    @Override
    public String waitClass() {
      return waitClass.text();
    }

    @Override
    public @Nullable Object begin() {
      try {
        return new Waiting(this);
      } catch (VirtualMachineError | LinkageError e) {
        return null; // one wait is not counted
      }
    }

    @Override
    public void end(@Nullable Object begun) {
      endOf(begun);
    }
  }

  /** A wait that has begun. */
  private static final class Waiting {
    final Counter counter;
    final @Nullable Object event;
    final long start;

    Waiting(Counter counter) {
      this.counter = counter;
      this.event = WaitEvents.begin();
      this.start = System.nanoTime();
    }
  }

  /** Callers and the engine itself wait for the force of the log; they are counted separately. */
  private final class ForceMeter implements WaitMeter {
    @Override
    public String waitClass() {
      return WaitClass.LOG_FORCE.text();
    }

    @Override
    public @Nullable Object begin() {
      try {
        return of(FileThread.isCurrent() ? WaitClass.LOG_FORCE_AHEAD : WaitClass.LOG_FORCE).begin();
      } catch (VirtualMachineError | LinkageError e) {
        return null;
      }
    }

    @Override
    public void end(@Nullable Object begun) {
      endOf(begun);
    }
  }

  /** For each class; never changed. */
  private final Map<WaitClass, Counter> counters = new EnumMap<>(WaitClass.class);

  private final LogWaits log;

  public EngineWaits() {
    for (WaitClass waitClass : WaitClass.values()) {
      counters.put(waitClass, new Counter(waitClass));
    }
    log = new LogWaits(of(WaitClass.LOG_WRITE), new ForceMeter(), of(WaitClass.LOG_FILE));
  }

  private static void endOf(@Nullable Object begun) {
    if (begun == null) {
      return;
    }
    try {
      Waiting waiting = (Waiting) begun;
      waiting.counter.statistics.record(System.nanoTime() - waiting.start);
      WaitEvents.end(waiting.event, waiting.counter.waitClass.text());
    } catch (VirtualMachineError | LinkageError e) {
      // One wait is not counted, or not recorded.
    }
  }

  /** The meter of a class. */
  public WaitMeter of(WaitClass waitClass) {
    return Objects.requireNonNull(counters.get(waitClass));
  }

  /** The meters of the log. */
  public LogWaits log() {
    return log;
  }

  @Override
  public WaitMeter latch(int pageType, boolean shared) {
    return of(
        switch (pageType) {
          case Page.LEAF -> shared ? WaitClass.LEAF_SHARED : WaitClass.LEAF_EXCLUSIVE;
          case Page.INNER -> shared ? WaitClass.INNER_SHARED : WaitClass.INNER_EXCLUSIVE;
          case Page.OVERFLOW_HEAD, Page.OVERFLOW_INDEX, Page.OVERFLOW_DATA, Page.SHARED_VALUES ->
              shared ? WaitClass.OVERFLOW_SHARED : WaitClass.OVERFLOW_EXCLUSIVE;
          case Page.SPACE_MAP, Page.GAM, Page.IAM ->
              shared ? WaitClass.MAP_SHARED : WaitClass.MAP_EXCLUSIVE;
          default -> shared ? WaitClass.OTHER_SHARED : WaitClass.OTHER_EXCLUSIVE;
        });
  }

  @Override
  public WaitMeter read() {
    return of(WaitClass.BUFFER_READ);
  }

  @Override
  public WaitMeter frame() {
    return of(WaitClass.FREE_FRAME);
  }

  /** The counts until now. */
  public Waits snapshot() {
    return ApiAccess.api()
        .waits(
            counters.values().stream()
                .map(counter -> counter.statistics.snapshot())
                .toArray(WaitStatistics.Snapshot[]::new));
  }
}

package org.revenantdb.chaos.crash;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;

/** The machine that this JVM runs on. */
final class RealMachine implements Machine {
  /*
   * Pace. A fixed piece of work (about 25 us) is done PIECES times, and pace = PIECES * best /
   * time, where best is the shortest time of a piece in this JVM. A piece is shorter than a time
   * slice, so even on a machine under constant load some pieces run without interruption, and best
   * is right there, too. The whole is longer than several slices, so that other threads get their
   * turns in between. A stop of the whole machine, time that the host gives to others and a quota
   * of processor time also show, because all make a piece longer. A processor clock that is low
   * from the first piece to the last does not show.
   *
   * Races left in: two threads may measure at once. Each then measures the load of the other, which
   * is real. Pieces that the interpreter ran make the first pace too low, never too high.
   */
  static final Machine INSTANCE = new RealMachine();

  private static final int PIECES = 800;
  private static final int STEPS = 20_000;
  private static final long FACTOR = 6_364_136_223_846_793_005L;

  private final AtomicLong best = new AtomicLong(Long.MAX_VALUE);

  /** Keeps the compiler from removing the work. */
  private volatile long result;

  @Override
  public long nanoTime() {
    return System.nanoTime();
  }

  @Override
  public double pace() {
    long begun = System.nanoTime();
    long last = begun;
    long least = Long.MAX_VALUE;
    for (int piece = 0; piece < PIECES; piece++) {
      work();
      long now = System.nanoTime();
      least = Math.min(least, now - last);
      last = now;
    }
    long known = best.accumulateAndGet(Math.max(1, least), Math::min);
    return Math.min(1, (double) PIECES * known / (last - begun));
  }

  private void work() {
    long x = result;
    for (int step = 0; step < STEPS; step++) {
      x = x * FACTOR + step;
    }
    result = x;
  }

  @Override
  public boolean waitsForDevice(long process) {
    try (Stream<Path> tasks = Files.list(Path.of("/proc", Long.toString(process), "task"))) {
      return tasks.anyMatch(task -> TaskState.of(task) == TaskState.WAITS_FOR_DEVICE);
    } catch (IOException | UncheckedIOException e) {
      return false; // not Linux, or the process has ended
    }
  }
}

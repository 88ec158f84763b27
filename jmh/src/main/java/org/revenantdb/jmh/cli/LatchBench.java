package org.revenantdb.jmh.cli;

import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.openjdk.jmh.util.Version;
import org.revenantdb.jmh.contend.BusyLoop;

/**
 * The cost of the latch compared with the locks of the JDK, part by part: without waits, in memory,
 * with many writers, with many readers, and the cost of fairness. A part that fails does not affect
 * the others.
 */
final class LatchBench implements Bench {
  /** How each is used, and why so. */
  private static final Map<String, String> PEERS =
      Map.of(
          "stamped", "new StampedLock(): two of its modes are ours, and it is not reentrant either",
          "rwUnfair", "new ReentrantReadWriteLock(): its default, which lets barge",
          "rwFair", "new ReentrantReadWriteLock(true): what fairness without a time costs",
          "reentrantUnfair", "new ReentrantLock(): its default, the usual choice",
          "reentrantFair", "new ReentrantLock(true): in order of arrival",
          "synchronized",
              "a monitor of its own; virtual threads let go of their carrier there, too");

  @Override
  public String name() {
    return "latch";
  }

  @Override
  public String question() {
    return "What does the latch cost beside the locks of the JDK?";
  }

  @Override
  public List<String> promises() {
    return List.of(
        "ratio_uncontended_exclusive",
        "ratio_uncontended_shared",
        "ratio_optimistic",
        "bytes_allocated_uncontended",
        "bytes_per_latch",
        "ratio_contended",
        "ratio_contended_median",
        "vs_fair_rrwl",
        "jain_100us");
  }

  @Override
  public void measure(Settings settings, Figures figures) {
    double steps = BusyLoop.stepsPerMicrosecond();
    Rounds rounds = Rounds.of(settings, settings.quick() ? 3 : 5);
    ContendedRounds contended = new ContendedRounds(rounds, steps);
    LatchSession session = new LatchSession(settings, figures, rounds, contended);
    figures.version("java.util.concurrent, synchronized", Runtime.version().toString());
    figures.version("JMH", Version.getPlainVersion());
    figures.setting("busy loop", String.format(Locale.ROOT, "%.1f steps per us", steps));
    new TreeMap<>(PEERS).forEach(figures::setting);
    figures.attempt(() -> LatchMemory.measure(session));
    figures.attempt(() -> LatchUncontended.measure(session));
    figures.attempt(() -> LatchWriters.measure(session));
    figures.attempt(() -> LatchReaders.measure(session));
    figures.attempt(() -> LatchFairness.sweep(session));
    figures.attempt(() -> LatchFairness.overSeconds(session));
    figures.rounds(rounds.tally());
  }
}

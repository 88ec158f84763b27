package org.revenantdb.engine.counters;

import java.util.Arrays;
import java.util.List;
import org.revenantdb.engine.Statistic;

/** The counters of the counters file, except the waits, in the order of the file. */
public final class CounterOrder {
  private static final List<Statistic> STATISTICS =
      Arrays.stream(Statistic.values()).filter(Statistic::isInCountersFile).toList();

  private CounterOrder() {}

  /** The statistics of the file. */
  public static List<Statistic> statistics() {
    return STATISTICS;
  }
}

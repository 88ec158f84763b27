package org.revenantdb.engine.lifecycle;

import java.util.stream.LongStream;
import org.revenantdb.engine.DatabaseStatistics;
import org.revenantdb.engine.WaitClass;
import org.revenantdb.engine.Waits;
import org.revenantdb.engine.counters.CounterOrder;

/** Statistics as the numbers of the counters file, in its order. */
public final class CounterValues {
  private CounterValues() {}

  /** In the order of {@link CounterOrder}. */
  public static long[] of(DatabaseStatistics counts) {
    return CounterOrder.statistics().stream().mapToLong(counts::value).toArray();
  }

  /** For each class number, total and maximum, in the order of {@link WaitClass}. */
  public static long[] of(Waits waits) {
    return waits.all().stream()
        .flatMapToLong(one -> LongStream.of(one.count(), one.totalNanos(), one.maxNanos()))
        .toArray();
  }
}

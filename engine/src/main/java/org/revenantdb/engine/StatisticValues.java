package org.revenantdb.engine;

import java.util.Arrays;
import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/** The values of all {@link Statistic}s, at one moment or between two. Immutable. */
final class StatisticValues {
  private final Map<Statistic, Long> values;

  /**
   * A copy of values.
   *
   * @param values one for each constant of {@link Statistic}
   */
  StatisticValues(Map<Statistic, Long> values) {
    this.values = new EnumMap<>(values);
    if (values.size() != Statistic.values().length) {
      throw new IllegalArgumentException(values.size() + " values");
    }
  }

  long of(Statistic statistic) {
    return Objects.requireNonNull(values.get(statistic));
  }

  /** Counters minus the earlier ones, at least 0; gauges unchanged. */
  StatisticValues since(StatisticValues earlier) {
    Map<Statistic, Long> difference = new EnumMap<>(values);
    difference.replaceAll((one, value) ->
        one.kind() == Statistic.Kind.COUNTER ? Math.max(0, value - earlier.of(one)) : value);
    return new StatisticValues(difference);
  }

  /** Name and value of those that are not 0, one a line. */
  String text(Predicate<Statistic> which) {
    return Arrays.stream(Statistic.values())
        .filter(which.and(one -> of(one) != 0))
        .map(one -> one.text() + " " + of(one))
        .collect(Collectors.joining("\n"));
  }

  String text(Statistic.Group group) {
    return text(one -> one.group() == group);
  }
}

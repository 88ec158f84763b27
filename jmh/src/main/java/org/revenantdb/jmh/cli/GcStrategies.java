package org.revenantdb.jmh.cli;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.revenantdb.jmh.baseline.EngineOfOtherGarbage;
import org.revenantdb.jmh.baseline.EngineOfOtherGarbage.Strategy;

/** The strategies for older versions in {@code bench gc}, over one store of versions. */
enum GcStrategies {
  /** Ours. */
  EAGER(
      "eager",
      null,
      "ours: a thread that adds a version drops those of its row that no open snapshot needs (Steam, thesis"
          + " 5.3.3)",
      0),
  /** The oldest snapshot decides. */
  WATERMARK(
      "watermark",
      Strategy.WATERMARK,
      "HyPer, Steam without eager pruning (thesis, Table 9, 5.3.1 and 5.3.2): after each commit versions"
          + " superseded before the oldest snapshot are removed",
      0),
  /** Three epochs. */
  EPOCHS_OF_THREE(
      "epochs of three",
      Strategy.EPOCHS_OF_THREE,
      "ERMIA (thesis, Tables 9 and 10): like watermark, with the three epochs that transactions enter and"
          + " leave; the frequency is in transactions",
      1),
  /** Any number of epochs. */
  EPOCHS(
      "epochs",
      Strategy.EPOCHS,
      "Deuteronomy (thesis, Tables 9 and 10): the same, with any number of epochs; the frequency is in"
          + " transactions",
      100),
  /** A thread that prunes. */
  INTERVAL(
      "interval",
      Strategy.INTERVAL,
      "SAP HANA (thesis, Tables 7, 9 and 10), without its global tracker: a thread examines all"
          + " versions for those that no open snapshot needs; the frequency is in milliseconds",
      1),
  /** A thread that assigns. */
  ASSIGNED(
      "assigned",
      Strategy.ASSIGNED,
      "Hekaton according to the thesis (Tables 9 and 10): a thread finds versions behind the oldest"
          + " snapshot and assigns them to writers; the frequency is in milliseconds",
      1);

  private static final List<Long> TRANSACTIONS = List.of(1L, 10L, 100L, 1_000L, 10_000L, 100_000L);
  private static final List<Long> MILLIS = List.of(1L, 10L, 100L, 1_000L, 10_000L, 60_000L);

  private final String variant;
  private final @Nullable Strategy strategy;
  private final String settings;
  private final long published;

  GcStrategies(String variant, @Nullable Strategy strategy, String settings, long published) {
    this.variant = variant;
    this.strategy = strategy;
    this.settings = settings;
    this.published = published;
  }

  /** The name in points. */
  String variant() {
    return variant;
  }

  /** All but ours. */
  static List<GcStrategies> others() {
    return Arrays.stream(values()).filter(it -> it != EAGER).toList();
  }

  /** The frequencies of Figure 39; none if it has none. */
  List<Long> frequencies() {
    return switch (this) {
      case EAGER, WATERMARK -> List.of();
      case EPOCHS_OF_THREE, EPOCHS -> TRANSACTIONS;
      case INTERVAL, ASSIGNED -> MILLIS;
    };
  }

  /** How often each looks, as the thesis found it best (Table 10). */
  static Map<GcStrategies, Long> published() {
    Map<GcStrategies, Long> frequencies = new EnumMap<>(GcStrategies.class);
    for (GcStrategies each : values()) {
      frequencies.put(each, each.published);
    }
    return frequencies;
  }

  /** Notes the strategy. */
  void describe(Figures figures) {
    figures.setting("garbage, " + variant, settings);
  }

  /**
   * A JVM that runs it.
   *
   * @param what a suffix to its name, if that is not enough
   * @param heap of the JVM
   */
  ForkSession.Child child(
      ForkSession session,
      String what,
      Class<?> main,
      String heap,
      long frequency,
      List<String> arguments)
      throws CannotMeasureException {
    List<String> flags = new ArrayList<>(List.of("-Xms" + heap, "-Xmx" + heap));
    if (strategy != null) {
      flags.add("-D" + EngineOfOtherGarbage.STRATEGY + '=' + strategy);
      flags.add("-D" + EngineOfOtherGarbage.FREQUENCY + '=' + frequency);
    }
    String name = what.isEmpty() ? variant : what + ',' + variant;
    return new ForkSession.Child(name, main, flags, classes(session), arguments);
  }

  private @Nullable Path classes(ForkSession session) throws CannotMeasureException {
    Strategy other = strategy;
    if (other == null) {
      return null;
    }
    return session.engine(
        "garbage-" + other,
        "an engine whose garbage is that of " + variant,
        folder -> EngineOfOtherGarbage.write(folder, other));
  }
}

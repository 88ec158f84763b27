package org.revenantdb.jmh.cli;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.revenantdb.jmh.recovery.StoreRestartFork;

/**
 * One killed transaction that updated every row of a table, in our engine and in others: the time
 * until the first row is read, and the size on disk. Nothing else runs meanwhile.
 */
final class RecoveryPeers {
  private static final String SECONDS = "reopen_seconds";
  private static final String BYTES = "disk_bytes";
  private static final int ROUNDS = 3;

  private static final Map<String, String> UNITS =
      Map.of(
          "filled_bytes",
          "bytes",
          "update_seconds",
          "s",
          "memory_bytes",
          "bytes",
          BYTES,
          "bytes",
          "disk_bytes_per_row",
          "bytes",
          "disk_bytes_after",
          "bytes",
          SECONDS,
          "s");

  private RecoveryPeers() {}

  /** Names of its figures. */
  static List<String> figures() {
    List<String> names = new ArrayList<>();
    for (String metric : List.of(SECONDS, BYTES)) {
      RestartEngines.of(/* quick= */ true)
          .forEach(engine -> names.add(metric + "_" + engine.variant()));
    }
    return names;
  }

  static void measure(ForkSession session) throws CannotMeasureException {
    Figures figures = session.figures();
    String rows = session.sized(100_000, 1_000_000);
    figures.setting(
        "beside others",
        rows
            + " rows, filled durably, closed and opened again; one transaction updates all of them"
            + " and the process is killed at once; a fresh JVM with 1 GiB of heap opens it, files in"
            + " the cache of the system, classes loaded meanwhile, native libraries before; all"
            + " promise that what was committed survives a kill and a power cut");
    List<RestartEngines> engines = RestartEngines.of(session.quick());
    List<ForkSession.Child> children = new ArrayList<>();
    for (RestartEngines engine : engines) {
      engine.describe(figures);
      children.add(
          new ForkSession.Child(
              engine.variant(),
              StoreRestartFork.class,
              RestartEngines.FLAGS,
              null,
              List.of("DIRECTORY", engine.className(), rows)));
    }
    Map<String, Sample> samples = session.run("kill and open, all", ROUNDS, children, UNITS);
    Plot seconds =
        new Plot(
            "How long from the call of open to the first row, " + rows + " rows in flight?",
            Plot.Form.BARS,
            "engine",
            "s",
            /* logarithmic= */ false);
    Plot bytes =
        new Plot(
            "What is on disk, " + rows + " rows in flight?",
            Plot.Form.BARS,
            "engine",
            "bytes",
            /* logarithmic= */ false);
    for (RestartEngines engine : engines) {
      String variant = engine.variant();
      seconds.mark("open to first row", variant, SECONDS + "," + variant);
      bytes.mark("before the transaction", variant, "filled_bytes," + variant);
      bytes.mark("at the kill", variant, BYTES + "," + variant);
      bytes.mark("opened and closed", variant, "disk_bytes_after," + variant);
      figures.attempt(() -> put(figures, samples, engine));
    }
    figures.plot(seconds);
    figures.plot(bytes);
  }

  /** The medians of one engine; rounds in which it did not open are reported. */
  static void put(Figures figures, Map<String, Sample> samples, RestartEngines engine)
      throws CannotMeasureException {
    String variant = engine.variant();
    Sample opened = samples.get("opened," + variant);
    Sample reopened = samples.get(SECONDS + "," + variant);
    if (opened != null && opened.lowest() == 0) {
      int times = reopened == null ? 0 : reopened.n();
      figures.setting(
          engine.title() + ", opened after the kill", times + " of " + opened.n() + " times");
    }
    if (!engine.isPromised()) {
      return;
    }
    figures.put(BYTES + "_" + variant, ForkSession.median(samples, BYTES + "," + variant));
    figures.put(SECONDS + "_" + variant, ForkSession.median(samples, SECONDS + "," + variant));
  }
}

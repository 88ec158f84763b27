package org.revenantdb.jmh.cli;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.revenantdb.jmh.tpcc.TpccFork;

/** TPC-C with space maps that are latched shared, beside exclusively. */
final class SpaceMapTpcc {
  /** The figure: transactions a second, shared divided by exclusive, among many sessions. */
  static final String SPEEDUP = "tpcc_speedup";

  private static final String SHARED = "shared";
  private static final String EXCLUSIVE = "exclusive";
  private static final int SESSIONS_OF_THE_FIGURE = 64;

  /** With fewer, sessions meet at the rows of warehouses and districts before they do at a map. */
  private static final String WAREHOUSES = "40";

  private static final List<Integer> SESSIONS = List.of(1, SESSIONS_OF_THE_FIGURE, 400);

  private static final Map<String, String> UNITS =
      Map.of(
          "new_orders", "1/min",
          "transactions", "1/s",
          "conflicts_per_tx", "",
          "rollback_percent", "%",
          "map_waits_per_tx", "",
          "map_wait_avg_us", "us",
          "map_wait_ms", "ms");

  private SpaceMapTpcc() {}

  static void measure(ForkSession session) throws CannotMeasureException {
    Figures figures = session.figures();
    String scale = session.quick() ? "0.01" : "0.1";
    figures.setting(
        "TPC-C",
        WAREHOUSES
            + " warehouses, items, customers and orders times "
            + scale
            + "; durable, without think times");
    List<Integer> counts = session.quick() ? List.of(SESSIONS_OF_THE_FIGURE) : SESSIONS;
    List<ForkSession.Child> children = new ArrayList<>();
    for (int sessions : counts) {
      children.add(child(session, SHARED, List.of(), sessions, scale));
      children.add(child(session, EXCLUSIVE, List.of(SpaceMapBench.EXCLUSIVE), sessions, scale));
    }
    Map<String, Sample> samples = session.run("TPC-C", children, UNITS);
    Plot plot =
        new Plot(
            "How many TPC-C transactions a second?",
            Plot.Form.BARS,
            "sessions",
            "1/s",
            /* logarithmic= */ false);
    for (int sessions : counts) {
      for (String latches : List.of(SHARED, EXCLUSIVE)) {
        plot.mark(latches, Integer.toString(sessions), "transactions," + name(latches, sessions));
      }
    }
    figures.plot(plot);
    figures.put(SPEEDUP, transactions(samples, SHARED) / transactions(samples, EXCLUSIVE));
  }

  private static double transactions(Map<String, Sample> samples, String latches)
      throws CannotMeasureException {
    return ForkSession.median(samples, "transactions," + name(latches, SESSIONS_OF_THE_FIGURE));
  }

  private static String name(String latches, int sessions) {
    return latches + ",sessions=" + sessions;
  }

  private static ForkSession.Child child(
      ForkSession session, String latches, List<String> more, int sessions, String scale) {
    List<String> flags = new ArrayList<>(List.of("-Xms1g", "-Xmx1g"));
    flags.addAll(more);
    return new ForkSession.Child(
        name(latches, sessions),
        TpccFork.class,
        flags,
        null,
        List.of(
            "DIRECTORY",
            WAREHOUSES,
            scale,
            Integer.toString(sessions),
            session.sized(1000, 10_000),
            session.sized(2500, 20_000),
            session.seed()));
  }
}

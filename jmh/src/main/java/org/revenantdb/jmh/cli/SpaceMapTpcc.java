package org.revenantdb.jmh.cli;

import java.util.List;
import java.util.Map;
import org.revenantdb.jmh.tpcc.TpccFork;

/** TPC-C with space maps latched shared or exclusively. */
final class SpaceMapTpcc {
  /** The figure: transactions a second, shared divided by exclusive, among many sessions. */
  static final String SPEEDUP = "tpcc_speedup";

  private static final int SESSIONS_OF_THE_FIGURE = 64;

  /** With fewer, sessions meet at the rows of warehouses and districts before they do at a map. */
  private static final String WAREHOUSES = "40";

  private static final List<Integer> SESSIONS = List.of(1, SESSIONS_OF_THE_FIGURE, 400);

  /** The results of the fork, by name. */
  static final Map<String, String> UNITS =
      Map.of(
          "new_orders", "1/min",
          "transactions", "1/s",
          "conflicts_per_tx", "",
          "rollback_percent", "%",
          "map_waits_per_tx", "",
          "map_wait_avg_us", "us",
          "map_wait_ms", "ms",
          "cpu_us_per_tx", "us",
          "log_bytes_per_tx", "bytes");

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
    SpaceMapPair tpcc = new SpaceMapPair(TpccFork.class, "", "transactions");
    Map<String, Sample> samples =
        tpcc.run(
            session,
            "TPC-C",
            counts,
            sessions ->
                List.of(
                    "DIRECTORY",
                    WAREHOUSES,
                    scale,
                    Integer.toString(sessions),
                    session.sized(1000, 10_000),
                    session.sized(2500, 20_000),
                    session.seed()),
            UNITS,
            "How many TPC-C transactions a second?");
    figures.put(SPEEDUP, tpcc.speedup(samples, SESSIONS_OF_THE_FIGURE));
  }
}

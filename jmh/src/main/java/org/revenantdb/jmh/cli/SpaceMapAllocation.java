package org.revenantdb.jmh.cli;

import java.util.List;
import java.util.Map;
import org.revenantdb.jmh.space.AllocationFork;

/** Small tables that are created and dropped, with space maps latched shared or exclusively. */
final class SpaceMapAllocation {
  /** The figure: tables a second, shared divided by exclusive, among many sessions. */
  static final String SPEEDUP = "alloc_speedup_64";

  /** The figure: the same with one session. */
  static final String RATIO_OF_ONE = "alloc_ratio_1";

  /** The figure: waits for latches of space maps divided by latchings, among most sessions. */
  static final String WAIT_SHARE = "map_wait_share";

  private static final int MOST = 400;
  private static final List<Integer> SESSIONS = List.of(1, 64, MOST);

  private static final Map<String, String> UNITS =
      Map.of(
          "tables",
          "1/s",
          "processors",
          "",
          "map_updates_per_table",
          "",
          WAIT_SHARE,
          "",
          "map_wait_ms",
          "ms",
          "force_wait_ms",
          "ms",
          "page_wait_ms",
          "ms",
          "file_pages",
          "");

  private SpaceMapAllocation() {}

  static void measure(ForkSession session) throws CannotMeasureException {
    Figures figures = session.figures();
    figures.setting("small tables", "created, filled with 64 rows of 1,000 bytes, dropped");
    SpaceMapPair tables = new SpaceMapPair(AllocationFork.class, ",tables", "tables");
    Map<String, Sample> samples =
        tables.run(
            session,
            "small tables",
            SESSIONS,
            sessions ->
                List.of(
                    "DIRECTORY",
                    Integer.toString(sessions),
                    session.sized(500, 15_000),
                    session.sized(1500, 10_000)),
            UNITS,
            "How many small tables a second are created, filled and dropped?");
    figures.put(SPEEDUP, tables.speedup(samples, 64));
    figures.put(RATIO_OF_ONE, tables.speedup(samples, 1));
    figures.put(WAIT_SHARE, tables.shared(samples, WAIT_SHARE, MOST));
  }
}

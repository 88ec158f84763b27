package org.revenantdb.jmh.cli;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.revenantdb.jmh.space.AllocationFork;

/** Small tables that come and go, with space maps that are latched shared, beside exclusively. */
final class SpaceMapAllocation {
  /** The figure: tables a second, shared divided by exclusive, among many sessions. */
  static final String SPEEDUP = "alloc_speedup_64";

  /** The figure: the same with one session. */
  static final String RATIO_OF_ONE = "alloc_ratio_1";

  /** The figure: waits for latches of space maps divided by latchings, among most sessions. */
  static final String WAIT_SHARE = "map_wait_share";

  private static final String SHARED = "shared";
  private static final String EXCLUSIVE = "exclusive";
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
    List<ForkSession.Child> children = new ArrayList<>();
    for (int sessions : SESSIONS) {
      children.add(child(session, SHARED, List.of(), sessions));
      children.add(child(session, EXCLUSIVE, List.of(SpaceMapBench.EXCLUSIVE), sessions));
    }
    Map<String, Sample> samples = session.run("small tables", children, UNITS);
    Plot plot =
        new Plot(
            "How many small tables a second are created, filled and dropped?",
            Plot.Form.BARS,
            "sessions",
            "1/s",
            /* logarithmic= */ false);
    for (int sessions : SESSIONS) {
      for (String latches : List.of(SHARED, EXCLUSIVE)) {
        plot.mark(latches, Integer.toString(sessions), "tables," + name(latches, sessions));
      }
    }
    figures.plot(plot);
    figures.put(SPEEDUP, speedup(samples, 64));
    figures.put(RATIO_OF_ONE, speedup(samples, 1));
    figures.put(WAIT_SHARE, ForkSession.median(samples, WAIT_SHARE + "," + name(SHARED, MOST)));
  }

  private static double speedup(Map<String, Sample> samples, int sessions)
      throws CannotMeasureException {
    return ForkSession.median(samples, "tables," + name(SHARED, sessions))
        / ForkSession.median(samples, "tables," + name(EXCLUSIVE, sessions));
  }

  private static String name(String latches, int sessions) {
    return latches + ",tables,sessions=" + sessions;
  }

  private static ForkSession.Child child(
      ForkSession session, String latches, List<String> more, int sessions) {
    List<String> flags = new ArrayList<>(List.of("-Xms1g", "-Xmx1g"));
    flags.addAll(more);
    return new ForkSession.Child(
        name(latches, sessions),
        AllocationFork.class,
        flags,
        null,
        List.of(
            "DIRECTORY",
            Integer.toString(sessions),
            session.sized(500, 5_000),
            session.sized(1500, 10_000)));
  }
}

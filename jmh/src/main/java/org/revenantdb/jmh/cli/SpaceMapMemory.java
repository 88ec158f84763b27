package org.revenantdb.jmh.cli;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.revenantdb.jmh.space.MapMemoryFork;

/**
 * The memory for updates of space maps, in addition to the pages, for each map in the pool: in a
 * file of few maps and in one of many, with the same sessions.
 */
final class SpaceMapMemory {
  /** The figure: what one more space map in the pool takes. */
  static final String BYTES = "bytes_per_map_page";

  /** Flags of the JVM that looks at its own heap. */
  static final List<String> OPEN =
      Stream.of("", ".concurrent", ".concurrent.atomic", ".concurrent.locks")
          .map(it -> "--add-opens=java.base/java.util" + it + "=ALL-UNNAMED")
          .toList();

  private static final int FEW = 2;
  private static final String SESSIONS = "64";
  private static final String CONTEXT = "context_bytes";
  private static final String SPACE = "space_bytes";
  private static final String MAPS = "space_maps";

  private static final Map<String, String> UNITS =
      Map.of(
          CONTEXT,
          "B",
          "frame_bytes",
          "B",
          SPACE,
          "B",
          "space_peak_bytes",
          "B",
          "claims_bytes",
          "B",
          "marks_bytes",
          "B",
          MAPS,
          "");

  private SpaceMapMemory() {}

  static void measure(ForkSession session) throws CannotMeasureException {
    Figures figures = session.figures();
    int many = session.quick() ? 128 : 256;
    figures.setting(
        BYTES,
        "context_bytes, the two LSNs that the pool keeps for each frame, and what space_bytes grows"
            + " by for each of "
            + (many - FEW)
            + " more space maps, if it does: all of the engine's package space but the marks of"
            + " pages with versions (marks_bytes), claims among it, the median of ten peaks while "
            + SESSIONS
            + " sessions create, fill and drop small tables; beside it all of space_bytes divided"
            + " by the maps (all_bytes_per_map_page), and all that a frame has on the heap, latch"
            + " and place in memory included (frame_bytes)");
    List<ForkSession.Child> children = new ArrayList<>();
    for (int maps : List.of(FEW, many)) {
      List<String> flags = new ArrayList<>(List.of("-Xms1g", "-Xmx1g"));
      flags.addAll(OPEN);
      children.add(
          new ForkSession.Child(
              name(maps),
              MapMemoryFork.class,
              flags,
              null,
              List.of(
                  "DIRECTORY",
                  Integer.toString(maps),
                  SESSIONS,
                  session.sized(300, 3_000),
                  session.sized(700, 5_000))));
    }
    Map<String, Sample> samples =
        session.quick()
            ? session.run("memory for space maps", 1, children, UNITS)
            : session.run("memory for space maps", children, UNITS);
    figures.point(
        "all_bytes_per_map_page," + name(many), Sample.of(List.of(all(samples, many)), "B"));
    figures.put(BYTES, ofOne(samples, many));
  }

  /** What one more map takes: a peak that is lower by chance takes nothing off. */
  static double ofOne(Map<String, Sample> samples, int many) throws CannotMeasureException {
    double growth = value(samples, SPACE, many) - value(samples, SPACE, FEW);
    double maps = value(samples, MAPS, many) - value(samples, MAPS, FEW);
    return value(samples, CONTEXT, many) + Math.max(0, growth / maps);
  }

  /** What does not grow is in it, too. */
  static double all(Map<String, Sample> samples, int maps) throws CannotMeasureException {
    return value(samples, CONTEXT, maps) + value(samples, SPACE, maps) / value(samples, MAPS, maps);
  }

  private static double value(Map<String, Sample> samples, String metric, int maps)
      throws CannotMeasureException {
    return ForkSession.median(samples, metric + "," + name(maps));
  }

  static String name(int maps) {
    return "maps=" + maps + ",sessions=" + SESSIONS;
  }
}

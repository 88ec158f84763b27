package org.revenantdb.jmh.cli;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.revenantdb.jmh.baseline.EngineOfExclusiveMaps;

/**
 * One workload by several numbers of sessions, with space maps that are latched shared, and with
 * those that are latched exclusively.
 *
 * @param main class of the JVM in which it runs
 * @param suffix of the names of its points, after the kind of latch: empty, or a comma and words
 * @param rate the value that counts
 */
record SpaceMapPair(Class<?> main, String suffix, String rate) {
  private static final String SHARED = "shared";
  private static final String EXCLUSIVE = "exclusive";

  /** The arguments of a JVM with this many sessions. */
  @FunctionalInterface
  interface Arguments {
    /** All of them, the directory among them. */
    List<String> of(int sessions);
  }

  /** Runs all, and draws the rate. */
  Map<String, Sample> run(
      ForkSession session,
      String title,
      List<Integer> counts,
      Arguments arguments,
      Map<String, String> units,
      String question)
      throws CannotMeasureException {
    Path exclusive =
        session.engine(
            "exclusive-maps" + suffix,
            "an engine that latches space maps exclusively",
            EngineOfExclusiveMaps::write);
    List<ForkSession.Child> children = new ArrayList<>();
    for (int sessions : counts) {
      children.add(child(SHARED, null, sessions, arguments));
      children.add(child(EXCLUSIVE, exclusive, sessions, arguments));
    }
    Map<String, Sample> samples = session.run(title, children, units);
    Plot plot = new Plot(question, Plot.Form.BARS, "sessions", "1/s", /* logarithmic= */ false);
    for (int sessions : counts) {
      for (String latches : List.of(SHARED, EXCLUSIVE)) {
        plot.mark(latches, Integer.toString(sessions), rate + "," + name(latches, sessions));
      }
    }
    session.figures().plot(plot);
    return samples;
  }

  /** The rate with shared latches divided by that with exclusive ones. */
  double speedup(Map<String, Sample> samples, int sessions) throws CannotMeasureException {
    return ForkSession.median(samples, rate + "," + name(SHARED, sessions))
        / ForkSession.median(samples, rate + "," + name(EXCLUSIVE, sessions));
  }

  /** A value with shared latches. */
  double shared(Map<String, Sample> samples, String value, int sessions)
      throws CannotMeasureException {
    return ForkSession.median(samples, value + "," + name(SHARED, sessions));
  }

  private String name(String latches, int sessions) {
    return latches + suffix + ",sessions=" + sessions;
  }

  private ForkSession.Child child(
      String latches, @Nullable Path classes, int sessions, Arguments arguments) {
    return new ForkSession.Child(
        name(latches, sessions),
        main,
        List.of("-Xms1g", "-Xmx1g"),
        classes,
        arguments.of(sessions));
  }
}

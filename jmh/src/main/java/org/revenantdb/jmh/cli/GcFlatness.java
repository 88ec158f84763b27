package org.revenantdb.jmh.cli;

import java.util.List;
import java.util.Map;
import org.revenantdb.jmh.gc.FlatnessFork;

/** Whether updates get slower while one snapshot is open. */
final class GcFlatness {
  /** The figure: updates a second in the last tenth of the time divided by those in the first. */
  static final String FIGURE = "flatness";

  private static final String VARIANT = "one snapshot";

  private GcFlatness() {}

  static void measure(ForkSession session) throws CannotMeasureException {
    String millis = session.sized(20_000, 60_000);
    session
        .figures()
        .setting(
            FIGURE,
            "updates of another store first, for the compiler; 1,000 rows, keys of 8 bytes, values"
                + " of 100, chosen at random, one session, lazy, one"
                + " snapshot open for "
                + millis
                + " ms; default options");
    Map<String, Sample> samples =
        session.run(
            "updates beside one snapshot",
            session.quick() ? 1 : 3,
            List.of(
                new ForkSession.Child(
                    VARIANT,
                    FlatnessFork.class,
                    List.of("-Xms512m", "-Xmx512m"),
                    null,
                    List.of("DIRECTORY", session.sized(4_000, 10_000), millis, session.seed()))),
            GcBench.UNITS);
    Plot plot =
        new Plot(
            "How many updates a second beside one snapshot, over time?",
            Plot.Form.LINES,
            "tenth of the time",
            "1/s",
            /* logarithmic= */ false);
    for (int part = 1; part <= FlatnessFork.PARTS; part++) {
      plot.mark(VARIANT, Integer.toString(part), "updates,part=" + part + ',' + VARIANT);
    }
    session.figures().plot(plot);
    session.figures().put(FIGURE, ForkSession.median(samples, FIGURE + ',' + VARIANT));
  }
}

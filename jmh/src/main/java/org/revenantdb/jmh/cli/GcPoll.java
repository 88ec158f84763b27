package org.revenantdb.jmh.cli;

import java.util.List;
import java.util.Map;
import org.revenantdb.jmh.gc.PollFork;

/** The cost of the first row of a queue beside an old snapshot that sees what was deleted. */
final class GcPoll {
  /** The figure: a look at the first row beside the snapshot, divided by one without. */
  static final String FIGURE = "poll_growth";

  private static final String CHILD = "queue";

  private static final Map<String, String> UNITS =
      Map.of("poll_us", "us", "version_file_bytes", "bytes");

  private GcPoll() {}

  static void measure(ForkSession session) throws CannotMeasureException {
    String deletes = session.sized(100_000, 300_000);
    session
        .figures()
        .setting(
            "queue",
            deletes
                + " rows of 16 and 100 bytes deleted in front of 1,000 that stay; beside it an old"
                + " snapshot that sees all, an old transaction that has written one row elsewhere,"
                + " and files of older versions of 700,000 other rows; default options");
    Map<String, Sample> samples =
        session.run(
            "queue beside an old snapshot",
            List.of(
                new ForkSession.Child(CHILD, PollFork.class, "DIRECTORY", deletes, session.seed())),
            UNITS);
    session.figures().put(FIGURE, ForkSession.median(samples, FIGURE + "," + CHILD));
  }
}

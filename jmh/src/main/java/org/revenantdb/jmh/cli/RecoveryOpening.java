package org.revenantdb.jmh.cli;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.revenantdb.jmh.recovery.FirstRowFork;
import org.revenantdb.jmh.recovery.FirstSecondsFork;
import org.revenantdb.jmh.recovery.LostRowsFork;

/**
 * The cost of a kill for the next open: the time until the first row, the first seconds, the time
 * until all pages are redone, and the lost lazy commits.
 */
final class RecoveryOpening {
  static final String FIRST_ROW = "first_row_seconds";
  static final String FIRST_ROW_COLD = "first_row_seconds_cold_files";
  static final String GROWTH = "first_row_growth";
  static final String ALL_REDONE = "all_redone_seconds";
  static final String SECONDS_RATIO = "first_seconds_ratio";
  static final String SECOND_P99 = "first_second_p99_ms";
  static final String SMALL = "cold_open_seconds";
  static final String LOST = "lost_after_kill";

  /** Those of one part. */
  static final List<String> FIRST_ROWS = List.of(FIRST_ROW, FIRST_ROW_COLD, GROWTH, ALL_REDONE);

  /** All of them. */
  static final List<String> FIGURES =
      List.of(
          FIRST_ROW, FIRST_ROW_COLD, GROWTH, ALL_REDONE, SECONDS_RATIO, SECOND_P99, SMALL, LOST);

  private static final Map<String, String> UNITS =
      Map.ofEntries(
          Map.entry(FIRST_ROW, "s"),
          Map.entry("jvm_start_to_first_row", "s"),
          Map.entry("analysis_seconds", "s"),
          Map.entry(ALL_REDONE, "s"),
          Map.entry("all_redone_beside_seconds", "s"),
          Map.entry("log_bytes_read", "bytes"),
          Map.entry("fetched_bytes", "bytes"),
          Map.entry("pages_pending", "pages"),
          Map.entry("pages_changed", "pages"),
          Map.entry("updates_before_kill", "updates"),
          Map.entry(SECOND_P99, "ms"),
          Map.entry("first_second_longest_ms", "ms"),
          Map.entry("first_seconds_rate", "1/s"),
          Map.entry("steady_rate", "1/s"),
          Map.entry("rate_in_second", "1/s"),
          Map.entry(LOST, "rows"),
          Map.entry("acknowledged_rows", "rows"),
          Map.entry("kills_that_lost", "kills"));

  /** Of all JVMs of these parts: a heap, and native code for the signal. */
  static final List<String> FLAGS =
      List.of("-Xms512m", "-Xmx512m", "--enable-native-access=ALL-UNNAMED");

  private static final String MANY = "many pages";
  private static final String FEW_ROWS = "small database";
  private static final String TRAFFIC = "traffic";
  private static final String LAZY = "lazy commits";
  private static final String COLD = ",files=not-cached";

  private static final int FIRST_ROW_ROUNDS = 5;
  private static final int SMALL_ROUNDS = 9;
  private static final int TRAFFIC_ROUNDS = 3;

  /** The least part of the log that must have come from the device if the files were not cached. */
  private static final double FETCHED = 0.9;

  private RecoveryOpening() {}

  /** The same log about few and about many pages, files in the cache of the system and not. */
  static void firstRow(ForkSession session) throws CannotMeasureException {
    Figures figures = session.figures();
    String few = session.sized(400, 4_000);
    String many = session.sized(4_000, 60_000);
    figures.setting(
        "first row",
        rows(session)
            + " rows, random ones updated and committed lazily, until the log behind the redo point"
            + " has "
            + logBytes(session)
            + " bytes about "
            + few
            + " or "
            + many
            + " pages; killed; each opening has a copy of the files and a fresh JVM with 512 MiB of"
            + " heap; "
            + poolBytes(session)
            + " bytes for pages, all other options are the defaults; from just before the call of"
            + " open to a row in hand; files in the cache of the system, or dropped from it by dd");
    ForkSession.Child child =
        child(
            MANY,
            FirstRowFork.class,
            rows(session),
            few + "," + many,
            logBytes(session),
            poolBytes(session),
            "ROUND",
            session.seed());
    Map<String, Sample> samples =
        session.run(
            "open after many changes",
            session.quick() ? 1 : FIRST_ROW_ROUNDS,
            List.of(child),
            UNITS);
    Plot plot =
        new Plot(
            "How long from the call of open to the first row, by changed pages?",
            Plot.Form.BARS,
            "changed pages",
            "s",
            /* logarithmic= */ false);
    String ofFew = FIRST_ROW + ",pages=" + few;
    String ofMany = FIRST_ROW + ",pages=" + many;
    plot.mark("files in the cache", few, ofFew + "," + MANY);
    plot.mark("files in the cache", many, ofMany + "," + MANY);
    plot.mark("files not in the cache", many, ofMany + COLD + "," + MANY);
    figures.plot(plot);
    double seconds = ForkSession.median(samples, ofMany + "," + MANY);
    figures.put(FIRST_ROW, seconds);
    figures.put(GROWTH, seconds / ForkSession.median(samples, ofFew + "," + MANY));
    figures.put(
        ALL_REDONE, ForkSession.median(samples, ALL_REDONE + ",pages=" + many + "," + MANY));
    figures.put(FIRST_ROW_COLD, cold(samples, ",pages=" + many));
  }

  /** The time with files that were not cached; not without evidence that they were not. */
  static double cold(Map<String, Sample> samples, String pages) throws CannotMeasureException {
    Sample dropped = samples.get("files_dropped," + MANY);
    if (dropped != null && dropped.lowest() == 0) {
      throw new CannotMeasureException(
          FIRST_ROW_COLD
              + ": there is no dd that drops files from the cache of the system (oflag=nocache), and"
              + " Java cannot");
    }
    String suffix = pages + COLD + "," + MANY;
    Sample fetched = samples.get("fetched_bytes" + suffix);
    double log = ForkSession.median(samples, "log_bytes_read" + suffix);
    if (fetched == null || fetched.lowest() < FETCHED * log) {
      throw new CannotMeasureException(
          FIRST_ROW_COLD
              + ": the files were dropped from the cache of the system, but too little was read from"
              + " the device, or the system does not report it");
    }
    return ForkSession.median(samples, FIRST_ROW + suffix);
  }

  /** A small database, where the JVM is most of the time. */
  static void small(ForkSession session) throws CannotMeasureException {
    Figures figures = session.figures();
    String rows = "1000";
    String logBytes = Integer.toString(256 << 10);
    String poolBytes = Integer.toString(128 << 20);
    figures.setting(
        SMALL,
        rows
            + " rows, "
            + logBytes
            + " bytes of log, default options, killed; a fresh JVM; from just before the call of"
            + " open to a row in hand, files in the cache of the system; jvm_start_to_first_row is"
            + " from the start of the process");
    Map<String, Sample> samples =
        session.run(
            "open a small database",
            session.quick() ? 3 : SMALL_ROUNDS,
            List.of(
                child(
                    FEW_ROWS,
                    FirstRowFork.class,
                    rows,
                    "0",
                    logBytes,
                    poolBytes,
                    "ROUND",
                    session.seed())),
            UNITS);
    figures.put(SMALL, ForkSession.median(samples, FIRST_ROW + "," + FEW_ROWS));
  }

  /** Reads and updates from the moment on in which the database is open. */
  static void firstSeconds(ForkSession session) throws CannotMeasureException {
    Figures figures = session.figures();
    String pages = session.sized(4_000, 60_000);
    String first = session.sized(2_000, 5_000);
    figures.setting(
        "first seconds",
        "as first row, about "
            + pages
            + " pages; from the return of open on two threads read and update random rows, half and"
            + " half, a transaction each, lazily; in a fresh JVM, so its compiler is a part of the"
            + " first "
            + first
            + " ms; the steady state is in the same JVM, after all is redone; clean: the same after"
            + " a clean close");
    Map<String, Sample> samples =
        session.run(
            "traffic after a kill",
            session.quick() ? 1 : TRAFFIC_ROUNDS,
            List.of(
                child(
                    TRAFFIC,
                    FirstSecondsFork.class,
                    rows(session),
                    pages,
                    logBytes(session),
                    poolBytes(session),
                    first,
                    session.sized(500, 5_000),
                    session.sized(1_500, 10_000),
                    "ROUND",
                    session.seed())),
            UNITS);
    figures.plot(ratesBySecond(Integer.parseInt(first) / 1_000));
    for (String figure : List.of(SECONDS_RATIO, SECOND_P99)) {
      figures.put(figure, ForkSession.median(samples, figure + ",killed," + TRAFFIC));
    }
  }

  private static Plot ratesBySecond(int seconds) {
    Plot plot =
        new Plot(
            "How many reads and updates a second, after the open?",
            Plot.Form.BARS,
            "second",
            "1/s",
            /* logarithmic= */ false);
    for (String kind : List.of("killed", "clean")) {
      for (int second = 1; second <= seconds; second++) {
        String point = "rate_in_second,second=" + second + "," + kind + "," + TRAFFIC;
        plot.mark(kind, Integer.toString(second), point);
      }
      plot.mark(kind, "steady", "steady_rate," + kind + "," + TRAFFIC);
    }
    return plot;
  }

  /** Rows that were acknowledged, and are lost. */
  static void lost(ForkSession session) throws CannotMeasureException {
    String kills = session.sized(10, 100);
    session
        .figures()
        .setting(
            LOST,
            "rows inserted and committed lazily by two sessions, default options, acknowledged when"
                + " the commit returned; all that "
                + kills
                + " kills have lost together");
    Map<String, Sample> samples =
        session.run(
            "lazy commits and kills",
            1,
            List.of(child(LAZY, LostRowsFork.class, kills, session.seed())),
            UNITS);
    session.figures().put(LOST, ForkSession.median(samples, LOST + "," + LAZY));
  }

  private static ForkSession.Child child(String name, Class<?> main, String... arguments) {
    List<String> all = new ArrayList<>(List.of("DIRECTORY"));
    all.addAll(List.of(arguments));
    return new ForkSession.Child(name, main, FLAGS, null, all);
  }

  /** Enough for more pages than are to be changed. */
  private static String rows(ForkSession session) {
    return session.sized(200_000, 2_700_000);
  }

  private static String logBytes(ForkSession session) {
    return session.sized(16 << 20, 128 << 20);
  }

  private static String poolBytes(ForkSession session) {
    return session.sized(128 << 20, 1 << 30);
  }
}

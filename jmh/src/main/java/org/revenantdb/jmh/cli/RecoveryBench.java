package org.revenantdb.jmh.cli;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.revenantdb.jmh.baseline.EngineOfEagerRevert;
import org.revenantdb.jmh.recovery.CleanupFork;
import org.revenantdb.jmh.recovery.RestartFork;
import org.revenantdb.jmh.recovery.RetryFork;
import org.revenantdb.jmh.recovery.RollbackFork;
import org.revenantdb.jmh.recovery.VersionsFork;

/**
 * The cost of a transaction that was killed or rolled back: the experiments of "Constant Time
 * Recovery in Azure SQL Database" (VLDB 2019), §4.
 */
final class RecoveryBench implements Bench {
  private static final String SMALL_LOG = Integer.toString(8 << 20);
  private static final String DEFAULT_OPTIONS = "0";
  private static final String EAGERLY = ", taken back first";
  private static final String LARGEST = "10000000";

  /** The figures of reading whose growth is reported. */
  private static final List<String> LARGE = List.of("1000000", LARGEST);

  /** What a kill leaves to read varies by a third with the moment within a checkpoint. */
  private static final int ROUNDS_OF_KILLS = 7;

  /** A round takes minutes. */
  private static final int ROUNDS_OF_LARGEST = 5;

  /** The loss of a workload to the cleaner was 2 % in one JVM, and 13 % in another. */
  private static final int ROUNDS_OF_CLEANING = 3;

  private static final String PEAK = "log_peak_over_bound";
  private static final List<String> RESTARTS =
      List.of("recovery_io_growth", "recovery_seconds_max");
  private static final List<String> ROLLBACKS = List.of("rollback_growth", "rollback_ms");
  private static final List<String> VERSIONS =
      List.of("pvs_bytes_insert", "pvs_bytes_delete", "pvs_bytes_update");
  private static final List<String> RETRIES =
      List.of(
          "retry_insert_growth",
          "retry_update_growth",
          "retry_delete_growth",
          "retry_bulk_growth",
          "after_insert_growth",
          "after_update_growth",
          "after_delete_growth",
          "after_bulk_growth");
  private static final List<String> CLEANING =
      List.of("cleanup_size_growth", "cleanup_workload_ratio");

  private static final Map<String, String> UNITS =
      Map.of(
          "recovery_seconds", "s",
          "recovery_open_seconds", "s",
          "recovery_log_bytes", "bytes",
          "recovery_pages", "pages",
          "pages_at_kill", "pages",
          "rollback_ms", "ms",
          "rollback_small_ms", "ms",
          "cleanup_pages", "pages",
          "cleanup_seconds", "s");

  @Override
  public String name() {
    return "recovery";
  }

  @Override
  public String question() {
    return "What does a transaction cost that was killed or rolled back, whatever its size?";
  }

  @Override
  public List<String> promises() {
    List<String> names = new ArrayList<>();
    for (List<String> part : List.of(RESTARTS, ROLLBACKS, List.of(PEAK), VERSIONS, RETRIES)) {
      names.addAll(part);
    }
    names.addAll(CLEANING);
    names.addAll(RecoveryOpening.FIGURES);
    names.addAll(List.of(RecoveryTpcc.RATIO, RecoveryTpcc.OFF_ROW_RATIO));
    names.addAll(RecoveryPeers.figures());
    return names;
  }

  @Override
  public boolean measuresSome() {
    return true;
  }

  @Override
  public void measure(Settings settings, Figures figures) throws CannotMeasureException {
    Rounds rounds = Rounds.of(settings, settings.quick() ? 1 : 3);
    figures.setting("rows", "8 bytes of key, 200 of value; an update changes 4");
    figures.setting(
        "kill",
        "SIGKILL to itself when the log since the redo point is 0.9 of maxRecoveryLog, or what can be"
            + " reached (log_at_kill); pages from the cache of the system, as after any kill");
    try (ForkSession session = ForkSession.open(name(), settings, figures, rounds, Set.of(PEAK))) {
      session.begin(120);
      attempt(figures, settings, VERSIONS, () -> versions(session));
      attempt(figures, settings, ROLLBACKS, () -> rollbacks(session));
      attempt(figures, settings, RETRIES, () -> retries(session));
      attempt(figures, settings, CLEANING, () -> cleaning(session));
      List<String> small = List.of(RecoveryOpening.SMALL);
      attempt(figures, settings, small, () -> RecoveryOpening.small(session));
      List<String> lost = List.of(RecoveryOpening.LOST);
      attempt(figures, settings, lost, () -> RecoveryOpening.lost(session));
      List<String> first = RecoveryOpening.FIRST_ROWS;
      attempt(figures, settings, first, () -> RecoveryOpening.firstRow(session));
      List<String> seconds = List.of(RecoveryOpening.SECONDS_RATIO, RecoveryOpening.SECOND_P99);
      attempt(figures, settings, seconds, () -> RecoveryOpening.firstSeconds(session));
      List<String> restarts = Stream.concat(RESTARTS.stream(), Stream.of(PEAK)).toList();
      attempt(figures, settings, restarts, () -> restarts(session));
      session.begin(145);
      List<String> tpcc = List.of(RecoveryTpcc.RATIO, RecoveryTpcc.OFF_ROW_RATIO);
      attempt(figures, settings, tpcc, () -> RecoveryTpcc.measure(session));
      List<String> peers = RecoveryPeers.figures();
      attempt(figures, settings, peers, () -> RecoveryPeers.measure(session));
      session.putHighest(PEAK);
    } catch (IOException e) {
      throw new CannotMeasureException("a directory for the databases: " + e.getMessage(), e);
    }
    figures.rounds(rounds.tally());
  }

  /** Measures a part if one of its figures is asked for. */
  private static void attempt(
      Figures figures, Settings settings, List<String> asked, Figures.Part part) {
    if (settings.wants(asked.toArray(String[]::new))) {
      figures.attempt(part);
    }
  }

  /** Figure 9 of the paper: kill, and open again. */
  private static void restarts(ForkSession session) throws CannotMeasureException {
    List<String> sizes =
        session.quick()
            ? List.of("10000", "1000000")
            : List.of("10000", "100000", "1000000", LARGEST);
    List<String> operations =
        session.quick() ? List.of("UPDATE") : List.of("INSERT", "UPDATE", "DELETE");
    List<ForkSession.Child> children = new ArrayList<>();
    List<ForkSession.Child> largest = new ArrayList<>(); // which take minutes each
    for (String operation : operations) {
      for (String size : sizes) {
        (size.equals(LARGEST) ? largest : children)
            .add(restart(session, name(operation) + " " + size, operation, size, SMALL_LOG));
      }
    }
    List<String> eagerly =
        session.quick()
            ? List.of()
            : sizes.subList(0, sizes.size() - 1); // the measurement takes long
    if (!eagerly.isEmpty()) {
      Path eager =
          session.engine(
              "eager-revert",
              "an engine that takes back before it is open",
              EngineOfEagerRevert::write);
      for (String size : eagerly) {
        children.add(
            new ForkSession.Child(
                "update " + size + EAGERLY,
                RestartFork.class,
                List.of(),
                eager,
                List.of("DIRECTORY", "UPDATE", size, SMALL_LOG, session.seed())));
      }
    }
    String usual = "update 100000, default options";
    children.add(restart(session, usual, "UPDATE", "100000", DEFAULT_OPTIONS));
    Map<String, Sample> samples = new LinkedHashMap<>();
    if (session.quick()) {
      samples.putAll(session.run("kill and open", children, UNITS));
    } else {
      samples.putAll(session.run("kill and open", ROUNDS_OF_KILLS, children, UNITS));
      samples.putAll(session.run("kill and open, largest", ROUNDS_OF_LARGEST, largest, UNITS));
    }
    Figures figures = session.figures();
    List<String> large = sizes.stream().filter(LARGE::contains).toList();
    double growth = 0;
    for (String operation : operations) {
      double least = io(samples, name(operation) + " " + sizes.getFirst());
      for (String size : large) {
        growth = Math.max(growth, io(samples, name(operation) + " " + size) / least);
      }
    }
    figures.put(RESTARTS.getFirst(), growth);
    Sample seconds = samples.get("recovery_seconds," + usual);
    if (seconds == null) {
      throw new CannotMeasureException("the time of a restart with default options");
    }
    figures.put(RESTARTS.getLast(), seconds.highest());
    Plot plot =
        new Plot(
            "How long from the call of open to the first row?",
            Plot.Form.LINES,
            "rows of the killed transaction",
            "s",
            /* logarithmic= */ false);
    for (String operation : operations) {
      for (String size : sizes) {
        plot.mark(name(operation), size, "recovery_seconds," + name(operation) + " " + size);
      }
    }
    for (String size : eagerly) {
      plot.mark("update, taken back first", size, "recovery_seconds,update " + size + EAGERLY);
    }
    figures.plot(plot);
  }

  /** Bytes that recovery has read, of the log and in pages. */
  private static double io(Map<String, Sample> samples, String name) throws CannotMeasureException {
    return ForkSession.median(samples, "recovery_log_bytes," + name)
        + ForkSession.median(samples, "recovery_pages," + name) * (8 << 10);
  }

  private static String name(String operation) {
    return operation.toLowerCase(Locale.ROOT);
  }

  private static ForkSession.Child restart(
      ForkSession session, String name, String operation, String rows, String log) {
    return new ForkSession.Child(
        name, RestartFork.class, "DIRECTORY", operation, rows, log, session.seed());
  }

  private static void rollbacks(ForkSession session) throws CannotMeasureException {
    String rows = session.sized(200_000, 1_000_000);
    session.figures().setting("rolled back", rows + " rows against 50,000; median of so many");
    Map<String, Sample> samples =
        session.run(
            "rollback",
            1,
            List.of(large("rollback", RollbackFork.class, "50000", rows, session.sized(3, 11))),
            UNITS);
    put(session, samples, "rollback", ROLLBACKS);
  }

  private static void versions(ForkSession session) throws CannotMeasureException {
    Map<String, Sample> samples =
        session.run(
            "versions",
            1,
            List.of(large("versions", VersionsFork.class, session.sized(50_000, 1_000_000))),
            UNITS);
    put(session, samples, "versions", VERSIONS);
  }

  private static void retries(ForkSession session) throws CannotMeasureException {
    Map<String, Sample> samples =
        session.run(
            "retries",
            1,
            List.of(
                large(
                    "retries",
                    RetryFork.class,
                    session.sized(40_000, 200_000),
                    session.sized(3, 11))),
            UNITS);
    put(session, samples, "retries", RETRIES);
  }

  private static void cleaning(ForkSession session) throws CannotMeasureException {
    Map<String, Sample> samples =
        session.run(
            "cleaning",
            session.quick() ? 1 : ROUNDS_OF_CLEANING,
            List.of(
                large(
                    "cleaning",
                    CleanupFork.class,
                    session.sized(20_000, 100_000),
                    session.sized(200_000, 1_000_000),
                    session.sized(2, 5))),
            UNITS);
    put(session, samples, "cleaning", CLEANING);
  }

  private static ForkSession.Child large(String name, Class<?> main, String... arguments) {
    List<String> all = new ArrayList<>(List.of("DIRECTORY"));
    all.addAll(List.of(arguments));
    return new ForkSession.Child(name, main, List.of("-Xms512m", "-Xmx512m"), null, all);
  }

  private static void put(
      ForkSession session, Map<String, Sample> samples, String child, List<String> names)
      throws CannotMeasureException {
    for (String name : names) {
      session.figures().put(name, ForkSession.median(samples, name + "," + child));
    }
  }
}

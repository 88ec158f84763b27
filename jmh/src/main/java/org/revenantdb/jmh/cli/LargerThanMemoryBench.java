package org.revenantdb.jmh.cli;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.revenantdb.jmh.recovery.FileCache;
import org.revenantdb.jmh.tree.LimitedFork;
import org.revenantdb.jmh.tree.LoadFork;

/**
 * Rows that do not fit into memory, compared with other engines. A control group limits all memory
 * of a JVM: its heap, the pages of the engine, and the pages of its files in the cache of the
 * system.
 *
 * <p>A JVM without a limit loads the rows of each engine. They stay on the disk for all rounds.
 */
final class LargerThanMemoryBench implements Bench {
  static final String READ = "ooc_read_vs_lmdb";
  static final String SCAN = "ooc_scan_vs_best";
  static final String UPDATE = "ooc_update_vs_btree";
  static final String MIX = "ooc_mix95_vs_best";
  static final String DISK = "disk_per_byte";
  static final String DISK_UPDATED = "disk_per_byte_updated";

  private static final String[] LIMITED = {READ, SCAN, UPDATE, MIX};
  private static final Duration LIMIT = Duration.ofMinutes(20);
  private static final int BYTES_A_ROW = 116;

  /** Memory for pages when rows are loaded, and updated without a limit. */
  private static final long PLENTY = 1L << 30;

  private static final List<String> READS = List.of("reads,threads=1", "reads,threads=2");

  private static final Map<String, String> UNITS =
      Map.ofEntries(
          Map.entry("load", "1/s"),
          Map.entry("settle_ms", "ms"),
          Map.entry("random_updates", "1/s"),
          Map.entry("reads", "1/s"),
          Map.entry("scans", "1/s"),
          Map.entry("updates", "1/s"),
          Map.entry("mix", "1/s"),
          Map.entry("p50", "us"),
          Map.entry("p99", "us"),
          Map.entry("processor", "us"),
          Map.entry("fetched", "B"),
          Map.entry("disk_bytes", "B"));

  @Override
  public String name() {
    return "larger-than-memory";
  }

  @Override
  public String question() {
    return "What do rows cost that do not fit into memory?";
  }

  @Override
  public List<String> promises() {
    return List.of(READ, SCAN, UPDATE, MIX, DISK, DISK_UPDATED);
  }

  @Override
  public boolean measuresSome() {
    return true;
  }

  @Override
  public void measure(Settings settings, Figures figures) throws CannotMeasureException {
    Rounds rounds = Rounds.of(settings, settings.quick() ? 1 : 3);
    try (ForkSession session = ForkSession.open(name(), settings, figures, rounds, Set.of())) {
      new Run(settings, session, rounds).measure();
    } catch (IOException e) {
      throw new CannotMeasureException("a directory for the databases: " + e.getMessage(), e);
    }
    figures.rounds(rounds.tally());
  }

  /**
   * How much there is of all.
   *
   * @param rows how many
   * @param limit bytes of memory of a JVM
   * @param heap of the JVM, in MiB
   * @param pages bytes of memory for pages of the engines that are told
   */
  record Sizes(int rows, long limit, int heap, long pages) {
    private static final long MIB = 1 << 20;

    static Sizes of(boolean quick) {
      return quick
          ? new Sizes(4_000_000, 512 * MIB, 96, 112 * MIB)
          : new Sizes(10_000_000, 1152 * MIB, 192, 256 * MIB);
    }

    double rowBytes() {
      return (double) rows * BYTES_A_ROW;
    }
  }

  private static final class Run {
    private final Settings settings;
    private final ForkSession session;
    private final Figures figures;
    private final Rounds rounds;
    private final Sizes sizes;
    private final Map<String, Sample> samples = new LinkedHashMap<>();

    Run(Settings settings, ForkSession session, Rounds rounds) {
      this.settings = settings;
      this.session = session;
      this.figures = session.figures();
      this.rounds = rounds;
      this.sizes = Sizes.of(settings.quick());
    }

    void measure() {
      describe();
      boolean isLimited = settings.wants(LIMITED);
      List<LimitedEngines> loaded = new ArrayList<>();
      for (LimitedEngines engine : LimitedEngines.values()) {
        if (engine.isOwner() && (isLimited || engine == LimitedEngines.OURS || isWhole())) {
          figures.attempt(() -> {
            load(engine, "load");
            loaded.add(engine);
          });
        }
      }
      figures.attempt(() -> putDisk(DISK, "loaded"));
      if (isLimited) {
        figures.attempt(this::measureLimited);
      }
      for (LimitedEngines engine : loaded) {
        if (settings.wants(DISK_UPDATED) && (engine == LimitedEngines.OURS || isWhole())) {
          figures.attempt(() -> load(engine, "update"));
        }
      }
      if (settings.wants(DISK_UPDATED)) {
        figures.attempt(() -> putDisk(DISK_UPDATED, "updated"));
      }
    }

    private boolean isWhole() {
      return session.isWhole();
    }

    private void describe() {
      figures.setting("rows", sizes.rows() + ", keys of 16 bytes, values of 100");
      figures.setting(
          "limit",
          sizes.limit()
              + " bytes for all memory of a JVM, by a control group; heap "
              + sizes.heap()
              + " MiB; "
              + sizes.pages()
              + " bytes for pages");
      figures.setting("mix", "95 % reads, a transaction an operation, zipfian 0.99, 1 thread");
      for (LimitedEngines engine : LimitedEngines.values()) {
        engine.describe(figures);
      }
    }

    private Path directory(LimitedEngines engine) {
      return session.directory().resolve(engine.owner().variant());
    }

    private void load(LimitedEngines engine, String what) throws CannotMeasureException {
      boolean isLoad = what.equals("load");
      try {
        if (isLoad) {
          Files.createDirectories(directory(engine));
        }
        Fork fork = new Fork(LoadFork.class, engine.engine().flags("1g"), LIMIT);
        Map<String, Double> told =
            session.runIn(
                fork,
                what,
                engine.variant(),
                List.of(
                    engine.engine().className(),
                    directory(engine).toString(),
                    Integer.toString(sizes.rows()),
                    Long.toString(PLENTY),
                    what,
                    session.seed()));
        told.forEach((name, value) -> point(name + "," + engine.variant(), List.of(value)));
        if (told.isEmpty()) {
          throw new CannotMeasureException(what + " of " + engine.variant() + " failed");
        }
        point(
            "disk_bytes," + (isLoad ? "loaded," : "updated,") + engine.variant(),
            List.of(diskBytes(directory(engine))));
      } catch (IOException e) {
        throw new CannotMeasureException(what + " of " + engine.variant() + ": " + e, e);
      }
    }

    private void point(String name, List<Double> values) {
      int comma = name.indexOf(',');
      Sample sample =
          Sample.of(values, UNITS.getOrDefault(comma < 0 ? name : name.substring(0, comma), ""));
      samples.put(name, sample);
      figures.point(name, sample);
    }

    private void putDisk(String figure, String when) throws CannotMeasureException {
      figures.put(
          figure,
          ForkSession.median(samples, "disk_bytes," + when + "," + LimitedEngines.OURS.variant())
              / sizes.rowBytes());
    }

    private void measureLimited() throws CannotMeasureException {
      List<String> what = new ArrayList<>();
      addIf(what, READ, "reads");
      addIf(what, SCAN, "scans");
      addIf(what, UPDATE, "updates");
      addIf(what, MIX, "mix");
      List<Map<String, Double>> said =
          rounds.run("larger than memory", () -> round(String.join(",", what)));
      Sample.byName(said).forEach(this::point);
      plot();
      if (settings.wants(READ)) {
        figures.attempt(() -> figures.put(READ, reads()));
      }
      if (settings.wants(SCAN)) {
        figures.attempt(() -> putVsBest(SCAN, "scans"));
      }
      if (settings.wants(UPDATE)) {
        figures.attempt(() ->
            figures.put(
                UPDATE,
                ours("updates")
                    / best(
                        "updates",
                        engine ->
                            engine.owner() == LimitedEngines.LMDB
                                || engine.owner() == LimitedEngines.TUPL)));
      }
      if (settings.wants(MIX)) {
        figures.attempt(() -> putVsBest(MIX, "mix"));
      }
    }

    private void addIf(List<String> what, String figure, String name) {
      if (settings.wants(figure)) {
        what.add(name);
      }
    }

    private Map<String, Double> round(String what) throws CannotMeasureException {
      Map<String, Double> round = new LinkedHashMap<>();
      for (LimitedEngines engine : LimitedEngines.values()) {
        if (Files.isDirectory(directory(engine))) {
          limited(engine, what)
              .forEach((metric, value) -> round.put(metric + "," + engine.variant(), value));
        }
      }
      return round;
    }

    private Map<String, Double> limited(LimitedEngines engine, String what)
        throws CannotMeasureException {
      try (MemoryGroup group =
          MemoryGroup.make("revenant-bench-" + ProcessHandle.current().pid(), sizes.limit())) {
        dropFromCache(directory(engine));
        Fork fork =
            new Fork(LimitedFork.class, engine.engine().flags(sizes.heap() + "m"), LIMIT).in(group);
        return session.runIn(
            fork,
            "larger than memory",
            engine.variant(),
            List.of(
                engine.className(),
                directory(engine).toString(),
                Integer.toString(sizes.rows()),
                Long.toString(engine.pages(sizes)),
                session.sized(1000, 5000),
                session.sized(1500, 8000),
                session.seed(),
                what));
      } catch (IOException e) {
        throw new CannotMeasureException("no JVM could be started: " + e.getMessage(), e);
      }
    }

    private double reads() throws CannotMeasureException {
      double worst = Double.POSITIVE_INFINITY;
      for (String point : READS) {
        worst = Math.min(worst, ours(point) / best(point, engine -> engine == LimitedEngines.LMDB));
      }
      return worst;
    }

    private double ours(String point) throws CannotMeasureException {
      return ForkSession.median(samples, point + "," + LimitedEngines.OURS.variant());
    }

    private void putVsBest(String figure, String point) throws CannotMeasureException {
      figures.put(
          figure, ours(point) / best(point, engine -> engine.owner() != LimitedEngines.OURS));
    }

    private double best(String point, Predicate<LimitedEngines> which)
        throws CannotMeasureException {
      double best = 0;
      for (LimitedEngines engine : LimitedEngines.values()) {
        Sample sample = samples.get(point + "," + engine.variant());
        if (which.test(engine) && sample != null) {
          best = Math.max(best, sample.median());
        }
      }
      if (best == 0) {
        throw new CannotMeasureException("there is no " + point + " of a peer");
      }
      return best;
    }

    private void plot() {
      Plot plot =
          new Plot(
              "How many operations a second, larger than memory?",
              Plot.Form.BARS,
              "what",
              "1/s",
              /* logarithmic= */ true);
      List<String> points = new ArrayList<>(READS);
      points.addAll(List.of("scans", "updates", "mix"));
      for (LimitedEngines engine : LimitedEngines.values()) {
        points.forEach(point -> plot.mark(engine.variant(), point, point + "," + engine.variant()));
      }
      figures.plot(plot);
    }
  }

  /** Pages that another JVM has left in the cache would not count towards the limit. */
  private static void dropFromCache(Path directory) throws IOException, CannotMeasureException {
    try {
      if (!FileCache.drop(files(directory))) {
        throw new CannotMeasureException("there is no dd that drops files from the cache");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new CannotMeasureException("interrupted", e);
    }
  }

  private static List<Path> files(Path directory) throws IOException {
    try (Stream<Path> all = Files.walk(directory)) {
      return all.filter(Files::isRegularFile).toList();
    }
  }

  /** What a directory takes on the disk: files may have holes, and blocks that were taken ahead. */
  static double diskBytes(Path directory) throws IOException, CannotMeasureException {
    Process du =
        new ProcessBuilder("du", "-sk", directory.toString())
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    try (BufferedReader lines =
        new BufferedReader(new InputStreamReader(du.getInputStream(), StandardCharsets.UTF_8))) {
      String line = lines.readLine();
      if (line == null) {
        throw new CannotMeasureException("du reports no size of " + directory);
      }
      return 1024.0 * Long.parseLong(line.split("\\s", 2)[0]);
    }
  }
}

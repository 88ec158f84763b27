package org.revenantdb.jmh.cli;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.revenantdb.chaos.crash.FileTrees;
import org.revenantdb.chaos.crash.Scratch;
import org.revenantdb.chaos.report.Progress;

/**
 * One run of a measurement of the engine, shared by all its parts. It starts their JVMs, each with
 * an empty directory, and collects their results.
 *
 * <p>The directories are below {@code jmh/target}, on the same disk as the sources: a temporary
 * directory is often memory, where a force costs nothing.
 */
final class ForkSession implements AutoCloseable {
  private static final Duration QUICK_LIMIT = Duration.ofMinutes(2);
  private static final Duration FULL_LIMIT = Duration.ofMinutes(10);
  private static final long SECOND = 1_000_000_000;

  private final Bench.Settings settings;
  private final Figures figures;
  private final Rounds rounds;
  private final Path directory;
  private final Map<String, List<Double>> overall = new LinkedHashMap<>();
  private final long start = System.nanoTime();
  private long partEnd;
  private int directories;

  private ForkSession(
      Bench.Settings settings,
      Figures figures,
      Rounds rounds,
      Path directory,
      Set<String> overall) {
    this.settings = settings;
    this.figures = figures;
    this.rounds = rounds;
    this.directory = directory;
    overall.forEach(metric -> this.overall.put(metric, new ArrayList<>()));
  }

  /**
   * Opens one.
   *
   * @param name of the measurement
   * @param overall metrics that are of the whole run, not of a variant: {@link #putHighest}
   */
  static ForkSession open(
      String name, Bench.Settings settings, Figures figures, Rounds rounds, Set<String> overall)
      throws IOException {
    Path target = Path.of(System.getenv().getOrDefault("REVENANT_HOME", ".")).resolve("jmh/target");
    Path parent = Files.isDirectory(target) ? target : Path.of("").toAbsolutePath();
    Path directory = Scratch.directory(parent, "bench-" + name + "-");
    figures.setting("file system", Files.getFileStore(directory).type());
    return new ForkSession(settings, figures, rounds, directory, overall);
  }

  /**
   * Creates a separate JVM.
   *
   * @param name of the variant, for progress and points
   * @param main what runs
   * @param flags of the JVM
   * @param classes a folder whose classes come first, or null
   * @param arguments of it, in which {@code DIRECTORY} and {@code ROUND} stand for those
   */
  record Child(
      String name,
      Class<?> main,
      List<String> flags,
      @Nullable Path classes,
      List<String> arguments) {

    Child(String name, Class<?> main, String... arguments) {
      this(name, main, List.of(), null, List.of(arguments));
    }
  }

  boolean quick() {
    return settings.quick();
  }

  /** Whether points that no figure is made of are to be measured as well. */
  boolean isWhole() {
    return settings.isWhole();
  }

  /** One number for a quick run, another one for a full one, as an argument. */
  String sized(int quick, int full) {
    return Integer.toString(quick() ? quick : full);
  }

  String seed() {
    return Long.toString(settings.seed());
  }

  Figures figures() {
    return figures;
  }

  /** A directory that the parts may use, deleted in the end. */
  Path directory() {
    return directory;
  }

  /** Writes the classes of an engine that differs from ours. */
  @FunctionalInterface
  interface EngineClasses {
    /**
     * Writes them.
     *
     * @throws IllegalStateException if our engine no longer contains the code that is replaced
     */
    void write(Path folder) throws IOException;
  }

  /**
   * The folder of an engine that differs from ours.
   *
   * @param name of the folder, below {@link #directory}
   * @param what the kind of engine, for the message if it cannot be made
   */
  Path engine(String name, String what, EngineClasses classes) throws CannotMeasureException {
    Path folder = directory.resolve(name);
    try {
      classes.write(folder);
    } catch (IOException | IllegalStateException e) {
      throw new CannotMeasureException(what, e);
    }
    return folder;
  }

  /**
   * Runs all of them once a round, each time in another order, and adds their results as points
   * {@code metric,name}.
   *
   * @param unit of a metric
   */
  Map<String, Sample> run(String what, List<Child> children, Map<String, String> unit)
      throws CannotMeasureException {
    return run(what, rounds.wanted(), children, unit);
  }

  /** As the other, with another number of rounds. */
  Map<String, Sample> run(String what, int count, List<Child> children, Map<String, String> unit)
      throws CannotMeasureException {
    List<Map<String, Double>> said = new ArrayList<>();
    for (int round = 1; round <= count && (round == 1 || isTimeFor(count)); round++) {
      List<Child> turned = new ArrayList<>(children);
      Collections.rotate(turned, 1 - round);
      int number = round;
      said.addAll(rounds.run(what + " (" + round + ")", 1, () -> round(what, turned, number)));
    }
    Map<String, Sample> samples = new LinkedHashMap<>();
    Sample.byName(said)
        .forEach((name, values) ->
            samples.put(name, Sample.of(values, unit.getOrDefault(metric(name), ""))));
    samples.forEach(figures::point);
    return samples;
  }

  /** A point's name up to the first comma. */
  private static String metric(String point) {
    int comma = point.indexOf(',');
    return comma < 0 ? point : point.substring(0, comma);
  }

  private Map<String, Double> round(String what, List<Child> children, int number)
      throws CannotMeasureException {
    Map<String, Double> round = new LinkedHashMap<>();
    for (Child child : children) {
      round.putAll(one(what, child, number));
    }
    return round;
  }

  /**
   * A quick run on a loaded machine has fewer rounds than it should, but one round of every part;
   * {@code n} of the points shows it.
   */
  private boolean isTimeFor(int count) {
    boolean is = !quick() || System.nanoTime() - start < partEnd * SECOND;
    if (!is) {
      System.err.println(
          Progress.fitted(String.format(Locale.ROOT, "  no time for all %d rounds", count)));
    }
    return is;
  }

  /** A part begins. In a quick run it begins no round after this many seconds of the whole. */
  void begin(long seconds) {
    partEnd = seconds;
  }

  private Map<String, Double> one(String what, Child child, int round)
      throws CannotMeasureException {
    Fork fork = new Fork(child.main(), child.flags(), quick() ? QUICK_LIMIT : FULL_LIMIT);
    if (child.classes() != null) {
      fork = fork.withClassesFrom(child.classes());
    }
    List<String> arguments = new ArrayList<>(child.arguments());
    arguments.replaceAll(it -> it.equals("ROUND") ? Integer.toString(round) : it);
    Map<String, Double> named = new LinkedHashMap<>();
    try {
      runIn(fork, what, child.name(), arguments)
          .forEach((metric, value) -> named.put(metric + "," + child.name(), value));
    } catch (IOException e) {
      throw new CannotMeasureException(what + ": no JVM could be started", e);
    }
    return named;
  }

  /**
   * Runs a JVM with an empty directory, for which {@code DIRECTORY} stands in its arguments.
   *
   * @param name of the variant, for progress
   */
  Map<String, Double> runIn(Fork fork, String what, String name, List<String> arguments)
      throws IOException {
    Path own = directory.resolve("run" + directories++);
    Fork.Said said;
    try {
      Files.createDirectory(own); // not the one above, which Ctrl-C may have deleted
      said =
          fork.run(
              arguments.stream()
                  .map(it -> it.equals("DIRECTORY") ? own.toString() : it)
                  .toArray(String[]::new));
    } finally {
      delete(own);
    }
    if (said.failed()) {
      figures.notMeasured(what + ", " + name + ": " + said.failure());
    }
    Map<String, Double> told = new LinkedHashMap<>();
    StringBuilder line = new StringBuilder();
    said.values()
        .forEach((metric, value) -> {
          List<Double> together = overall.get(metric(metric));
          if (together != null) {
            together.add(value);
          } else {
            told.put(metric, value);
            line.append(
                String.format(Locale.ROOT, value < 10 ? "  %s %.3f" : "  %s %.1f", metric, value));
          }
        });
    System.err.println(Progress.fitted(String.format(Locale.ROOT, "  %-24s%s", name, line)));
    return told;
  }

  /** The median of a point, which must have been measured. */
  static double median(Map<String, Sample> samples, String name) throws CannotMeasureException {
    return LatchSession.median(samples, name);
  }

  /** The highest of all runs of all variants becomes a figure, if there was one. */
  void putHighest(String metric) {
    List<Double> values = overall.getOrDefault(metric, List.of());
    if (!values.isEmpty()) {
      Sample sample = Sample.of(values, "");
      figures.point(metric, sample);
      figures.put(metric, sample.highest());
    }
  }

  private static void delete(Path path) {
    try {
      FileTrees.delete(path);
    } catch (UncheckedIOException e) {
      System.err.println("left behind: " + path + ": " + e.getMessage());
    }
  }

  @Override
  public void close() {
    delete(directory);
  }
}

package org.revenantdb.jmh.cli;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.revenantdb.chaos.crash.Scratch;
import org.revenantdb.engine.DatabaseOptions;

/**
 * State stores of Kafka Streams: ours and the default ones, in turn beside one broker. The JVMs are
 * those of the module {@code kafka-trials}, whose class path {@code ./revenant} hands over; Kafka
 * is not on that of the other benchmarks.
 */
final class KafkaBench implements Bench {
  /** The class path of the trials. */
  static final String CLASS_PATH = "revenant.kafka.class.path";

  private static final String PACKAGE = "org.revenantdb.kafka.trials.";
  private static final List<String> STORES = List.of("revenant", "default");
  private static final String UP = "UP ";
  private static final Duration LIMIT = Duration.ofHours(2);

  private static final List<String> FLAGS =
      List.of(
          "--sun-misc-unsafe-memory-access=allow",
          "--enable-native-access=ALL-UNNAMED",
          "-XX:+UseSerialGC");

  /** A heap that is touched from the beginning, so that what grows is beyond it. */
  private static final List<String> STEADY_HEAP =
      List.of("-Xms256m", "-Xmx256m", "-XX:+AlwaysPreTouch");

  private static final Map<String, String> UNITS =
      Map.of(
          "records_per_second",
          "1/s",
          "restored_per_second",
          "1/s",
          "record_cpu_us",
          "us",
          "restart_seconds",
          "s",
          "stopped_restart_seconds",
          "s",
          "uncommitted_mb",
          "MB",
          "uncommitted_heap_mb",
          "MB");

  @Override
  public String name() {
    return "kafka-streams";
  }

  @Override
  public String question() {
    return "What do our stores cost or save an application of Kafka Streams?";
  }

  @Override
  public List<String> promises() {
    return List.of(
        "restored_records",
        "restored_records_default",
        "restart_ratio",
        "throughput_vs_default",
        "window_throughput_vs_default",
        "restore_vs_default",
        "uncommitted_memory_mb",
        "kills",
        "kills_wrong");
  }

  @Override
  public boolean measuresSome() {
    return true;
  }

  @Override
  public void measure(Settings settings, Figures figures) throws CannotMeasureException {
    String classPath = System.getProperty(CLASS_PATH);
    if (classPath == null) {
      throw new CannotMeasureException(
          "the trials beside a broker are a module of their own, kafka-trials; start it with"
              + " ./revenant bench kafka-streams");
    }
    Rounds rounds = Rounds.of(settings, settings.quick() ? 1 : 3);
    try (ForkSession session = ForkSession.open(name(), settings, figures, rounds, Set.of())) {
      Path directory = Files.createDirectory(session.directory().resolve("broker"));
      Process broker = broker(classPath, directory);
      try {
        Trials trials = new Trials(classPath, servers(broker), session, rounds, settings, figures);
        settings(settings, figures, classPath);
        trials.run();
      } finally {
        broker.destroyForcibly();
        broker.onExit().join();
      }
    } catch (IOException e) {
      throw new CannotMeasureException("kafka-streams: " + e.getMessage(), e);
    }
    figures.rounds(rounds.tally());
  }

  private static void settings(Settings settings, Figures figures, String classPath) {
    figures.setting("keys", Trials.keys(settings.quick()));
    figures.setting("input", "keys of 8 bytes, each once, then random ones; 2 partitions");
    figures.setting(
        "application", "exactly-once, commit.interval.ms 100, one thread; all else default");
    figures.setting(
        "stores",
        "defaults of both: "
            + DatabaseOptions.defaults().poolBytes() / (1 << 20)
            + " MiB for pages, RocksDB of Kafka Streams");
    figures.setting("window", "1 minute, no grace; a record a millisecond of stream time");
    figures.setting("restart", "from new KafkaStreams to RUNNING, static member, 2 partitions");
    figures.setting(
        "uncommitted",
        "rows of 1,000 bytes, no changelog, pool 32 MiB: live heap, and anonymous memory of the"
            + " process beyond heap and pool");
    figures.version("Kafka", version(classPath, "kafka-streams"));
    figures.version("RocksDB", version(classPath, "rocksdbjni"));
  }

  private static String version(String classPath, String artifact) {
    Matcher matcher =
        Pattern.compile("[/\\\\]" + artifact + "-([0-9][^/\\\\]*)\\.jar").matcher(classPath);
    return matcher.find() ? matcher.group(1) : "not there";
  }

  private static Process broker(String classPath, Path directory) throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(FLAGS);
    command.addAll(List.of("-Xmx512m", "-cp", classPath, PACKAGE + "BrokerMain"));
    command.addAll(List.of(directory.toString(), "1"));
    InetAddress local = InetAddress.getLoopbackAddress();
    try (ServerSocket first = new ServerSocket(0, 1, local);
        ServerSocket second = new ServerSocket(0, 1, local)) {
      command.add(Integer.toString(first.getLocalPort()));
      command.add(Integer.toString(second.getLocalPort()));
    }
    return Scratch.start(
        new ProcessBuilder(command).redirectError(directory.resolve("log").toFile()));
  }

  /** Where the broker is; it ends by itself if it cannot start. */
  @SuppressWarnings("resource") // it is the process's
  private static String servers(Process broker) throws IOException, CannotMeasureException {
    String line =
        new BufferedReader(new InputStreamReader(broker.getInputStream(), UTF_8)).readLine();
    if (line == null || !line.startsWith(UP)) {
      throw new CannotMeasureException("NO BROKER: a Kafka broker cannot be started here");
    }
    return line.substring(UP.length());
  }

  /** All trials beside one broker. */
  private record Trials(
      String classPath,
      String servers,
      ForkSession session,
      Rounds rounds,
      Settings settings,
      Figures figures) {
    private static final String TOPIC = "input";

    /** The figures that need the common input; a run of kills sends its own. */
    private static final String[] OF_INPUT = {
      "throughput_vs_default", "window_throughput_vs_default", "uncommitted_memory_mb"
    };

    /** The figures that a run of kills gives. */
    private static final String[] OF_KILLS = {
      "kills",
      "kills_wrong",
      "restored_records",
      "restored_records_default",
      "restart_ratio",
      "restore_vs_default"
    };

    static int keys(boolean quick) {
      return quick ? 50_000 : 2_000_000;
    }

    private String keys() {
      return Integer.toString(keys(settings.quick()));
    }

    private String seed() {
      return session.seed();
    }

    void run() throws CannotMeasureException {
      if (settings.wants(OF_INPUT)) {
        String more = session.sized(150_000, 2_000_000);
        one("InputMain", List.of(), "input", List.of(servers, TOPIC, keys(), more, seed()));
      }
      for (String kind : List.of("count", "window")) {
        String figure =
            kind.equals("count") ? "throughput_vs_default" : "window_throughput_vs_default";
        if (settings.wants(figure)) {
          figures.attempt(() -> throughput(kind, figure));
        }
      }
      if (settings.wants(OF_KILLS)) {
        figures.attempt(this::kills);
      }
      if (settings.wants("uncommitted_memory_mb")) {
        figures.attempt(this::memory);
      }
    }

    private void throughput(String kind, String figure) throws CannotMeasureException {
      long end = keys(settings.quick()) + Long.parseLong(session.sized(150_000, 2_000_000));
      Map<String, Sample> samples =
          inTurn(
              kind,
              rounds.wanted(),
              "ThroughputMain",
              List.of(),
              List.of(TOPIC, kind, Long.toString(end / 2), Long.toString(end)));
      figures.put(figure, ratio(samples, "records_per_second", kind));
    }

    private void kills() throws CannotMeasureException {
      Map<String, Sample> samples =
          inTurn(
              "kills",
              1,
              "KillsMain",
              List.of(),
              List.of(keys(), session.sized(20_000, 50_000), session.sized(3, 10), seed()));
      figures.put("kills", median(samples, "kills,kills,revenant"));
      figures.put("kills_wrong", median(samples, "kills_wrong,kills,revenant"));
      figures.put("restored_records", median(samples, "restored,kills,revenant"));
      figures.put("restored_records_default", median(samples, "restored,kills,default"));
      figures.put("restart_ratio", ratio(samples, "restart_seconds", "kills"));
      figures.put("restore_vs_default", ratio(samples, "restored_per_second", "kills"));
    }

    private void memory() throws CannotMeasureException {
      Map<String, Sample> samples =
          inTurn(
              "memory",
              settings.quick() ? 1 : 3,
              "MemoryMain",
              STEADY_HEAP,
              List.of(TOPIC, session.sized(200, 1000)));
      figures.put("uncommitted_memory_mb", median(samples, "uncommitted_mb,memory,revenant"));
    }

    private static double median(Map<String, Sample> samples, String name)
        throws CannotMeasureException {
      return ForkSession.median(samples, name);
    }

    private static double ratio(Map<String, Sample> samples, String metric, String what)
        throws CannotMeasureException {
      return median(samples, metric + "," + what + ",revenant")
          / median(samples, metric + "," + what + ",default");
    }

    /** Both stores in each round, each time in another order. */
    private Map<String, Sample> inTurn(
        String what, int count, String main, List<String> flags, List<String> arguments)
        throws CannotMeasureException {
      List<String> turned = new ArrayList<>(STORES);
      List<Map<String, Double>> told =
          rounds.run(
              "kafka-streams, " + what,
              count,
              () -> {
                Map<String, Double> round = new LinkedHashMap<>();
                for (String stores : turned) {
                  List<String> all = new ArrayList<>(List.of(stores, servers));
                  all.add("DIRECTORY");
                  all.addAll(arguments);
                  one(main, flags, what + "," + stores, all)
                      .forEach(
                          (metric, value) -> round.put(metric + "," + what + "," + stores, value));
                }
                Collections.rotate(turned, 1);
                return round;
              });
      Map<String, Sample> samples = new LinkedHashMap<>();
      Sample.byName(told)
          .forEach((name, values) ->
              samples.put(
                  name,
                  Sample.of(values, UNITS.getOrDefault(name.substring(0, name.indexOf(',')), ""))));
      samples.forEach(figures::point);
      return samples;
    }

    private Map<String, Double> one(
        String main, List<String> flags, String what, List<String> arguments)
        throws CannotMeasureException {
      List<String> all = new ArrayList<>(FLAGS);
      all.add("-Xmx512m");
      all.addAll(flags);
      Fork fork = new Fork(PACKAGE + main, all, LIMIT, classPath);
      try {
        return session.runIn(fork, "kafka-streams", what, arguments);
      } catch (IOException e) {
        throw new CannotMeasureException(what + ": no JVM could be started", e);
      }
    }
  }
}

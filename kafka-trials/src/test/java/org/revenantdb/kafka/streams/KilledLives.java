package org.revenantdb.kafka.streams;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ListConsumerGroupOffsetsOptions;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.jspecify.annotations.Nullable;
import org.revenantdb.kafka.trials.Broker;

/**
 * The lives of a {@link TellingApplication}, which are killed, and what they said: no store may
 * restore what it had when the broker had committed. All lives have the same directory.
 *
 * <p>Threads: one.
 */
final class KilledLives {
  /** The exit code of a process that was killed by SIGKILL. */
  private static final int KILLED = 137;

  private static final Duration AGAIN = Duration.ofMillis(100);

  private final Class<?> application;
  private final Broker broker;
  private final Path home;
  private final Path state;
  private final Predicate<String> isOurs;
  private final List<String> properties;
  private final List<String> command;

  /** Where each store must be at least, by changelog. */
  private final Map<TopicPartition, Long> floor = new HashMap<>();

  /** Of all producers. */
  private final Set<String> transactionalIds = new TreeSet<>();

  private long restored;

  /** No life has begun, and each one will be a process of this machine. */
  KilledLives(
      Class<?> application,
      Broker broker,
      Path home,
      Predicate<String> isOurs,
      String... properties) {
    this(List.of(), application, broker, home, home.resolve("state"), isOurs, properties);
  }

  /**
   * No life has begun.
   *
   * @param command becomes the process of a life; empty if that needs none
   * @param state the directory of the state of all lives
   * @param isOurs whether a changelog is of a store that keeps its rows
   * @param properties of the application, as {@code name=value}
   */
  KilledLives(
      List<String> command,
      Class<?> application,
      Broker broker,
      Path home,
      Path state,
      Predicate<String> isOurs,
      String... properties) {
    this.command = command;
    this.state = state;
    this.application = application;
    this.broker = broker;
    this.home = home;
    this.isOurs = isOurs;
    this.properties = List.of(properties);
  }

  /** A random generator whose seed is printed and can be given. */
  static Random random(Class<?> test) {
    long seed = Long.getLong("revenant.kafka.seed", new Random().nextLong());
    System.out.println(test.getSimpleName() + ": repeat with -Drevenant.kafka.seed=" + seed);
    return new Random(seed);
  }

  /** How many records all stores have restored. */
  long restored() {
    return restored;
  }

  /** The directory of the state of all lives. */
  Path state() {
    return state;
  }

  /** Begins a life that goes on until it is ended or killed. */
  Life begin() throws IOException {
    return new Life(/* stop= */ 0);
  }

  /**
   * One of many lives. Half of them are killed when the broker has committed and the stores have
   * not, and half at any moment. Beside several brokers, one of these is away in every other life.
   *
   * @param number of the life
   * @param lines twice as many as the application writes until it is running
   * @param more is run behind each commit before the last one, so that another one comes
   */
  void live(int number, int lines, Random random, Runnable more) throws Exception {
    Broker.Meanwhile life =
        number % 4 < 2
            ? () -> liveUntilCommit(1 + random.nextInt(8), more)
            : () -> live(1 + random.nextInt(lines), random, more);
    if (broker.count() > 1 && number % 2 == 1) {
      broker.withoutOne(random.nextInt(broker.count()), life);
    } else {
      life.run();
    }
  }

  /** One life, which is killed a moment after a number of lines. */
  private void live(int lines, Random random, Runnable more)
      throws IOException, InterruptedException {
    live(/* commits= */ 0, _ -> true, lines, random.nextInt(30_000_000), more);
  }

  /**
   * One life, which is killed when the broker has committed and the stores have not.
   *
   * @param commits behind how many
   * @param more is run behind each commit before
   */
  void liveUntilCommit(int commits, Runnable more) throws IOException, InterruptedException {
    live(commits, KilledLives::isCommit, commits, /* nanoseconds= */ 0, more);
  }

  private void live(int stop, Predicate<String> counts, int lines, int nanoseconds, Runnable more)
      throws IOException, InterruptedException {
    Life life = new Life(stop);
    try {
      for (int seen = 0; seen < lines; ) {
        String line = life.next();
        seen += counts.test(line) ? 1 : 0;
        if (isCommit(line) && seen < lines) {
          more.run();
        }
      }
      spin(nanoseconds);
    } finally {
      life.kill();
    }
  }

  /** A life that ends in order when something was done. */
  void last(Work work) throws Exception {
    Life life = begin();
    try {
      work.accept(life);
      life.end();
    } finally {
      life.destroy();
    }
  }

  /** What a test does with the life that is not killed. */
  @FunctionalInterface
  interface Work {
    void accept(Life life) throws Exception;
  }

  /** One life. What it says is taken from it at once, and noticed when a test asks for it. */
  final class Life {
    private static final String NOTHING = "";

    private final Process process;
    private final BlockingQueue<String> said = new LinkedBlockingQueue<>();
    private final Thread listening;

    /** Of each thread, the last commit, which may not have come to the stores. */
    private final Map<String, Map<TopicPartition, Long>> commits = new HashMap<>();

    /** The first offsets of restorations, by changelog. */
    private final Map<TopicPartition, List<Long>> beginnings = new HashMap<>();

    /** The changelogs that standbys read. */
    private final Set<TopicPartition> standbys = new HashSet<>();

    /** How far each standby had come that is none any longer. */
    private final Map<TopicPartition, Long> wasStandby = new HashMap<>();

    private Life(int stop) throws IOException {
      List<String> arguments =
          new ArrayList<>(List.of(broker.servers(), state().toString(), Integer.toString(stop)));
      arguments.addAll(properties);
      process =
          Brokers.fork(
              command,
              application,
              home.resolve("application.log"),
              List.of("-Xmx192m"),
              arguments);
      listening =
          Thread.ofPlatform()
              .start(() -> {
                process.inputReader(StandardCharsets.UTF_8).lines().forEach(said::add);
                said.add(NOTHING);
              });
    }

    /** Waits for its next line. */
    String next() throws InterruptedException {
      String line = said.take();
      if (line.equals(NOTHING)) {
        throw new AssertionError("the application has ended: " + log());
      }
      notice(line, this);
      return line;
    }

    /** The first offsets of the restorations of a store in this life, in their order. */
    List<Long> beginnings(TopicPartition changelog) {
      return beginnings.getOrDefault(changelog, List.of());
    }

    /** Waits until a store begins to read its changelog. */
    void awaitRestoration() throws InterruptedException {
      while (!next().startsWith("RESTORE ")) {
        // what it says before is noticed
      }
    }

    /** Waits until all stores are restored. */
    void awaitRunning() throws InterruptedException {
      while (!next().equals("STATE RUNNING")) {
        // what it says before is noticed
      }
    }

    /** Waits until it has a standby. */
    void awaitStandby() throws InterruptedException {
      while (standbys.isEmpty()) {
        next();
      }
    }

    /** Waits until it has no standby any longer: each one was promoted. */
    void awaitPromotion() throws InterruptedException {
      while (!standbys.isEmpty()) {
        next();
      }
    }

    /**
     * Waits until the broker has committed, and until then does something again and again that
     * makes a commit possible.
     */
    void awaitCommit(Runnable meanwhile) throws InterruptedException {
      while (true) {
        String line = said.poll(AGAIN.toMillis(), TimeUnit.MILLISECONDS);
        if (line == null) {
          demandAlive();
          meanwhile.run();
        } else if (line.equals(NOTHING)) {
          throw new AssertionError("the application has ended: " + log());
        } else {
          notice(line, this);
          if (isCommit(line)) {
            return;
          }
        }
      }
    }

    boolean isAlive() {
      return process.isAlive();
    }

    void demandAlive() {
      assertTrue(process.isAlive(), KilledLives.this::log);
    }

    private void tell(int what) {
      try {
        process.getOutputStream().write(what);
        process.getOutputStream().flush();
      } catch (IOException e) {
        throw new UncheckedIOException(log(), e);
      }
    }

    /** What it writes when it is asked, up to and without a line END. */
    List<String> rows() throws InterruptedException {
      tell(TellingApplication.ASK);
      List<String> rows = new ArrayList<>();
      for (String line = next(); !line.equals("END"); line = next()) {
        if (line.startsWith("ROW ")) {
          rows.add(line.substring("ROW ".length()));
        }
      }
      return rows;
    }

    /** Ends it in order. */
    void end() throws InterruptedException {
      tell('\n');
      assertEquals(0, exitCode(), KilledLives.this::log);
    }

    /** Kills it, with what it has not committed. */
    void kill() throws InterruptedException {
      process.toHandle().destroyForcibly(); // what it has said is read, too
      assertEquals(KILLED, exitCode(), KilledLives.this::log);
    }

    /** Waits until it has ended by itself. */
    int exitCode() throws InterruptedException {
      int code = process.waitFor();
      listening.join();
      for (String line = said.take(); !line.equals(NOTHING); line = said.take()) {
        notice(line, this);
      }
      said.add(NOTHING);
      return code;
    }

    /** Nothing of it is left, whatever has happened. */
    void destroy() {
      process.destroyForcibly().onExit().join();
    }
  }

  /** Whether a line tells that the broker has committed. */
  private static boolean isCommit(String line) {
    return line.startsWith("COMMIT");
  }

  private static void spin(long nanoseconds) {
    long end = System.nanoTime() + nanoseconds;
    while (System.nanoTime() - end < 0) {
      Thread.onSpinWait();
    }
  }

  private void notice(String line, Life life) {
    String[] words = line.split(" ");
    switch (words[0]) {
      case "PRODUCER" -> transactionalIds.add(words[1]);
      case "COMMIT" -> {
        Map<TopicPartition, Long> offsets = new HashMap<>();
        for (int i = 2; i < words.length; i += 3) {
          offsets.put(partition(words[i], words[i + 1]), Long.valueOf(words[i + 2]));
        }
        // The stores commit in the thread that says it, so they have the commit before.
        Map<TopicPartition, Long> before = life.commits.put(words[1], offsets);
        if (before != null) {
          before.forEach(this::raise);
        }
      }
      case "RESTORE", "STANDBY" -> {
        TopicPartition changelog = partition(words[1], words[2]);
        long first = Long.parseLong(words[3]);
        life.beginnings.computeIfAbsent(changelog, _ -> new ArrayList<>()).add(first);
        demandBehind(floor.get(changelog), first, line);
        demandBehind(life.wasStandby.remove(changelog), first, line);
        if (words[0].equals("STANDBY")) {
          life.standbys.add(changelog);
        }
      }
      case "SUSPENDED" -> {
        TopicPartition changelog = partition(words[1], words[2]);
        life.standbys.remove(changelog);
        life.wasStandby.put(changelog, Long.valueOf(words[3]));
      }
      case "RESTORED" -> restored += isOurs.test(words[1]) ? Long.parseLong(words[3]) : 0;
      default -> {}
    }
  }

  /** A store does not read again what it had. */
  private void demandBehind(@Nullable Long stored, long first, String line) {
    assertTrue(
        stored == null || first > stored || !isOurs.test(line.split(" ")[1]),
        () -> line + ": the store had offset " + stored + "\n" + log());
  }

  private static TopicPartition partition(String topic, String number) {
    return new TopicPartition(topic, Integer.parseInt(number));
  }

  /** No store is behind what it had, and none is gone. */
  void demandKept(Map<TopicPartition, Long> stored) {
    floor.forEach((changelog, least) ->
        assertTrue(
            least <= stored.getOrDefault(changelog, -1L) || !isOurs.test(changelog.topic()),
            () -> changelog + ": " + least + " was committed before, and now " + stored));
    stored.forEach(this::raise);
  }

  private void raise(TopicPartition changelog, long offset) {
    floor.merge(changelog, offset, Math::max);
  }

  /** The state was lost, or Kafka Streams has deleted it: nothing is known of any store. */
  void forget() {
    floor.clear();
  }

  /** What the lives have written to their standard error. */
  String log() {
    try {
      Path log = home.resolve("application.log");
      return Files.exists(log) ? Files.readString(log) : "";
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  // --- what the broker has

  /**
   * Ends the transactions that killed lives have left open. Then all that they committed can be
   * read.
   */
  void fence(Admin admin) throws ExecutionException, InterruptedException {
    admin.fenceProducers(transactionalIds).all().get();
  }

  /** Up to where the input is processed, with what the output says of it. */
  Map<TopicPartition, Long> processed(Admin admin, String group)
      throws ExecutionException, InterruptedException {
    Map<TopicPartition, Long> processed = new HashMap<>();
    admin
        .listConsumerGroupOffsets(group, new ListConsumerGroupOffsetsOptions().requireStable(true))
        .partitionsToOffsetAndMetadata()
        .get()
        .forEach(
            (partition, offset) -> processed.put(partition, offset == null ? 0 : offset.offset()));
    return processed;
  }

  /**
   * Waits until input is processed and committed.
   *
   * @param ends up to where, by partition
   */
  void awaitProcessed(Admin admin, String group, Life life, Map<TopicPartition, Long> ends)
      throws ExecutionException, InterruptedException {
    while (true) {
      Map<TopicPartition, Long> processed = processed(admin, group);
      if (ends.entrySet().stream()
          .allMatch(end -> processed.getOrDefault(end.getKey(), 0L) >= end.getValue())) {
        return;
      }
      life.demandAlive();
      TimeUnit.MILLISECONDS.sleep(20);
    }
  }

  private KafkaConsumer<byte[], byte[]> consumer(IsolationLevel isolation) {
    return new KafkaConsumer<>(
        Map.of(
            "bootstrap.servers",
            broker.servers(),
            "isolation.level",
            isolation.toString().toLowerCase(Locale.ROOT),
            "default.api.timeout.ms",
            Broker.PATIENCE_MILLIS,
            "fetch.max.wait.ms",
            10),
        new ByteArrayDeserializer(),
        new ByteArrayDeserializer());
  }

  /**
   * Everything that is committed of a topic, partition by partition; it may not be there.
   * Transactions that are not yet ended are waited for: the broker tells of a commit before it is
   * seen in each partition.
   */
  List<ConsumerRecord<byte[], byte[]>> committed(String topic, int partitions) {
    List<ConsumerRecord<byte[], byte[]>> records = new ArrayList<>();
    try (KafkaConsumer<byte[], byte[]> consumer = consumer(IsolationLevel.READ_COMMITTED)) {
      if (consumer.listTopics().containsKey(topic)) {
        for (int i = 0; i < partitions; i++) {
          TopicPartition partition = new TopicPartition(topic, i);
          records.addAll(read(consumer, partition, end(partition)));
        }
      }
    }
    return records;
  }

  /** What is committed of a partition, as {@link #committed(String, int)}. */
  List<ConsumerRecord<byte[], byte[]>> committed(TopicPartition partition) {
    return committed(partition, end(partition));
  }

  /**
   * What is committed of a partition.
   *
   * @param end behind a record that is committed; it may be seen a moment later, and if one of
   *     several brokers was away, its end as well
   */
  List<ConsumerRecord<byte[], byte[]>> committed(TopicPartition partition, long end) {
    assertTrue(
        broker.count() > 1 || end <= end(partition),
        () -> end + " is behind the end: " + partition);
    try (KafkaConsumer<byte[], byte[]> consumer = consumer(IsolationLevel.READ_COMMITTED)) {
      return read(consumer, partition, end);
    }
  }

  private static List<ConsumerRecord<byte[], byte[]>> read(
      KafkaConsumer<byte[], byte[]> consumer, TopicPartition partition, long end) {
    List<ConsumerRecord<byte[], byte[]>> records = new ArrayList<>();
    consumer.assign(List.of(partition));
    consumer.seekToBeginning(consumer.assignment());
    while (consumer.position(partition) < end) {
      for (ConsumerRecord<byte[], byte[]> record : consumer.poll(Duration.ofSeconds(1))) {
        if (record.offset() < end) {
          records.add(record);
        }
      }
    }
    return records;
  }

  /** The end of a partition, with transactions that are not yet ended. */
  private long end(TopicPartition partition) {
    try (KafkaConsumer<byte[], byte[]> consumer = consumer(IsolationLevel.READ_UNCOMMITTED)) {
      return consumer.endOffsets(List.of(partition)).getOrDefault(partition, 0L);
    }
  }

  static String text(ConsumerRecord<byte[], byte[]> record) {
    return new String(record.key(), StandardCharsets.UTF_8);
  }

  static long number(ConsumerRecord<byte[], byte[]> record) {
    return ByteBuffer.wrap(record.value()).getLong();
  }
}

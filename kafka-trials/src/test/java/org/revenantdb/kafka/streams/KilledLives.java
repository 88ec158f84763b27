package org.revenantdb.kafka.streams;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.function.Predicate;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.jspecify.annotations.Nullable;
import org.revenantdb.kafka.trials.Broker;

/**
 * The lives of a {@link TellingApplication}, which are killed, and what they said: no store may
 * restore what it had when the broker had committed.
 *
 * <p>Threads: one.
 */
final class KilledLives {
  private final Class<?> application;
  private final String servers;
  private final Path home;
  private final Predicate<String> isOurs;

  /** Where each store must be at least, by changelog. */
  private final Map<TopicPartition, Long> floor = new HashMap<>();

  private long restored;

  /**
   * No life has begun.
   *
   * @param isOurs whether a changelog is of a store that keeps its rows
   */
  KilledLives(Class<?> application, Broker broker, Path home, Predicate<String> isOurs) {
    this.application = application;
    this.servers = broker.servers();
    this.home = home;
    this.isOurs = isOurs;
  }

  /** How many records all stores have restored. */
  long restored() {
    return restored;
  }

  /** The directory of the state of all lives. */
  Path state() {
    return home.resolve("state");
  }

  private Process start(int stop) throws IOException {
    return Brokers.fork(
        application,
        home.resolve("application.log"),
        List.of("-Xmx192m"),
        List.of(servers, state().toString(), Integer.toString(stop)));
  }

  /**
   * One life, which is killed a moment after a number of lines.
   *
   * @param more is run behind each commit before, so that another one comes
   */
  void live(int lines, Random random, Runnable more) throws IOException, InterruptedException {
    live(/* commits= */ 0, line -> true, lines, random.nextInt(30_000_000), more);
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
    Process process = start(stop);
    List<Map<TopicPartition, Long>> commits = new ArrayList<>();
    try (BufferedReader said = process.inputReader(StandardCharsets.UTF_8)) {
      int seen = 0;
      for (String line = said.readLine(); line != null; line = said.readLine()) {
        notice(line, commits);
        seen += counts.test(line) ? 1 : 0;
        if (isCommit(line) && seen < lines) {
          more.run();
        }
        if (seen == lines && counts.test(line)) {
          spin(nanoseconds);
          process.toHandle().destroyForcibly(); // what it has said is read, too
        }
      }
    } finally {
      process.destroyForcibly().waitFor();
    }
    assertEquals(137, process.exitValue(), this::log);
    for (int i = 0; i < commits.size() - 1; i++) { // the last one may not have come to the stores
      commits.get(i).forEach(this::raise);
    }
  }

  /** A life that ends in order when something was done. */
  void last(Work work) throws Exception {
    Process process = start(/* stop= */ 0);
    try {
      Last last = new Last(process);
      work.accept(last);
      last.tell('\n');
      assertEquals(0, process.waitFor(), this::log);
      last.listening.join();
      last.said.forEach(line -> notice(line, new ArrayList<>()));
    } finally {
      process.destroyForcibly();
    }
  }

  /** What a test does with the life that is not killed. */
  @FunctionalInterface
  interface Work {
    void accept(Last life) throws Exception;
  }

  /** The life that is not killed. */
  final class Last {
    private static final String NOTHING = "";

    private final Process process;
    private final BlockingQueue<String> said = new LinkedBlockingQueue<>();
    private final Thread listening;

    private Last(Process process) {
      this.process = process;
      this.listening =
          Thread.ofPlatform()
              .start(() -> {
                process.inputReader(StandardCharsets.UTF_8).lines().forEach(said::add);
                said.add(NOTHING);
              });
    }

    /** Waits until all stores are restored. */
    void awaitRunning() throws InterruptedException {
      for (String line = next(); !line.equals("STATE RUNNING"); line = next()) {
        notice(line, new ArrayList<>());
      }
    }

    private String next() throws InterruptedException {
      String line = said.take();
      if (line.equals(NOTHING)) {
        throw new AssertionError("the application has ended: " + log());
      }
      return line;
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
        } else {
          notice(line, new ArrayList<>());
        }
      }
      return rows;
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

  private void notice(String line, List<Map<TopicPartition, Long>> commits) {
    String[] words = line.split(" ");
    switch (words[0]) {
      case "COMMIT" -> {
        Map<TopicPartition, Long> offsets = new HashMap<>();
        for (int i = 1; i < words.length; i += 3) {
          offsets.put(partition(words[i], words[i + 1]), Long.valueOf(words[i + 2]));
        }
        commits.add(offsets);
      }
      case "RESTORE" -> {
        Long stored = floor.get(partition(words[1], words[2]));
        long first = Long.parseLong(words[3]);
        assertTrue(
            stored == null || first > stored || !isOurs.test(words[1]),
            () -> line + ": the store had offset " + stored + "\n" + log());
      }
      case "RESTORED" -> restored += isOurs.test(words[1]) ? Long.parseLong(words[3]) : 0;
      default -> {}
    }
  }

  private static TopicPartition partition(String topic, String number) {
    return new TopicPartition(topic, Integer.parseInt(number));
  }

  /** Where a store must be at least; null if nothing is known. */
  @Nullable Long floor(TopicPartition changelog) {
    return floor.get(changelog);
  }

  /** A store was at this offset of its changelog. */
  void raise(TopicPartition changelog, long offset) {
    floor.merge(changelog, offset, Math::max);
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

  /** A reader of what is committed. */
  KafkaConsumer<byte[], byte[]> consumer() {
    return new KafkaConsumer<>(
        Map.of(
            "bootstrap.servers",
            servers,
            "isolation.level",
            "read_committed",
            "default.api.timeout.ms",
            Broker.PATIENCE_MILLIS,
            "fetch.max.wait.ms",
            10),
        new ByteArrayDeserializer(),
        new ByteArrayDeserializer());
  }

  /** Everything that is committed of a topic now, partition by partition. */
  List<ConsumerRecord<byte[], byte[]>> committed(String topic, int partitions) {
    List<ConsumerRecord<byte[], byte[]>> records = new ArrayList<>();
    try (KafkaConsumer<byte[], byte[]> consumer = consumer()) {
      for (int i = 0; i < partitions; i++) {
        TopicPartition partition = new TopicPartition(topic, i);
        consumer.assign(List.of(partition));
        consumer.seekToBeginning(consumer.assignment());
        long end = consumer.endOffsets(consumer.assignment()).getOrDefault(partition, 0L);
        while (consumer.position(partition) < end) {
          consumer.poll(Duration.ofSeconds(1)).forEach(records::add);
        }
      }
    }
    return records;
  }
}

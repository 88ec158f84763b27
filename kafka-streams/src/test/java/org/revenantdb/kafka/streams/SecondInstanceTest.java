package org.revenantdb.kafka.streams;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Properties;
import org.apache.kafka.common.Metric;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.errors.ProcessorStateException;
import org.apache.kafka.streams.errors.StreamsException;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Materialized;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A second instance beside one that runs: in the same JVM, in another one; see README.md. */
@Tag("slow")
class SecondInstanceTest {
  private static final Bytes KEY = Bytes.wrap(new byte[] {1});
  private static final TopicPartition CHANGELOG = new TopicPartition("changelog", 0);

  @TempDir Path home;

  /** An application without a broker; its one task was here before, so its stores are opened. */
  private static KafkaStreams instance(Path stateDirectory) {
    try {
      Files.createDirectories(stateDirectory.resolve("app").resolve("0_0").resolve("counts"));
    } catch (IOException failure) {
      throw new AssertionError(failure);
    }
    Properties properties = new Properties();
    properties.put(StreamsConfig.APPLICATION_ID_CONFIG, "app");
    properties.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, "localhost:1");
    properties.put(StreamsConfig.STATE_DIR_CONFIG, stateDirectory.toString());
    properties.put(RevenantConfig.POOL_BYTES, 4L << 20);
    StreamsBuilder builder = new StreamsBuilder();
    builder.stream("words", Consumed.with(Serdes.String(), Serdes.String()))
        .groupByKey()
        .count(Materialized.as(RevenantStores.timestampedKeyValueStore("counts")));
    return new KafkaStreams(builder.build(), properties);
  }

  /** The other process. It tells what happens to it, a line each, and ends with its input. */
  static final class Other {
    private Other() {}

    public static void main(String[] arguments) throws IOException {
      Path directory = Path.of(arguments[0]);
      switch (arguments[1]) {
        case "instance" -> {
          try (KafkaStreams second = instance(directory)) {
            System.out.println("made");
          } catch (StreamsException refused) {
            System.out.println(refused.getMessage());
          }
        }
        case "store" -> {
          RevenantStore store = new RevenantStore("counts");
          try {
            store.open(context(directory), directory.resolve("app").resolve("0_0"));
            System.out.println("open");
            System.in.read();
            store.close();
          } catch (RuntimeException refused) {
            System.out.println(refused.getMessage());
          }
        }
        default -> throw new IllegalArgumentException(arguments[1]);
      }
    }
  }

  private static TaskContext context(Path stateDirectory) {
    return new TaskContext(stateDirectory.resolve("app"), StreamsConfig.AT_LEAST_ONCE);
  }

  private static Process other(String what, Path directory) throws IOException {
    return new ProcessBuilder(
            ProcessHandle.current().info().command().orElseThrow(),
            "-cp",
            System.getProperty("java.class.path"),
            Other.class.getName(),
            directory.toString(),
            what)
        .redirectError(ProcessBuilder.Redirect.INHERIT)
        .start();
  }

  /** What the other process tells first. Then its input ends, and so does the process. */
  private static String told(String what, Path directory) throws Exception {
    Process other = other(what, directory);
    try (BufferedReader lines = other.inputReader(UTF_8)) {
      String line = lines.readLine();
      other.getOutputStream().close();
      assertEquals(0, other.waitFor());
      return line;
    } finally {
      other.destroyForcibly();
    }
  }

  private static SharedDatabase database(Path stateDirectory) {
    return SharedDatabase.ifOpen(stateDirectory.resolve("app"));
  }

  private void assertRefusedByKafka(String message) {
    assertTrue(message.contains("multiple instances"), message);
    assertTrue(message.contains(home.resolve("app").toString()), message);
  }

  /** Kafka has the directory locked from the constructor to the end of the close. */
  @Test
  void a_second_instance_on_the_same_directory_is_refused_and_the_first_goes_on() throws Exception {
    try (KafkaStreams first = instance(home)) {
      first.start();
      SharedDatabase shared = database(home);
      assertRefusedByKafka(told("instance", home));
      assertRefusedByKafka(
          assertThrows(StreamsException.class, () -> instance(home).close()).getMessage());
      // Kafka's refused attempt leaves a channel to the file of its lock. When that is collected,
      // POSIX gives back the lock of the first instance. The database has a lock of its own.
      assertRefused(told("store", home), ProcessHandle.current().pid());
      assertSame(shared, database(home));
      assertFalse(shared.database().isClosed());
    }
    assertEquals("made", told("instance", home));
    try (KafkaStreams second = instance(home)) {
      second.start();
      assertFalse(database(home).database().isClosed());
    }
    assertNull(database(home));
  }

  /** As when a person has it open with the command line, which does not ask for Kafka's lock. */
  @Test
  void a_store_whose_database_another_process_has_open_tells_where_who_and_the_cure()
      throws Exception {
    instance(home).close();
    RevenantStore ours = new RevenantStore("counts");
    ours.open(context(home), home.resolve("app").resolve("0_0"));
    assertRefused(told("store", home), ProcessHandle.current().pid());
    commit(ours);
    ours.close();

    Process other = other("store", home);
    try (BufferedReader lines = other.inputReader(UTF_8)) {
      assertEquals("open", lines.readLine());
      RevenantStore refused = new RevenantStore("counts");
      assertRefused(
          assertThrows(
                  ProcessorStateException.class,
                  () -> refused.open(context(home), home.resolve("app").resolve("0_0")))
              .getMessage(),
          other.pid());
      assertNull(database(home), "nothing of it is left");
    } finally {
      other.destroyForcibly().waitFor();
    }
    ours = new RevenantStore("counts"); // the lock has died with its process
    ours.open(context(home), home.resolve("app").resolve("0_0"));
    assertEquals(1, ours.get(KEY)[0]);
    assertEquals(7, ours.committedOffset(CHANGELOG));
    ours.close();
  }

  private static void commit(RevenantStore store) {
    store.put(KEY, new byte[] {1});
    store.commit(Map.of(CHANGELOG, 7L));
  }

  private void assertRefused(String message, long process) {
    Path database = home.resolve("app").resolve(SharedDatabase.DIRECTORY);
    assertTrue(message.startsWith("store counts: it cannot be opened: " + database), message);
    assertTrue(message.contains("process " + process), message);
    assertTrue(message.contains("close it there first"), message);
  }

  @Test
  void two_instances_on_different_directories_have_databases_of_their_own() throws Exception {
    Path one = home.resolve("one");
    Path two = home.resolve("two");
    try (KafkaStreams second = instance(two)) {
      SharedDatabase ofSecond;
      try (KafkaStreams first = instance(one)) {
        first.start();
        second.start();
        ofSecond = database(two);
        assertNotSame(database(one), ofSecond);
        assertEquals(
            one.resolve("app").resolve(SharedDatabase.DIRECTORY),
            database(one).database().directory());
        ofSecond.doubt();
        assertEquals(0.0, errors(first));
        assertEquals(1.0, errors(second));
      }
      assertNull(database(one));
      assertFalse(ofSecond.database().isClosed());
      assertEquals("open", told("store", one));
    }
    assertNull(database(two));
  }

  private static Object errors(KafkaStreams instance) {
    return instance.metrics().values().stream()
        .filter(metric -> metric.metricName().name().equals("revenant-background-errors"))
        .map(Metric::metricValue)
        .toList()
        .getFirst();
  }
}

package org.revenantdb.kafka.streams;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.Cursor;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.Transaction;
import org.revenantdb.kafka.trials.Broker;

/**
 * A real broker, and an application that is killed while it counts exactly once. After each kill
 * the rows of each store are what its changelog holds up to the store's own offset, and that offset
 * is at most one transaction of the producer behind. At the end output, stores and changelogs are
 * what a model computes.
 */
@Tag("slow")
class KilledApplicationTest {
  private static final boolean LONG = Boolean.getBoolean("revenant.long");
  private static final int KILLS = Integer.getInteger("revenant.kafka.kills", LONG ? 200 : 2);
  private static final int KILLS_BESIDE_THREE = Integer.getInteger("revenant.kafka.kills", 40);
  private static final int RECORDS = 400;

  /** Sent after each commit that the application tells of, so that another one comes. */
  private static final int MORE = 100;

  private static final int KEYS = 500;
  private static final int PARTITIONS = 2;

  @TempDir Path home;

  private final Map<String, Long> counts = new TreeMap<>();
  private final Map<String, Long> sums = new TreeMap<>();

  private long sent;

  @Test
  void an_application_that_is_killed_counts_exactly_once_and_restores_what_is_missing()
      throws Exception {
    kill(/* brokers= */ 1, KILLS);
  }

  /** Every other life is beside two of three brokers. */
  @Test
  @EnabledIfSystemProperty(named = "revenant.long", matches = "true")
  void beside_three_brokers_of_which_one_is_killed_it_counts_exactly_once() throws Exception {
    kill(/* brokers= */ 3, KILLS_BESIDE_THREE);
  }

  private void kill(int brokers, int kills) throws Exception {
    long seed = Long.getLong("revenant.kafka.seed", new Random().nextLong());
    System.out.println("KilledApplicationTest: repeat with -Drevenant.kafka.seed=" + seed);
    Random random = new Random(seed);
    try (Broker broker = Brokers.start(home, brokers)) {
      broker.createTopics(PARTITIONS, "in", "out");
      KilledLives lives =
          new KilledLives(CountingApplication.class, broker, home, /* isOurs= */ _ -> true);
      for (int kill = 0; kill < kills; kill++) {
        send(broker, random, RECORDS);
        int number = kill;
        Broker.Meanwhile life = () -> live(lives, broker, number, random);
        if (brokers > 1 && kill % 2 == 1) {
          broker.withoutOne(random.nextInt(brokers), life);
        } else {
          life.run();
        }
        compareStoresWithChangelogs(lives);
        if (LONG && (kill + 1) % 20 == 0) {
          System.out.println(
              "KilledApplicationTest: %d kills, %d restored".formatted(kill + 1, lives.restored()));
        }
      }
      send(broker, random, RECORDS);
      finish(lives);
      System.out.println(
          "KilledApplicationTest: %d brokers, %d kills, %d records, %d restored"
              .formatted(brokers, kills, sent, lives.restored()));
    }
  }

  private void live(KilledLives lives, Broker broker, int kill, Random random) throws Exception {
    Runnable more = () -> send(broker, random, MORE);
    if (kill % 4 < 2) {
      lives.liveUntilCommit(1 + random.nextInt(8), more);
    } else {
      lives.live(1 + random.nextInt(14), random, more);
    }
  }

  private void send(Broker broker, Random random, int records) {
    try (Sending sending = new Sending(broker)) {
      for (int i = 0; i < records; i++) {
        String key = "key " + random.nextInt(KEYS);
        long value = random.nextInt(1_000);
        sending.send(new ProducerRecord<>("in", key, value));
        counts.merge(key, 1L, Long::sum);
        sums.merge(key, value, Long::sum);
        sent++;
      }
    }
  }

  /** The last life, which ends in order when the output is complete. */
  private void finish(KilledLives lives) throws Exception {
    lives.last(life -> {
      Map<String, Long> last = new HashMap<>();
      long output = 0;
      try (KafkaConsumer<byte[], byte[]> consumer = lives.consumer()) {
        consumer.assign(
            IntStream.range(0, PARTITIONS).mapToObj(i -> new TopicPartition("out", i)).toList());
        consumer.seekToBeginning(consumer.assignment());
        while (output < sent) {
          life.demandAlive();
          for (ConsumerRecord<byte[], byte[]> result : consumer.poll(Duration.ofSeconds(1))) {
            String key = new String(result.key(), StandardCharsets.UTF_8);
            long count = ByteBuffer.wrap(result.value()).getLong();
            assertEquals(last.getOrDefault(key, 0L) + 1, count, "twice, or lost: " + key);
            last.put(key, count);
            output++;
          }
        }
      }
      assertEquals(counts, new TreeMap<>(last));
    });
    Map<TopicPartition, Long> stored = compareStoresWithChangelogs(lives);
    assertEquals(2 * PARTITIONS, stored.size());
    assertEquals(counts, rows(lives, CountingApplication.COUNTS));
    assertEquals(sums, rows(lives, CountingApplication.SUMS));
    for (Map.Entry<TopicPartition, Long> offset : stored.entrySet()) {
      assertEquals(
          changelog(lives, offset.getKey(), offset.getValue(), /* toTheEnd= */ true).lastKey(),
          offset.getValue());
    }
  }

  /** All stores that there are, in a copy, so that the application makes its own recovery. */
  private Map<TopicPartition, Long> compareStoresWithChangelogs(KilledLives lives)
      throws Exception {
    Map<TopicPartition, Long> stored = new HashMap<>();
    Path original = lives.state().resolve(CountingApplication.ID);
    if (!Files.exists(original.resolve(SharedDatabase.DIRECTORY))) {
      return stored;
    }
    Path copy = Files.createTempDirectory(home, "copy");
    copy(original.resolve(SharedDatabase.DIRECTORY), copy);
    try (Database database = Database.open(copy)) {
      for (String name : database.tableNames()) {
        Table table = database.table(name);
        try (Transaction tx = database.begin()) {
          for (Map.Entry<TopicPartition, Long> at : offsets(tx, table).entrySet()) {
            compare(
                tx,
                table,
                changelog(lives, at.getKey(), at.getValue(), /* toTheEnd= */ false).values(),
                at);
            Long least = lives.floor(at.getKey());
            assertTrue(
                least == null || least <= at.getValue(),
                () -> name + " is at " + at + ", and " + least + " was committed before");
            lives.raise(at.getKey(), at.getValue());
            if (at.getValue() >= 0) {
              stored.put(at.getKey(), at.getValue());
            }
          }
        }
      }
    }
    delete(copy);
    return stored;
  }

  private static Map<TopicPartition, Long> offsets(Transaction tx, Table table) {
    Map<TopicPartition, Long> offsets = new HashMap<>();
    try (Cursor rows = tx.scan(table, StoreKeys.OFFSETS_FROM, StoreKeys.OFFSETS_TO)) {
      while (rows.next()) {
        offsets.put(StoreKeys.partition(rows.key()), ByteBuffer.wrap(rows.value()).getLong());
      }
    }
    return offsets;
  }

  private static void compare(
      Transaction tx,
      Table table,
      Collection<ConsumerRecord<byte[], byte[]>> changes,
      Map.Entry<TopicPartition, Long> at) {
    Map<String, Long> expected = new TreeMap<>();
    for (ConsumerRecord<byte[], byte[]> change : changes) {
      expected.put(
          new String(change.key(), StandardCharsets.UTF_8),
          ByteBuffer.wrap(change.value()).getLong());
    }
    assertEquals(expected, rows(tx, table), () -> table + " at " + at);
  }

  private static Map<String, Long> rows(Transaction tx, Table table) {
    Map<String, Long> found = new TreeMap<>();
    try (Cursor rows = tx.scan(table, null, null)) {
      while (rows.next()) {
        byte[] key = StoreKeys.key(rows.key());
        if (key != null) { // a timestamp is in front of the value
          found.put(
              new String(key, StandardCharsets.UTF_8),
              ByteBuffer.wrap(rows.value()).getLong(Long.BYTES));
        }
      }
    }
    return found;
  }

  /** A store of all partitions; the application has closed it. */
  private static Map<String, Long> rows(KilledLives lives, String store) {
    Map<String, Long> found = new TreeMap<>();
    try (Database database =
            Database.open(
                lives.state().resolve(CountingApplication.ID).resolve(SharedDatabase.DIRECTORY));
        Transaction tx = database.begin()) {
      for (int i = 0; i < PARTITIONS; i++) {
        found.putAll(rows(tx, database.table("0_" + i + "/" + store)));
      }
    }
    return found;
  }

  /**
   * What is committed of a changelog, by offset.
   *
   * @param stored an offset that is committed; it may be seen a moment later
   * @param toTheEnd whether what follows it is read, too
   */
  private static TreeMap<Long, ConsumerRecord<byte[], byte[]>> changelog(
      KilledLives lives, TopicPartition changelog, long stored, boolean toTheEnd) {
    TreeMap<Long, ConsumerRecord<byte[], byte[]>> changes = new TreeMap<>();
    try (KafkaConsumer<byte[], byte[]> consumer = lives.consumer()) {
      consumer.assign(List.of(changelog));
      consumer.seekToBeginning(consumer.assignment());
      Long end = consumer.endOffsets(consumer.assignment()).get(changelog);
      assertNotNull(end);
      while (consumer.position(changelog) < Math.max(stored + 1, toTheEnd ? end : 0)) {
        for (ConsumerRecord<byte[], byte[]> change : consumer.poll(Duration.ofSeconds(1))) {
          if (toTheEnd || change.offset() <= stored) {
            changes.put(change.offset(), change);
          }
        }
      }
    }
    return changes;
  }

  private static void copy(Path from, Path to) throws IOException {
    try (Stream<Path> files = Files.walk(from)) {
      for (Path file : (Iterable<Path>) files::iterator) {
        Path target = to.resolve(from.relativize(file));
        if (Files.isDirectory(file)) {
          Files.createDirectories(target);
        } else {
          Files.copy(file, target);
        }
      }
    }
  }

  private static void delete(Path directory) throws IOException {
    try (Stream<Path> files = Files.walk(directory)) {
      for (Path file :
          (Iterable<Path>) files.sorted(java.util.Comparator.reverseOrder())::iterator) {
        Files.delete(file);
      }
    }
  }
}

package org.revenantdb.kafka.streams;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.kafka.trials.Broker;
import org.revenantdb.testing.Drawn;

/**
 * An application is killed while it counts in windows and sessions, tells closed windows and joins
 * two tables. After each kill the rows of its stores are what their changelogs hold, and its
 * outputs are what a model computes for the input that is processed. No store restores what it had.
 */
@Tag("slow")
class KilledWindowsTest {
  private static final boolean LONG = Boolean.getBoolean("revenant.long");
  private static final int KILLS = Integer.getInteger("revenant.kafka.kills", LONG ? 100 : 1);
  private static final int KILLS_BESIDE_THREE = Integer.getInteger("revenant.kafka.kills", 20);
  private static final int RECORDS = 200;
  private static final int MORE = 40;

  /** Twice as many lines as an application writes until it is running. */
  private static final int LINES_OF_A_START = 60;

  private static final int KEYS = 40;
  private static final int PARTITIONS = 2;

  /** Windows, sessions, windows that expire, and three of the join; the buffer has none. */
  private static final int STORES = 6;

  private static final long SIZE = WindowsApplication.SIZE.toMillis();
  private static final long GAP = WindowsApplication.GAP.toMillis();

  /** A broker deletes changelogs with records of old windows, and refuses what is ahead. */
  private static final long HALF_A_DAY = 43_200_000;

  private static final long LONGEST_STEP = 100;

  @TempDir Path home;

  /** What was sent, in order. */
  private final List<ProducerRecord<String, Long>> sent = new ArrayList<>();

  private long now = System.currentTimeMillis() - HALF_A_DAY;

  private record Session(long start, long end, long count) {
    String name(String key) {
      return key + "@" + start + "-" + end;
    }
  }

  /** What the outputs and stores are when some of the input is processed. */
  private static final class Model {
    private final Map<String, Long> windows = new TreeMap<>();
    private final Map<String, Long> sessions = new TreeMap<>();
    private final Map<String, Session> open = new HashMap<>();
    private final Map<String, Long> left = new TreeMap<>();
    private final Map<String, Long> right = new TreeMap<>();

    /** The latest time of each partition of the counted input. */
    private final long[] times = new long[PARTITIONS];

    /** Takes a record in. */
    void process(ProducerRecord<String, Long> record) {
      switch (record.topic()) {
        case "left" -> left.put(record.key(), record.value());
        case "right" -> right.put(record.key(), record.value());
        default -> count(record.key(), record.partition(), record.timestamp());
      }
    }

    private void count(String key, int partition, long time) {
      times[partition] = time;
      long start = time / SIZE * SIZE;
      windows.merge(key + "@" + start + "-" + (start + SIZE), 1L, Long::sum);
      Session last = open.get(key);
      Session session = new Session(time, time, 1);
      if (last != null && time - last.end <= GAP) {
        session = new Session(last.start, time, last.count + 1);
        sessions.remove(last.name(key));
      }
      open.put(key, session);
      sessions.put(session.name(key), session.count);
    }

    /** The windows that are told once, when they are closed. */
    Map<String, Long> closed() {
      Map<String, Long> closed = new TreeMap<>();
      windows.forEach((window, count) -> {
        int number = Integer.parseInt(window.substring("key".length(), window.indexOf('@')));
        long end = Long.parseLong(window.substring(window.indexOf('-') + 1));
        if (end <= times[number % PARTITIONS]) {
          closed.put(window, count);
        }
      });
      return closed;
    }

    Map<String, Long> joined() {
      Map<String, Long> joined = new TreeMap<>();
      left.forEach((key, value) -> {
        if (right.containsKey(key)) {
          joined.put(key, value + right.get(key));
        }
      });
      return joined;
    }
  }

  @Test
  @Drawn(oneIn = 2)
  void windows_sessions_joins_and_results_told_once_survive_kills() throws Exception {
    kill(/* brokers= */ 1, KILLS);
  }

  /** Every other life is beside two of three brokers. */
  @Test
  @EnabledIfSystemProperty(named = "revenant.long", matches = "true")
  void beside_three_brokers_of_which_one_is_killed_they_survive_kills() throws Exception {
    kill(/* brokers= */ 3, KILLS_BESIDE_THREE);
  }

  private void kill(int brokers, int kills) throws Exception {
    Random random = KilledLives.random(KilledWindowsTest.class);
    try (Broker broker = Brokers.start(home, brokers);
        Admin admin = broker.admin()) {
      broker.createTopics(
          PARTITIONS, "in", "left", "right", "windowed", "sessions-out", "final", "joined");
      // The buffer of a suppression is in memory, and restored from its beginning.
      KilledLives lives =
          new KilledLives(
              WindowsApplication.class, broker, home, topic -> !topic.contains("SUPPRESS"));
      int first = random.nextInt(4);
      for (int kill = 0; kill < kills; kill++) {
        send(broker, random, RECORDS);
        lives.live(first + kill, LINES_OF_A_START, random, () -> send(broker, random, MORE));
        stored(lives).compareWithChangelogs(home);
        if (!LONG || random.nextInt(10) == 0) {
          lives.fence(admin);
          compareOutputs(lives, model(lives.processed(admin, WindowsApplication.ID)));
        }
        if ((kill + 1) % 20 == 0) {
          System.out.println(
              "KilledWindowsTest: %d kills, %d restored".formatted(kill + 1, lives.restored()));
        }
      }
      send(broker, random, RECORDS);
      finish(lives, admin);
      System.out.println(
          "KilledWindowsTest: %d brokers, %d kills, %d records, %d restored"
              .formatted(brokers, kills, sent.size(), lives.restored()));
    }
  }

  private void finish(KilledLives lives, Admin admin) throws Exception {
    lives.last(life -> lives.awaitProcessed(admin, WindowsApplication.ID, life, ends()));
    Model model = new Model();
    sent.forEach(model::process);
    // Its stores have committed what the broker has, and nothing is left to do for the next life.
    lives.last(life -> {
      life.awaitRunning();
      compareAnswers(life, model);
    });
    Map<TopicPartition, Long> stored = stored(lives).compareWithChangelogs(home);
    assertEquals(STORES * PARTITIONS, stored.size());
    stored(lives).demandNothingBehind(stored);
    assertFalse(model.closed().isEmpty(), "no window was closed");
    compareOutputs(lives, model);
  }

  private static StoredRows stored(KilledLives lives) {
    return new StoredRows(
        lives, lives.state().resolve(WindowsApplication.ID), WindowsApplication::rows);
  }

  private void send(Broker broker, Random random, int records) {
    try (Sending sending = new Sending(broker)) {
      for (int i = 0; i < records; i++) {
        int number = random.nextInt(KEYS);
        now += random.nextLong(LONGEST_STEP);
        long value = random.nextInt(1_000);
        int which = random.nextInt(10);
        String topic = which == 0 ? "left" : which == 1 ? "right" : "in";
        ProducerRecord<String, Long> record =
            new ProducerRecord<>(topic, number % PARTITIONS, now, "key" + number, value);
        sending.send(record);
        sent.add(record);
      }
    }
  }

  /** The model of what is processed. An offset is the number of a record in its partition. */
  private Model model(Map<TopicPartition, Long> processed) {
    Model model = new Model();
    Map<TopicPartition, Long> next = new HashMap<>();
    for (ProducerRecord<String, Long> record : sent) {
      TopicPartition partition = new TopicPartition(record.topic(), record.partition());
      if (next.merge(partition, 1L, Long::sum) <= processed.getOrDefault(partition, 0L)) {
        model.process(record);
      }
    }
    return model;
  }

  private Map<TopicPartition, Long> ends() {
    Map<TopicPartition, Long> ends = new HashMap<>();
    sent.forEach(record ->
        ends.merge(new TopicPartition(record.topic(), record.partition()), 1L, Long::sum));
    return ends;
  }

  /** What queries answer. */
  private static void compareAnswers(KilledLives.Life life, Model model)
      throws InterruptedException {
    Map<String, Long> inWindows = new TreeMap<>();
    Map<String, Long> inSessions = new TreeMap<>();
    for (String row : life.rows()) {
      String[] words = row.split(" ");
      (words[0].equals(WindowsApplication.WINDOWS) ? inWindows : inSessions)
          .put(words[1], Long.valueOf(words[2]));
    }
    assertEquals(model.windows, inWindows);
    assertEquals(model.sessions, inSessions);
  }

  private static void compareOutputs(KilledLives lives, Model model) {
    Map<String, Long> windowed = new TreeMap<>();
    for (ConsumerRecord<byte[], byte[]> told : lives.committed("windowed", PARTITIONS)) {
      Long count = KilledLives.number(told);
      assertEquals(
          windowed.getOrDefault(KilledLives.text(told), 0L) + 1, count, "twice, or lost: " + told);
      windowed.put(KilledLives.text(told), count);
    }
    assertEquals(model.windows, windowed);
    assertEquals(model.sessions, last(lives, "sessions-out"));
    Map<String, Long> closed = new TreeMap<>();
    for (ConsumerRecord<byte[], byte[]> told : lives.committed("final", PARTITIONS)) {
      assertNull(
          closed.put(KilledLives.text(told), KilledLives.number(told)), "told twice: " + told);
    }
    assertEquals(model.closed(), closed);
    assertEquals(model.joined(), last(lives, "joined"));
  }

  private static Map<String, Long> last(KilledLives lives, String topic) {
    Map<String, Long> last = new TreeMap<>();
    for (ConsumerRecord<byte[], byte[]> told : lives.committed(topic, PARTITIONS)) {
      if (told.value() == null) {
        last.remove(KilledLives.text(told));
      } else {
        last.put(KilledLives.text(told), KilledLives.number(told));
      }
    }
    return last;
  }
}

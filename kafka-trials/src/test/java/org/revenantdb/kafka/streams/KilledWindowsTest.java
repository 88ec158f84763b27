package org.revenantdb.kafka.streams;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.kafka.trials.Broker;
import org.revenantdb.testing.Drawn;

/**
 * An application is killed while it counts in windows and sessions, tells closed windows and joins
 * two tables. After the kills its outputs and the rows of its stores are what a model computes, and
 * no store has restored what it had.
 */
@Tag("slow")
class KilledWindowsTest {
  private static final boolean LONG = Boolean.getBoolean("revenant.long");
  private static final int KILLS = Integer.getInteger("revenant.kafka.kills", LONG ? 100 : 1);
  private static final int RECORDS = 200;
  private static final int MORE = 40;

  /** Twice as many lines as an application writes until it is running. */
  private static final int LINES_OF_A_START = 60;

  private static final int KEYS = 40;
  private static final int PARTITIONS = 2;

  private static final long SIZE = WindowsApplication.SIZE.toMillis();
  private static final long GAP = WindowsApplication.GAP.toMillis();

  /** A broker deletes what is a week old, and refuses what is an hour ahead. */
  private static final long TWO_DAYS = 172_800_000;

  private static final long LONGEST_STEP = 100;

  @TempDir Path home;

  private final Map<String, Long> windows = new TreeMap<>();
  private final Map<String, Long> left = new TreeMap<>();
  private final Map<String, Long> right = new TreeMap<>();

  /** Ended sessions by name, and the last one of each key. */
  private final Map<String, Long> sessions = new TreeMap<>();

  private final Map<String, Session> open = new HashMap<>();

  /** The latest time of each partition. */
  private final long[] times = new long[PARTITIONS];

  private long now = System.currentTimeMillis() - TWO_DAYS;
  private long sent;

  private record Session(long start, long end, long count) {
    String name(String key) {
      return key + "@" + start + "-" + end;
    }
  }

  @Test
  @Drawn(oneIn = 2)
  void windows_sessions_joins_and_results_told_once_survive_kills() throws Exception {
    long seed = Long.getLong("revenant.kafka.seed", new Random().nextLong());
    System.out.println("KilledWindowsTest: repeat with -Drevenant.kafka.seed=" + seed);
    Random random = new Random(seed);
    try (Broker broker = Brokers.start(home)) {
      broker.createTopics(
          PARTITIONS, "in", "left", "right", "windowed", "sessions-out", "final", "joined");
      // The buffer of a suppression is in memory, and restored from its beginning.
      KilledLives lives =
          new KilledLives(
              WindowsApplication.class, broker, home, topic -> !topic.contains("SUPPRESS"));
      for (int kill = 0; kill < KILLS; kill++) {
        send(broker, random, RECORDS);
        Runnable more = () -> send(broker, random, MORE);
        if (kill % 2 == 0) {
          lives.liveUntilCommit(1 + random.nextInt(8), more);
        } else {
          lives.live(1 + random.nextInt(LINES_OF_A_START), random, more);
        }
        if ((kill + 1) % 20 == 0) {
          System.out.println(
              "KilledWindowsTest: %d kills, %d restored".formatted(kill + 1, lives.restored()));
        }
      }
      send(broker, random, RECORDS);
      lives.last(life -> awaitProcessed(broker, life));
      // Its stores have committed what the broker has, and nothing is left to do for the next life.
      lives.last(life -> {
        life.awaitRunning();
        assertRows(life);
      });
      assertOutputs(lives);
      System.out.println(
          "KilledWindowsTest: %d kills, %d records, %d restored"
              .formatted(KILLS, sent, lives.restored()));
    }
  }

  private void send(Broker broker, Random random, int records) {
    try (Sending sending = new Sending(broker)) {
      for (int i = 0; i < records; i++) {
        int number = random.nextInt(KEYS);
        String key = "key" + number;
        int partition = number % PARTITIONS;
        now += random.nextLong(LONGEST_STEP);
        long value = random.nextInt(1_000);
        int which = random.nextInt(10);
        String topic = which == 0 ? "left" : which == 1 ? "right" : "in";
        sending.send(new ProducerRecord<>(topic, partition, now, key, value));
        sent++;
        switch (topic) {
          case "left" -> left.put(key, value);
          case "right" -> right.put(key, value);
          default -> count(key, partition);
        }
      }
    }
  }

  private void count(String key, int partition) {
    times[partition] = now;
    windows.merge(window(key), 1L, Long::sum);
    Session last = open.get(key);
    if (last != null && now - last.end <= GAP) {
      open.put(key, new Session(last.start, now, last.count + 1));
    } else {
      if (last != null) {
        sessions.put(last.name(key), last.count);
      }
      open.put(key, new Session(now, now, 1));
    }
  }

  private String window(String key) {
    long start = now / SIZE * SIZE;
    return key + "@" + start + "-" + (start + SIZE);
  }

  private void awaitProcessed(Broker broker, KilledLives.Last life) throws Exception {
    try (Admin admin = broker.admin()) {
      long processed = 0;
      while (processed != sent) {
        life.demandAlive();
        TimeUnit.MILLISECONDS.sleep(20);
        processed = 0;
        for (OffsetAndMetadata offset :
            admin
                .listConsumerGroupOffsets(WindowsApplication.ID)
                .partitionsToOffsetAndMetadata()
                .get()
                .values()) {
          processed += offset == null ? 0 : offset.offset();
        }
      }
    }
  }

  private void assertRows(KilledLives.Last life) throws InterruptedException {
    Map<String, Long> inWindows = new TreeMap<>();
    Map<String, Long> inSessions = new TreeMap<>();
    for (String row : life.rows()) {
      String[] words = row.split(" ");
      (words[0].equals(WindowsApplication.WINDOWS) ? inWindows : inSessions)
          .put(words[1], Long.valueOf(words[2]));
    }
    open.forEach((key, session) -> sessions.put(session.name(key), session.count));
    assertEquals(windows, inWindows);
    assertEquals(sessions, inSessions);
  }

  private void assertOutputs(KilledLives lives) {
    Map<String, Long> windowed = new TreeMap<>();
    for (ConsumerRecord<byte[], byte[]> told : lives.committed("windowed", PARTITIONS)) {
      Long count = number(told);
      assertEquals(windowed.getOrDefault(text(told), 0L) + 1, count, "twice, or lost: " + told);
      windowed.put(text(told), count);
    }
    assertEquals(windows, windowed);
    assertEquals(sessions, last(lives, "sessions-out"));
    Map<String, Long> expected = new TreeMap<>();
    windows.forEach((window, count) -> {
      int number = Integer.parseInt(window.substring("key".length(), window.indexOf('@')));
      long end = Long.parseLong(window.substring(window.indexOf('-') + 1));
      if (end <= times[number % PARTITIONS]) {
        expected.put(window, count);
      }
    });
    assertFalse(expected.isEmpty(), "no window was closed");
    Map<String, Long> closed = new TreeMap<>();
    for (ConsumerRecord<byte[], byte[]> told : lives.committed("final", PARTITIONS)) {
      assertNull(closed.put(text(told), number(told)), "told twice: " + told);
    }
    assertEquals(expected, closed);
    Map<String, Long> joined = new TreeMap<>();
    left.forEach((key, value) -> {
      if (right.containsKey(key)) {
        joined.put(key, value + right.get(key));
      }
    });
    assertEquals(joined, last(lives, "joined"));
  }

  private static Map<String, Long> last(KilledLives lives, String topic) {
    Map<String, Long> last = new TreeMap<>();
    for (ConsumerRecord<byte[], byte[]> told : lives.committed(topic, PARTITIONS)) {
      if (told.value() == null) {
        last.remove(text(told));
      } else {
        last.put(text(told), number(told));
      }
    }
    return last;
  }

  private static String text(ConsumerRecord<byte[], byte[]> told) {
    return new String(told.key(), StandardCharsets.UTF_8);
  }

  private static Long number(ConsumerRecord<byte[], byte[]> told) {
    return ByteBuffer.wrap(told.value()).getLong();
  }
}

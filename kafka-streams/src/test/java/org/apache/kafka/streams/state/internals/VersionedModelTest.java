package org.apache.kafka.streams.state.internals;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.processor.StateStoreContext;
import org.apache.kafka.streams.query.ResultOrder;
import org.apache.kafka.streams.state.VersionedKeyValueStore;
import org.apache.kafka.streams.state.VersionedRecord;
import org.apache.kafka.test.InternalMockProcessorContext;
import org.apache.kafka.test.StreamsTestUtils;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.kafka.streams.VersionedStores;

/**
 * Our versioned store answers as Kafka's own one does, whatever is written, also when it is
 * committed, closed and opened again. Repeat a run with {@code -Drevenant.versioned.seed}.
 */
@Tag("slow")
class VersionedModelTest {
  private static final int STEPS = Boolean.getBoolean("revenant.long") ? 200_000 : 2_500;
  private static final long RETENTION = 300;
  private static final long INTERVAL = 100;
  private static final TopicPartition CHANGELOG = new TopicPartition("changelog", 0);

  /** Some are the beginning of others, and one is empty. */
  private static final List<String> KEYS = List.of("", "a", "aa", "a\0b", "b", "\0");

  @TempDir Path directory;

  @Test
  void ours_answers_as_theirs_does() {
    long seed = Long.getLong("revenant.versioned.seed", new Random().nextLong());
    System.out.println("VersionedModelTest: repeat with -Drevenant.versioned.seed=" + seed);
    Random random = new Random(seed);
    StateStoreContext context =
        new InternalMockProcessorContext<>(
            directory.toFile(),
            Serdes.String(),
            Serdes.String(),
            new StreamsConfig(StreamsTestUtils.getStreamsConfig()));
    RocksDBVersionedStore theirs =
        new RocksDBVersionedStore("theirs", "theirs", RETENTION, INTERVAL);
    theirs.init(context, theirs);
    VersionedKeyValueStore<Bytes, byte[]> ours = VersionedStores.store("ours", RETENTION, INTERVAL);
    ours.init(context, ours);
    Set<String> written = new HashSet<>();
    long time = 0;
    for (int step = 0; step < STEPS; step++) {
      String at = "step " + step + " of seed " + seed;
      time += random.nextInt(8);
      long when = Math.max(0, time - (random.nextBoolean() ? 0 : random.nextInt(400)));
      Bytes key =
          Bytes.wrap(KEYS.get(random.nextInt(KEYS.size())).getBytes(StandardCharsets.UTF_8));
      switch (random.nextInt(12)) {
        case 0, 1, 2, 3 -> {
          byte[] value = new byte[random.nextInt(4)];
          random.nextBytes(value);
          written.add(when + " " + key);
          assertEquals(theirs.put(key, value, when), ours.put(key, value, when), at);
        }
        case 4, 5 -> {
          // Theirs forgets a deletion at the very time of a value that it takes the place of.
          if (written.add(when + " " + key)) {
            assertEquals(told(theirs.delete(key, when)), told(ours.delete(key, when)), at);
          }
        }
        case 6 -> assertEquals(told(theirs.get(key)), told(ours.get(key)), at);
        case 7, 8, 9 -> assertEquals(told(theirs.get(key, when)), told(ours.get(key, when)), at);
        case 10 -> {
          // Theirs leaves out a version that ends in a later segment, so each time is asked for.
          long from = Math.max(when, Math.max(0, time - RETENTION));
          long to = from + random.nextInt(200);
          Set<String> expected = new LinkedHashSet<>();
          for (long t = from; t <= to; t++) {
            VersionedRecord<byte[]> valid = theirs.get(key, t);
            if (valid != null) {
              expected.add(told(valid));
            }
          }
          assertEquals(
              List.copyOf(expected),
              VersionedStores.versions(ours, key, from, to, ResultOrder.ASCENDING).stream()
                  .map(VersionedModelTest::told)
                  .toList(),
              at);
        }
        default -> {
          if (random.nextInt(10) == 0) {
            ours.commit(Map.of(CHANGELOG, (long) step));
            ours.close(); // theirs would not find its segments again at once
            ours = VersionedStores.store("ours", RETENTION, INTERVAL);
            ours.init(context, ours);
          }
        }
      }
    }
    ours.close();
    theirs.close();
  }

  private static String told(VersionedRecord<byte[]> version) {
    return version == null
        ? "none"
        : version.timestamp()
            + "-"
            + version.validTo()
            + " "
            + HexFormat.of().formatHex(version.value());
  }
}

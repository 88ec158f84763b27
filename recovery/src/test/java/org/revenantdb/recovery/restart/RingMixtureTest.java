package org.revenantdb.recovery.restart;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.recovery.file.IoStatistics;
import org.revenantdb.recovery.format.RingLayout;
import org.revenantdb.recovery.log.Log;
import org.revenantdb.recovery.log.LogOptions;
import org.revenantdb.recovery.log.RingFile;
import org.revenantdb.recovery.segment.LogReader;
import org.revenantdb.recovery.segment.SegmentDirectory;
import org.revenantdb.recovery.segment.SegmentMap;
import org.revenantdb.recovery.segment.UnwrittenLog;

/**
 * Power cuts: each part of the ring is as it was at some moment, independently of the others. What
 * is taken is compared with an oracle that knows the bytes of every record, and no checksum.
 */
class RingMixtureTest {
  private static final int CAPACITY = 1 << 13;
  private static final int RECORDS = 120;
  private static final int STATES = Boolean.getBoolean("revenant.long") ? 6_000 : 2_000;

  /** A record as it was published. */
  private record Published(long start, byte[] bytes) {
    long end() {
      return start + bytes.length;
    }
  }

  @TempDir Path directory;

  private final List<Published> records = new ArrayList<>();

  /** The file of the ring after each publication. */
  private final List<byte[]> moments = new ArrayList<>();

  private static LogOptions options() {
    return new LogOptions(RingFixture.SEGMENT, CAPACITY, 1 << 20, "ring", new IoStatistics());
  }

  @Test
  void what_is_taken_is_what_is_whole_from_the_end_of_the_segments_on() throws IOException {
    long seed = Long.getLong("revenant.seed", System.nanoTime());
    System.out.println("mixtures of the ring: seed " + seed);
    Random random = new Random(seed);
    Path database = directory.resolve("db");
    Files.createDirectories(database);
    record(database, random);
    Path copy = RingFixture.killed(database, directory.resolve("copy"));

    int taken = 0;
    // Until one of twenty has something.
    for (int i = 0; i < STATES || taken <= STATES / 20; i++) {
      int last = random.nextInt(1, moments.size());
      byte[] ring = mixture(random, last);
      Files.write(copy.resolve(RingFile.NAME), ring);
      int from = random.nextInt(Math.max(0, last - 20), Math.min(last + 1, RECORDS));
      long start = records.get(from).start();
      long expected = expected(ring, from);
      SegmentCatalog catalog =
          new SegmentCatalog(
              new SegmentDirectory(
                  copy.resolve("log"), LogFixture.ID, RingFixture.SEGMENT, new IoStatistics()));
      RingTail tail = RingTail.open(catalog);
      assertTrue(tail != null, "the file is there");
      UnwrittenLog found = tail.behind(start, 1);
      assertEquals(expected, found == null ? start : found.end(), "state " + i + ", seed " + seed);
      taken += found == null ? 0 : 1;
    }
  }

  private void record(Path database, Random random) throws IOException {
    Path file = database.resolve(RingFile.NAME);
    try (Log log = Restart.createFirst(database.resolve("log"), LogFixture.ID, options())) {
      RingFixture.inFile(log);
      moments.add(Files.readAllBytes(file));
      for (int i = 1; i <= RECORDS; i++) {
        long start = log.tail();
        long end = LogFixture.change(log, 0, i, LogFixture.bytes(random.nextInt(900)));
        byte[] now = Files.readAllBytes(file);
        moments.add(now);
        records.add(new Published(start, range(now, start, end)));
        if (random.nextInt(4) == 0) {
          log.awaitDurable(end);
        }
      }
    }
    // What the writer wrote is what was published: so the oracle has the right bytes.
    SegmentDirectory segments =
        new SegmentDirectory(
            database.resolve("log"), LogFixture.ID, RingFixture.SEGMENT, new IoStatistics());
    SegmentMap present = segments.list();
    try (LogReader reader = new LogReader(segments, present::at)) {
      reader.seek(records.getFirst().start());
      for (Published record : records) {
        assertTrue(reader.next());
        assertEquals(record.end(), reader.lsn());
      }
    }
  }

  private static byte[] range(byte[] ring, long start, long end) {
    byte[] bytes = new byte[(int) (end - start)];
    for (int i = 0; i < bytes.length; i++) {
      bytes[i] = ring[(int) RingLayout.offset(start + i, CAPACITY)];
    }
    return bytes;
  }

  /** Parts of 512 or 4,096 bytes; mostly of late moments, so that much of it fits together. */
  private byte[] mixture(Random random, int last) {
    byte[] ring = moments.get(last).clone();
    int part = random.nextBoolean() ? 512 : 4096;
    int odds = random.nextInt(1, 12);
    for (int at = RingLayout.HEADER; at < ring.length; at += part) {
      if (random.nextInt(odds) == 0) {
        int age = random.nextInt(4) == 0 ? random.nextInt(last + 1) : random.nextInt(4);
        System.arraycopy(moments.get(Math.max(0, last - age)), at, ring, at, part);
      }
    }
    return ring;
  }

  private long expected(byte[] ring, int from) {
    long end = records.get(from).start();
    for (Published record : records.subList(from, records.size())) {
      if (!Arrays.equals(record.bytes(), range(ring, record.start(), record.end()))) {
        break;
      }
      end = record.end();
    }
    return end;
  }
}

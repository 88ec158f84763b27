package org.revenantdb.engine.backup;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.revenantdb.engine.backup.BackedUp.SMALL;
import static org.revenantdb.engine.backup.BackedUp.put;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ThreadLocalRandom;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.StorageException;
import org.revenantdb.engine.testing.Refusals;
import org.revenantdb.testing.Drawn;

/**
 * Streams that are no whole backup are refused, and leave nothing. {@code -Drevenant.seed=n}
 * repeats a run.
 */
@Tag("slow")
class DamagedStreamTest {
  private static final int CONTENT = StreamLayout.BLOCK;

  @TempDir Path temporary;
  private final long seed =
      Long.getLong("revenant.seed", ThreadLocalRandom.current().nextInt(1 << 30));
  private final Random random = new Random(seed);
  private Path target;
  private byte[] stream;
  private List<Streamed.Entry> entries;

  @BeforeEach
  void backUp() {
    target = temporary.resolve("copy");
    try (Database db = Database.open(temporary.resolve("db"), SMALL)) {
      put(db, "rows", 0, 500, 1, 200);
      db.checkpoint();
      put(db, "rows", 0, 100, 2, 200);
      stream = Streamed.of(db);
    }
    entries = Streamed.entries(stream);
    assertTrue(entries.size() >= 4, "manifest, pages, log and end");
  }

  private void assertRefused(String what, byte[] bytes) {
    assertRefused(what, new ByteArrayInputStream(bytes), StorageException.Reason.BACKUP_STREAM);
  }

  private void assertRefused(String what, InputStream bytes, StorageException.Reason reason) {
    String seen = "-Drevenant.seed=" + seed + ", " + what;
    try {
      StorageException told =
          Refusals.assertRefused(reason, () -> Database.unpackBackup(bytes, target));
      assertTrue(told.getMessage().contains("byte"), told::getMessage);
      assertFalse(Files.exists(target), "something is left");
      assertArrayEquals(new String[] {"db"}, temporary.toFile().list(), "beside it");
    } catch (AssertionError wrong) {
      throw new AssertionError(seen, wrong);
    }
  }

  @Test
  void a_stream_that_ends_early_is_refused() {
    int end = 0;
    for (Streamed.Entry entry : entries) {
      assertRefused("cut before " + entry.name(), Arrays.copyOf(stream, end));
      assertRefused("in the header of " + entry.name(), Arrays.copyOf(stream, end + 100));
      assertRefused("in " + entry.name(), Arrays.copyOf(stream, end + CONTENT + 20));
      end += entry.bytes().length;
    }
    assertRefused("without zeros", Arrays.copyOf(stream, end));
    assertRefused("with too few zeros", Arrays.copyOf(stream, stream.length - 1));
    for (int i = 0; i < 10; i++) {
      int at = random.nextInt(stream.length);
      assertRefused("cut at " + at, Arrays.copyOf(stream, at));
    }
    List<Streamed.Entry> fewer = new ArrayList<>(entries);
    fewer.removeLast();
    assertRefused("zeros in place of the end", Streamed.stream(fewer));
  }

  @Test
  void flipped_bits_are_refused() {
    for (int i = 0; i < 30; i++) {
      flip(random.nextInt(stream.length));
    }
    int begin = 0;
    for (Streamed.Entry entry : entries) { // also where each byte has a meaning
      for (int i = 0; i < 10; i++) {
        flip(begin + random.nextInt(StreamLayout.BLOCK + StreamLayout.BODY + 20));
      }
      begin += entry.bytes().length;
    }
  }

  private void flip(int at) {
    byte[] damaged = stream.clone();
    damaged[at] ^= (byte) (1 << random.nextInt(8));
    assertRefused("a bit of byte " + at, damaged);
  }

  @Test
  void entries_that_are_missing_or_twice_or_exchanged_are_refused() {
    for (int i = 0; i < entries.size(); i++) {
      List<Streamed.Entry> changed = new ArrayList<>(entries);
      changed.remove(i);
      assertRefused("without entry " + i, Streamed.stream(changed));
      changed.add(i, entries.get(i));
      changed.add(i, entries.get(i));
      assertRefused("entry " + i + " twice", Streamed.stream(changed));
    }
    for (int i = 1; i < entries.size(); i++) {
      List<Streamed.Entry> changed = new ArrayList<>(entries);
      Collections.swap(changed, i, i - 1);
      assertRefused("entry " + i + " before the one before", Streamed.stream(changed));
    }
  }

  /** All checksums are right: only what the numbers mean is wrong. */
  @Test
  @Drawn(oneIn = 2)
  void entries_with_hostile_numbers_are_refused() {
    for (int i = 0; i < entries.size(); i++) {
      ByteBuffer fields = StreamLayout.littleEndian(entries.get(i).bytes());
      int kind = fields.getInt(CONTENT + StreamLayout.KIND);
      int end =
          switch (kind) {
            case StreamLayout.MANIFEST -> StreamLayout.MANIFEST_SIZE;
            case StreamLayout.PAGES -> StreamLayout.PAGE_BYTES;
            case StreamLayout.LOG -> StreamLayout.SEGMENTS + 12;
            default -> StreamLayout.END_SIZE;
          };
      for (int at = StreamLayout.KIND; at < end; at += Integer.BYTES) {
        for (long number : new long[] {-1, 1L << 62, Integer.MAX_VALUE, Integer.MIN_VALUE}) {
          refuseNumber(i, at, number);
        }
      }
    }
  }

  /** Each would be a file of a full segment, for an entry of a few bytes. */
  @Test
  void log_in_a_segment_that_does_not_follow_the_one_before_is_refused() {
    List<Streamed.Entry> hostile = new ArrayList<>(entries.subList(0, 1)); // the manifest
    for (int i = 0; i < 2; i++) {
      hostile.add(logInItsOwnSegment(i));
    }
    StorageException told =
        Refusals.assertRefused(
            StorageException.Reason.BACKUP_STREAM,
            () ->
                Database.unpackBackup(new ByteArrayInputStream(Streamed.stream(hostile)), target));
    assertTrue(told.getMessage().contains("does not lie in the segments"), told::getMessage);
    assertFalse(Files.exists(target), "something is left");
  }

  /** Eight bytes of log, the last ones of a segment of the full size. */
  private Streamed.Entry logInItsOwnSegment(int number) {
    Streamed.Entry real =
        entries.stream().filter(e -> kind(e) == StreamLayout.LOG).findFirst().orElseThrow();
    ByteBuffer manifest = StreamLayout.littleEndian(entries.getFirst().bytes());
    int fullSize = manifest.getInt(CONTENT + StreamLayout.SEGMENT_SIZE);
    long from = manifest.getLong(CONTENT + StreamLayout.REDO_POINT) + 8L * number;
    int size = StreamLayout.SEGMENTS + StreamLayout.SEGMENT_BYTES + 8;
    byte[] bytes = Arrays.copyOf(real.bytes(), CONTENT + StreamLayout.padded(size));
    Arrays.fill(bytes, CONTENT + size, bytes.length, (byte) 0);
    ByteBuffer fields = StreamLayout.littleEndian(bytes);
    fields.putLong(CONTENT + StreamLayout.NUMBER, 1 + number);
    fields.putLong(CONTENT + StreamLayout.LOG_FROM, from);
    fields.putInt(CONTENT + StreamLayout.LOG_LENGTH, 8);
    fields.putInt(CONTENT + StreamLayout.SEGMENT_COUNT, 1);
    int segment = CONTENT + StreamLayout.SEGMENTS;
    fields.putLong(segment, from + 8 - (fullSize - 4096)); // begin
    fields.putInt(segment + 8, fullSize);
    fields.putLong(segment + 16, 0); // no first LSN of a life
    fields.putLong(segment + 24, 0);
    fields.putLong(segment + 32, from); // durable
    StreamLayout.putHeader(bytes, 0, StreamLayout.name(fields, CONTENT), size);
    Streamed.seal(bytes);
    return new Streamed.Entry(bytes);
  }

  private static int kind(Streamed.Entry entry) {
    return StreamLayout.littleEndian(entry.bytes()).getInt(CONTENT + StreamLayout.KIND);
  }

  private void refuseNumber(int entry, int at, long number) {
    List<Streamed.Entry> changed = new ArrayList<>(entries);
    byte[] bytes = entries.get(entry).bytes().clone();
    int size = StreamLayout.size(Arrays.copyOf(bytes, StreamLayout.BLOCK));
    if (at + Long.BYTES > size) {
      return;
    }
    StreamLayout.littleEndian(bytes).putLong(CONTENT + at, number);
    Streamed.seal(bytes);
    changed.set(entry, new Streamed.Entry(bytes));
    try {
      Database.unpackBackup(new ByteArrayInputStream(Streamed.stream(changed)), target);
      throw new AssertionError(number + " at " + at + " of entry " + entry + " was taken");
    } catch (StorageException refused) {
      assertTrue(
          refused.reason() == StorageException.Reason.BACKUP_STREAM
              || refused.reason() == StorageException.Reason.FORMAT_VERSION,
          refused::getMessage);
    }
    assertFalse(Files.exists(target), "something is left");
  }

  @Test
  void hostile_headers_are_refused() {
    for (int i = 0; i < entries.size(); i++) {
      for (String name : List.of("../x", "/tmp/x", "revenant-backup/../../x", "x".repeat(100))) {
        byte[] bytes = entries.get(i).bytes().clone();
        StreamLayout.putHeader(
            bytes, 0, name, StreamLayout.size(Arrays.copyOf(bytes, StreamLayout.BLOCK)));
        assertRefused(name, with(i, bytes));
      }
      for (String size :
          List.of("77777777777", "00000000000", "-0000000001", "\u0000\u0000\u0000\u0000abcdefg")) {
        byte[] bytes = entries.get(i).bytes().clone();
        System.arraycopy(size.getBytes(StandardCharsets.ISO_8859_1), 0, bytes, 124, 11);
        assertRefused("size " + size, with(i, bytes));
      }
      byte[] binary = entries.get(i).bytes().clone(); // as GNU tar writes large sizes
      Arrays.fill(binary, 124, 136, (byte) 0xff);
      assertRefused("binary size", with(i, binary));
      byte[] link = entries.get(i).bytes().clone();
      link[156] = '2';
      assertRefused("a link", with(i, link));
    }
  }

  private byte[] with(int entry, byte[] bytes) {
    List<Streamed.Entry> changed = new ArrayList<>(entries);
    changed.set(entry, new Streamed.Entry(bytes));
    return Streamed.stream(changed);
  }

  @Test
  void other_files_are_refused() throws IOException {
    assertRefused("text", "not a backup".repeat(1_000).getBytes(StandardCharsets.UTF_8));
    assertRefused("zeros", new byte[10_000]);
    assertRefused(
        "a data file", Files.readAllBytes(temporary.resolve("db").resolve("revenant.data")));
    byte[] compressed = {0x1f, (byte) 0x8b};
    StorageException told =
        Refusals.assertRefused(
            StorageException.Reason.BACKUP_STREAM,
            () ->
                Database.unpackBackup(
                    new ByteArrayInputStream(Arrays.copyOf(compressed, 1_000)), target));
    assertTrue(told.getMessage().contains("gunzip"), told::getMessage);
  }

  @Test
  void two_backups_are_not_mixed() {
    byte[] other;
    try (Database db = Database.open(temporary.resolve("db"), SMALL)) {
      other = Streamed.of(db);
    }
    List<Streamed.Entry> second = Streamed.entries(other);
    assertRefused("entry 1 of another backup", with(1, second.get(1).bytes()));
  }

  @Test
  void a_stream_that_throws_leaves_nothing() {
    for (int i = 0; i < 10; i++) {
      int until = random.nextInt(stream.length);
      InputStream failing =
          new InputStream() {
            private int at;

            @Override
            public int read() throws IOException {
              if (at == until) {
                throw new IOException("Connection reset");
              }
              return Byte.toUnsignedInt(stream[at++]);
            }
          };
      assertRefused("it throws at " + until, failing, StorageException.Reason.IO);
    }
  }
}

package org.revenantdb.engine.backup;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.revenantdb.engine.backup.BackedUp.SMALL;
import static org.revenantdb.engine.backup.BackedUp.contents;
import static org.revenantdb.engine.backup.BackedUp.opened;
import static org.revenantdb.engine.backup.BackedUp.put;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.BackupOptions;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.StorageException;
import org.revenantdb.engine.page.Page;
import org.revenantdb.testing.Drawn;

/**
 * Increments that are cut, changed or mixed are refused by {@code applyBackups} and by a check, and
 * leave nothing. {@code -Drevenant.seed=n} repeats a run.
 */
@Tag("slow")
class DamagedIncrementTest {
  private static final int CONTENT = StreamLayout.BLOCK;

  /** One in so many hostile numbers is tried. */
  private static final int EVERY = Boolean.getBoolean("revenant.long") ? 1 : 5;

  private static final Set<StorageException.Reason> REASONS =
      Set.of(
          StorageException.Reason.BACKUP_STREAM,
          StorageException.Reason.BACKUP_BASE,
          StorageException.Reason.FORMAT_VERSION);

  @TempDir Path temporary;
  private final long seed =
      Long.getLong("revenant.seed", ThreadLocalRandom.current().nextInt(1 << 30));
  private final Random random = new Random(seed);
  private Path base;
  private Path damaged;
  private Path target;
  private byte[] stream;
  private List<Streamed.Entry> entries;
  private Map<String, Map<String, String>> expected;

  @BeforeEach
  void backUp() throws IOException {
    base = temporary.resolve("base");
    target = temporary.resolve("target");
    damaged = temporary.resolve("damaged");
    Path increment = temporary.resolve("increment");
    try (Database db = Database.open(temporary.resolve("db"), SMALL)) {
      put(db, "rows", 0, 6_000, 1, 200);
      db.checkpoint();
      String since = db.backup(base).id();
      put(db, "rows", 0, 6_000, 2, 200); // more than one entry of pages
      db.checkpoint();
      put(db, "rows", 0, 100, 3, 200);
      db.backup(increment, BackupOptions.defaults().withSince(since));
      expected = contents(db);
    }
    stream = Files.readAllBytes(increment.resolve("revenant.increment"));
    entries = Streamed.entries(stream);
    assertTrue(
        entries.stream().filter(entry -> kind(entry) == StreamLayout.CHANGED).count() > 1,
        "pages in more than one entry");
  }

  private static int kind(Streamed.Entry entry) {
    return StreamLayout.littleEndian(entry.bytes()).getInt(CONTENT + StreamLayout.KIND);
  }

  private void assertRefused(String what, byte[] bytes) {
    try {
      Files.write(damaged, bytes);
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
    try {
      Database.applyBackups(List.of(base, damaged), target);
      throw new AssertionError("-Drevenant.seed=" + seed + ", it was applied: " + what);
    } catch (StorageException told) {
      assertTrue(REASONS.contains(told.reason()), told::getMessage);
      assertTrue(told.getMessage().contains(damaged.toString()), told::getMessage);
    }
    assertFalse(Files.exists(target), () -> "something is left: " + what);
  }

  @Test
  void an_increment_that_ends_early_is_refused() {
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
  }

  @Test
  @Drawn(oneIn = 2)
  void flipped_bits_are_refused() {
    for (int i = 0; i < 20; i++) {
      flip(random.nextInt(stream.length));
    }
    int begin = 0;
    for (Streamed.Entry entry : entries) { // also where each byte has a meaning
      for (int i = 0; i < 6; i++) {
        flip(begin + random.nextInt(StreamLayout.BLOCK + StreamLayout.BODY + 20));
      }
      begin += entry.bytes().length;
    }
  }

  private void flip(int at) {
    byte[] changed = stream.clone();
    changed[at] ^= (byte) (1 << random.nextInt(8));
    assertRefused("a bit of byte " + at, changed);
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
      if (i > 0) {
        changed = new ArrayList<>(entries);
        Collections.swap(changed, i, i - 1);
        assertRefused("entry " + i + " before the one before", Streamed.stream(changed));
      }
    }
  }

  /** All checksums of entries are right: only what the numbers mean is wrong. */
  @Test
  @Drawn(oneIn = 2)
  void entries_with_hostile_numbers_are_refused() {
    for (int i = 0; i < entries.size(); i++) {
      int end =
          switch (kind(entries.get(i))) {
            case StreamLayout.MANIFEST -> StreamLayout.MANIFEST_SIZE;
            case StreamLayout.CHANGED -> StreamLayout.CHANGED_IDS + 3 * Integer.BYTES;
            case StreamLayout.LOG -> StreamLayout.SEGMENTS + 12;
            default -> StreamLayout.END_SIZE;
          };
      for (int at = StreamLayout.KIND; at + Long.BYTES <= end; at += Integer.BYTES) {
        for (long number : new long[] {-1, 1L << 62, Integer.MAX_VALUE, Integer.MIN_VALUE}) {
          if (random.nextInt(EVERY) != 0) {
            continue;
          }
          byte[] bytes = entries.get(i).bytes().clone();
          StreamLayout.littleEndian(bytes).putLong(CONTENT + at, number);
          try {
            Streamed.seal(bytes);
          } catch (IndexOutOfBoundsException nameless) {
            continue; // a count that leads out of the entry: its header cannot be made
          }
          assertRefused(number + " at " + at + " of entry " + i, with(i, bytes));
        }
      }
    }
  }

  /** Only as many zeros as a file grows at once need not be in it. */
  @Test
  void a_small_increment_that_makes_a_large_file_is_refused() {
    int last = entries.size() - 1;
    byte[] end = entries.get(last).bytes();
    int at = CONTENT + StreamLayout.END_PAGES;
    long pages = StreamLayout.littleEndian(end).getLong(at);
    for (int more : new int[] {StreamLayout.MOST_ZEROS + 1, 5_000}) {
      byte[] larger = end.clone();
      StreamLayout.littleEndian(larger).putLong(at, pages + more);
      Streamed.seal(larger);
      assertRefused(more + " pages more", with(last, larger));
    }
  }

  private byte[] with(int entry, byte[] bytes) {
    List<Streamed.Entry> changed = new ArrayList<>(entries);
    changed.set(entry, new Streamed.Entry(bytes));
    return Streamed.stream(changed);
  }

  /** The checksum of the entry is right, but a page in it is not that page. */
  @Test
  void pages_that_are_not_those_of_their_numbers_are_refused() {
    for (int i = 0; i < entries.size(); i++) {
      if (kind(entries.get(i)) == StreamLayout.CHANGED) {
        byte[] bytes = entries.get(i).bytes().clone();
        ByteBuffer fields = StreamLayout.littleEndian(bytes);
        int count = fields.getInt(CONTENT + StreamLayout.CHANGED_COUNT);
        int pages = CONTENT + StreamLayout.CHANGED_IDS + count * Integer.BYTES;
        byte[] flipped = bytes.clone();
        flipped[pages + 5_000] ^= 1;
        Streamed.seal(flipped);
        assertRefused("a bit of a page", with(i, flipped));
        byte[] twice = bytes.clone();
        System.arraycopy(twice, pages, twice, pages + Page.SIZE, Page.SIZE);
        Streamed.seal(twice);
        assertRefused("a page twice", with(i, twice));
        byte[] descending = bytes.clone();
        StreamLayout.littleEndian(descending)
            .putInt(
                CONTENT + StreamLayout.CHANGED_IDS,
                fields.getInt(CONTENT + StreamLayout.CHANGED_IDS + Integer.BYTES));
        Streamed.seal(descending);
        assertRefused("a number twice", with(i, descending));
      }
    }
  }

  @Test
  @Drawn(oneIn = 2)
  void a_check_finds_what_is_wrong_and_changes_nothing() throws IOException {
    Files.write(damaged, stream);
    assertEquals(
        Streamed.entries(stream).stream()
            .filter(entry -> kind(entry) == StreamLayout.CHANGED)
            .mapToLong(entry ->
                StreamLayout.littleEndian(entry.bytes())
                    .getInt(CONTENT + StreamLayout.CHANGED_COUNT))
            .sum(),
        BackupApply.check(damaged).pagesCopied());
    for (int i = 0; i < 20; i++) {
      byte[] changed = stream.clone();
      changed[random.nextInt(stream.length)] ^= 1;
      Files.write(damaged, changed);
      try {
        BackupApply.check(damaged);
        throw new AssertionError("-Drevenant.seed=" + seed + ", nothing was found");
      } catch (StorageException told) {
        assertEquals(StorageException.Reason.BACKUP_STREAM, told.reason(), told::getMessage);
      }
    }
    Files.write(damaged, stream);
    Database.applyBackups(List.of(base, damaged), target);
    assertEquals(expected, opened(target));
  }
}

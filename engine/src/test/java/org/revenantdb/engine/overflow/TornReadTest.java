package org.revenantdb.engine.overflow;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.btree.DisturbedDescent;
import org.revenantdb.engine.btree.Tree;
import org.revenantdb.engine.buffer.Stay;
import org.revenantdb.engine.page.KeyBuffer;
import org.revenantdb.engine.page.Page;
import org.revenantdb.engine.page.Slotted;
import org.revenantdb.engine.page.SlottedSearch;
import org.revenantdb.engine.testing.TestEngine;
import org.revenantdb.engine.version.GroupRead;
import org.revenantdb.engine.version.Reading;
import org.revenantdb.engine.version.RowReader;
import org.revenantdb.engine.version.StoredValue;
import org.revenantdb.engine.version.ValueBuffer;
import org.revenantdb.recovery.file.DamagedFileException;

/**
 * Optimistic reads with changes between any two of their steps: what they answer is what their
 * snapshot sees. A read holds nothing between its steps, so the test's own thread makes the
 * changes.
 */
class TornReadTest {
  /** There are fewer steps in an attempt, and three attempts. */
  private static final int MOST_STEPS = 40;

  private static final int ROWS = 120;
  private static final int ROW = 17;
  private static final int ABSENT = ROWS + 5;

  /** From the beginning of a cell to its writer (docs/format.md). */
  private static final int WRITER = 8;

  private static final ValueLayout.OfLong LITTLE_ENDIAN_LONG =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  /** Offset of the child in the first slot of an inner page (docs/format.md). */
  private static final int FIRST_CHILD = 70;

  @TempDir Path directory;

  private final long seed =
      Long.getLong("revenant.seed", ThreadLocalRandom.current().nextInt(1 << 30));
  private TestEngine engine;
  private Tree tree;

  @BeforeEach
  void open() {
    engine = new TestEngine(directory, 512);
    tree = engine.table("t");
    TestEngine.Tx tx = engine.begin();
    for (int row = 0; row < ROWS; row++) {
      tx.put(tree, key(row), value(row));
    }
    tx.commitDurably();
    engine.clean();
  }

  @AfterEach
  void close() {
    engine.close();
  }

  private static byte[] key(int row) {
    return key(row, 0);
  }

  /** Behind so many bytes that are alike that they are not all in the header of a page. */
  private static byte[] key(int row, int then) {
    byte[] key = new byte[32];
    Arrays.fill(key, (byte) 'k');
    key[30] = (byte) row;
    key[31] = (byte) then;
    return key;
  }

  private static byte[] value(int row) {
    byte[] value = new byte[90];
    Arrays.fill(value, (byte) row);
    return value;
  }

  private interface Read {
    byte @Nullable [] read(Reading reading, byte[] key);
  }

  private byte @Nullable [] whole(Reading reading, byte[] key) {
    StoredValue value = new RowReader(engine.storage).read(tree, key, reading);
    return value == null ? null : value.bytes();
  }

  private byte @Nullable [] copied(Reading reading, byte[] key) {
    byte[] into = new byte[200];
    int length = new RowReader(engine.storage).read(tree, key, reading, into, 0);
    if (length == RowReader.LATCHED) {
      return whole(reading, key);
    }
    return length == RowReader.NO_ROW ? null : Arrays.copyOf(into, length);
  }

  /** With its neighbours, by one descent. */
  private byte @Nullable [] together(Reading reading, byte[] key) {
    int row = key[30];
    KeyBuffer keys = new KeyBuffer();
    int count = 4;
    for (int i = 0; i < count; i++) {
      byte[] wanted = key(row - 1 + i);
      keys.add(wanted, 0, wanted.length);
    }
    ValueBuffer found = new ValueBuffer();
    GroupRead read =
        new GroupRead(
            engine.storage,
            new RowReader(engine.storage),
            reading,
            List.of(tree),
            _ -> tree,
            keys,
            found);
    while (read.hasMore()) {
      read.readSome();
    }
    byte[] @Nullable [] values = new byte[count] @Nullable [];
    for (int place = 0; place < count; place++) {
      if (found.exists(place)) {
        StoredValue other = found.other(place);
        values[keys.at(place)] =
            other != null
                ? other.bytes()
                : Arrays.copyOfRange(
                    found.array(place),
                    found.offset(place),
                    found.offset(place) + found.length(place));
      }
    }
    for (int i = 0; i < count; i++) {
      int each = row - 1 + i;
      if (each < 0 || each >= ROWS) {
        assertNull(values[i], "row " + each);
      } else if (i != 1) {
        assertArrayEquals(value(each), values[i], "row " + each);
      }
    }
    return values[1];
  }

  /** Changes the leaf once, when a step of a number comes. */
  private static final class Once implements DisturbedDescent.Between {
    private final int at;
    private final Runnable change;
    private boolean done;

    Once(int at, Runnable change) {
      this.at = at;
      this.change = change;
    }

    @Override
    public void step(int step, Stay page) {
      if (step == at) {
        done = true;
        change.run();
      }
    }

    @Override
    public void attemptOver() {}
  }

  private void inTransaction(Function<TestEngine.Tx, Object> change) {
    TestEngine.Tx tx = engine.begin();
    change.apply(tx);
    tx.commitDurably();
  }

  /** Reads in a snapshot from before the change, which comes at one step after the other. */
  private void assertUnmoved(Function<TestEngine.Tx, Object> change) {
    int changed = 0;
    for (Read read : new Read[] {this::whole, this::copied, this::together}) {
      for (int row : new int[] {ROW, ABSENT}) {
        for (int at = 0; at < MOST_STEPS; at++) {
          TestEngine.Tx old = engine.begin();
          Once once = new Once(at, () -> inTransaction(change));
          byte[] found = read.read(new Reading(old.snapshot, new DisturbedDescent(once)), key(row));
          if (row == ABSENT) {
            assertNull(found, "at step " + at);
          } else {
            assertArrayEquals(value(row), found, "at step " + at);
          }
          changed += once.done ? 1 : 0;
          old.abort();
          inTransaction(tx -> tx.put(tree, key(ROW), value(ROW)));
          inTransaction(tx -> tx.delete(tree, key(ABSENT)));
        }
      }
    }
    assertTrue(changed >= 15, changed + " changes came between steps");
    engine.clean();
    engine.checkAllClean();
  }

  @Test
  void a_row_that_is_updated_between_two_steps() {
    assertUnmoved(tx -> tx.put(tree, key(ROW), new byte[90]));
  }

  @Test
  void a_row_that_becomes_longer_or_shorter_between_two_steps() {
    Random random = new Random(seed);
    assertUnmoved(tx -> tx.put(tree, key(ROW), new byte[random.nextInt(1_000)]));
  }

  @Test
  void a_row_that_is_deleted_or_that_comes_between_two_steps() {
    assertUnmoved(tx -> {
      tx.delete(tree, key(ROW));
      return tx.put(tree, key(ABSENT), value(ABSENT));
    });
  }

  @Test
  void a_leaf_that_is_split_or_merged_between_two_steps() {
    assertUnmoved(tx -> {
      boolean there = tx.get(tree, key(0, 1)) != null;
      for (int i = 0; i < 120; i++) {
        byte[] key = key(i % 40, 1 + i / 40);
        if (there) {
          tx.delete(tree, key);
        } else {
          tx.put(tree, key, new byte[200]);
        }
      }
      return there;
    });
  }

  /** Latches the page at a step and leaves it torn until the attempt is over. */
  private final class Torn implements DisturbedDescent.Between {
    private final int at;
    private final Consumer<MemorySegment> tear;
    private final byte[] before = new byte[Page.SIZE];
    private int latched = -1;
    private int times;

    Torn(int at, Consumer<MemorySegment> tear) {
      this.at = at;
      this.tear = tear;
    }

    @Override
    public void step(int step, Stay stay) {
      if (step != at || latched >= 0) {
        return;
      }
      times++;
      latched = engine.pool.fixExclusive(stay.pageId());
      MemorySegment page = engine.pool.page(latched);
      MemorySegment.copy(page, ValueLayout.JAVA_BYTE, 0, before, 0, Page.SIZE);
      tear.accept(page);
    }

    @Override
    public void attemptOver() {
      if (latched >= 0) {
        MemorySegment page = engine.pool.page(latched);
        MemorySegment.copy(before, 0, page, ValueLayout.JAVA_BYTE, 0, Page.SIZE);
        engine.pool.unfixExclusive(latched);
        latched = -1;
      }
    }
  }

  private static void fillWithNonsense(MemorySegment page, Random random) {
    int from = Page.BODY + random.nextInt(random.nextBoolean() ? 48 : 400);
    int to = from + 1 + random.nextInt(random.nextBoolean() ? 8 : Page.SIZE - from);
    to = Math.min(to, Page.SIZE);
    boolean same = random.nextBoolean();
    byte one = (byte) random.nextInt();
    for (int i = from; i < to; i++) {
      page.set(ValueLayout.JAVA_BYTE, i, same ? one : (byte) random.nextInt());
    }
  }

  /**
   * Reads a row while its page is full of nonsense at one of so many steps; how often it met it.
   */
  private int readNonsense(Random random, int steps, long snapshot, int round) {
    Torn nonsense = new Torn(random.nextInt(steps), page -> fillWithNonsense(page, random));
    Reading reading = new Reading(snapshot, new DisturbedDescent(nonsense));
    int row = random.nextBoolean() ? random.nextInt(ROWS) : ABSENT;
    byte[] found =
        switch (random.nextInt(3)) {
          case 0 -> whole(reading, key(row));
          case 1 -> copied(reading, key(row));
          default -> together(reading, key(row));
        };
    nonsense.attemptOver();
    byte[] expected = row == ABSENT ? null : value(row);
    assertArrayEquals(expected, found, "round " + round + ", -Drevenant.seed=" + seed);
    return nonsense.times;
  }

  @Test
  void a_page_that_is_full_of_nonsense_at_a_step_is_read_again() {
    System.out.println("TornReadTest -Drevenant.seed=" + seed);
    Random random = new Random(seed);
    long rows = engine.check().rows();
    int times = 0;
    for (int round = 0; round < 2_000 || times <= 1_000; round++) {
      TestEngine.Tx tx = engine.begin();
      times += readNonsense(random, 12, tx.snapshot, round);
      tx.abort();
    }
    assertEquals(rows, engine.check().rows());
  }

  /** Of every other row the leaf has no version that the snapshot sees. */
  @Test
  void a_page_that_is_full_of_nonsense_at_a_step_is_read_again_also_in_an_old_snapshot() {
    System.out.println("TornReadTest -Drevenant.seed=" + seed);
    Random random = new Random(seed);
    TestEngine.Tx old = engine.begin();
    for (int update = 0; update < 2; update++) {
      for (int row = 0; row < ROWS; row += 2) {
        int changed = row;
        inTransaction(tx -> tx.put(tree, key(changed), new byte[90]));
      }
    }
    int times = 0;
    for (int round = 0; round < 2_000 || times <= 1_000; round++) {
      times += readNonsense(random, 14, old.snapshot, round);
    }
    old.abort();
  }

  /** The leaf seems to have a version that came later, and none before it. */
  @Test
  void a_writer_that_is_torn_at_a_step_does_not_send_the_reader_to_the_older_versions() {
    int times = 0;
    for (Read read : new Read[] {this::whole, this::copied, this::together}) {
      for (int at = 0; at < MOST_STEPS; at++) {
        TestEngine.Tx old = engine.begin();
        TestEngine.Tx later = engine.begin();
        later.put(tree, key(ROW + 5), new byte[90]);
        later.commitDurably();
        Torn torn = new Torn(at, page -> tearWriter(page, later.id));
        byte[] found = read.read(new Reading(old.snapshot, new DisturbedDescent(torn)), key(ROW));
        torn.attemptOver();
        assertArrayEquals(value(ROW), found, "at step " + at);
        times += torn.times;
        old.abort();
      }
    }
    assertTrue(times >= 8, times + " reads met a torn writer");
  }

  private static void tearWriter(MemorySegment page, long writer) {
    int slot = SlottedSearch.search(page, key(ROW));
    if (slot >= 0) { // else it is the page above the leaves
      page.set(LITTLE_ENDIAN_LONG, Slotted.cell(page, slot) + WRITER, writer);
    }
  }

  private void exchangeTheFirstTwoLeaves() {
    int frame = engine.pool.fixExclusive(tree.root());
    MemorySegment root = engine.pool.page(frame);
    int left = Slotted.child(root, -1);
    Page.putInt(root, Slotted.LEFTMOST_CHILD, Slotted.child(root, 0));
    Page.putInt(root, FIRST_CHILD, left);
    engine.pool.unfixExclusive(frame);
  }

  @Test
  void keys_are_not_missed_in_a_leaf_that_has_the_place_of_another() {
    TestEngine.Tx tx = engine.begin();
    int refused = 0;
    exchangeTheFirstTwoLeaves();
    for (int row = 1; row < ROWS - 3; row++) {
      try {
        assertArrayEquals(value(row), together(new Reading(tx.snapshot), key(row)));
      } catch (DamagedFileException told) {
        refused++;
      }
    }
    exchangeTheFirstTwoLeaves();
    tx.abort();
    assertTrue(refused > 20, refused + " reads were refused");
  }
}

package org.revenantdb.engine.page;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.TableOptions;
import org.revenantdb.engine.Transaction;
import org.revenantdb.recovery.log.RecordBuilder;
import org.revenantdb.recovery.log.RecordType;

/**
 * Pages of every type that a database has made, with fields changed: the check refuses them, or
 * nothing that reads or changes a page leaves it.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class PageStructureTest {
  private static final int CHANGED_PAGES = Boolean.getBoolean("revenant.long") ? 60_000 : 20_000;

  /** Of each type some pages, by type. */
  private final TreeMap<Integer, List<byte[]>> pages = new TreeMap<>();

  private int pageCount;

  /** What has been done to a page that passed the check, to be shown if it fails. */
  private String doing = "";

  @BeforeAll
  void populate(@TempDir Path directory) throws IOException {
    DatabaseOptions options =
        DatabaseOptions.defaults().withPoolBytes(8 << 20).withShortTransactionRows(4);
    Random random = new Random(1);
    try (Database db = Database.open(directory, options)) {
      Table small = db.getOrCreateTable("small");
      Table parts = db.getOrCreateTable("parts", TableOptions.hashPartitioned(3));
      Transaction old = db.begin();
      old.get(small, key(0)); // keeps former versions
      for (int i = 0; i < 6_000; i += 100) {
        int first = i;
        db.run(tx -> {
          for (int j = first; j < first + 100; j++) {
            tx.put(small, key(random.nextInt(6_000)), bytes(random, random.nextInt(200)));
            tx.put(parts, key(j), bytes(random, 20));
          }
        });
      }
      byte[] edited = bytes(random, 300);
      for (int i = 0; i < 200; i++) {
        byte[] key = ("long" + "k".repeat(i % 50) + i).getBytes(StandardCharsets.UTF_8);
        edited = Edits.edited(random, edited);
        byte[] value = edited;
        db.run(tx -> tx.put(small, key, value));
        byte[] changed = Edits.edited(random, value);
        db.run(tx -> tx.put(small, key, changed));
      }
      for (int i = 0; i < 60; i++) {
        byte[] key = key(10_000 + i);
        byte[] value = bytes(random, 1_500 + 137 * i);
        db.run(tx -> tx.put(small, key, value));
        if (i % 3 == 0) {
          db.run(tx -> tx.put(small, key, bytes(random, 5_000)));
        }
        if (i % 5 == 0) {
          db.run(tx -> tx.delete(small, key));
        }
      }
      db.run(tx -> {
        try {
          tx.put(small, key(20_000), new ByteArrayInputStream(new byte[40_000_000]));
        } catch (IOException impossible) {
          throw new AssertionError(impossible);
        }
      });
      for (int i = 0; i < 3; i++) {
        Transaction aborted = db.begin();
        for (int j = 0; j < 300; j++) {
          aborted.put(small, key(100 * i + j), bytes(random, 30));
        }
        aborted.rollback();
      }
      db.checkpoint();
      read(directory.resolve("revenant.data"));
      old.rollback();
    }
    read(directory.resolve("revenant.data"));
    List<Integer> types =
        List.of(
            Page.SPACE_MAP,
            Page.LEAF,
            Page.INNER,
            Page.OVERFLOW_HEAD,
            Page.OVERFLOW_INDEX,
            Page.OVERFLOW_DATA,
            Page.GAM,
            Page.IAM,
            Page.SHARED_VALUES);
    assertEquals(types.stream().sorted().toList(), List.copyOf(pages.keySet()));
  }

  private void read(Path data) throws IOException {
    byte[] file = Files.readAllBytes(data);
    for (int id = 3; id < file.length / Page.SIZE; id++) {
      byte[] page = Arrays.copyOfRange(file, id * Page.SIZE, (id + 1) * Page.SIZE);
      if (page[Page.TYPE] != Page.NEVER_WRITTEN) {
        List<byte[]> same = pages.computeIfAbsent((int) page[Page.TYPE], type -> new ArrayList<>());
        assertNull(PageStructure.problemOf(id, MemorySegment.ofArray(page)));
        assertNull(PageStructure.problemBeforeChange(id, MemorySegment.ofArray(page)));
        if (same.size() < 2_000) {
          same.add(page);
          pageCount++;
        }
      }
    }
  }

  private static byte[] key(int i) {
    return "key%05d".formatted(i).getBytes(StandardCharsets.UTF_8);
  }

  private static byte[] bytes(Random random, int length) {
    byte[] bytes = new byte[length];
    random.nextBytes(bytes);
    return bytes;
  }

  private static int id(byte[] page) {
    return Page.id(MemorySegment.ofArray(page));
  }

  @Test
  void pages_that_a_database_has_written_pass() {
    assertTrue(pageCount > 200, "only " + pageCount + " pages");
  }

  @Test
  void a_map_that_gives_itself_away_is_refused() {
    for (int page = 0; page <= 5; page++) {
      for (int bits : new int[] {0, SpaceMapPage.MIXED, SpaceMapPage.ALLOCATED, 0x61}) {
        MemorySegment map = MemorySegment.ofArray(pages.get(Page.SPACE_MAP).getFirst().clone());
        Page.putByte(map, SpaceMapPage.offset(page), bits);
        String problem = PageStructure.problemOf(SpaceMapPage.POSITION, map);
        assertTrue(problem != null && problem.contains("page " + page), problem);
      }
    }
    MemorySegment gam = MemorySegment.ofArray(pages.get(Page.GAM).getFirst().clone());
    Page.putByte(gam, ExtentMapPage.offset(0), 0xFE);
    String problem = PageStructure.problemOf(ExtentMapPage.POSITION, gam);
    assertTrue(problem != null && problem.contains("extent"), problem);
  }

  /** Each of the 256 bytes, at a place of each of the eight in a word, against its meaning. */
  @Test
  void a_space_map_with_a_byte_that_no_page_has_is_refused() {
    int legal = 0;
    for (int bits = 0; bits < 256; bits++) {
      boolean isFree = (bits & SpaceMapPage.ALLOCATED) == 0;
      boolean isGhost = (bits & SpaceMapPage.GHOST) != 0;
      int fullness = bits & SpaceMapPage.FULLNESS;
      boolean isIllegal =
          isFree && (bits & ~SpaceMapPage.MIXED) != 0
              || isGhost && (bits & SpaceMapPage.VERSION) == 0
              || fullness > 4
              || fullness > 0 && (bits & SpaceMapPage.IAM) != 0;
      legal += isIllegal ? 0 : 1;
      for (int i = 0; i < 8; i++) {
        MemorySegment map = MemorySegment.ofArray(pages.get(Page.SPACE_MAP).getFirst().clone());
        int page = SpaceMapPage.GROUP - 1 - i;
        Page.putByte(map, SpaceMapPage.offset(page), bits);
        String problem = PageStructure.problemOf(SpaceMapPage.POSITION, map);
        assertEquals(isIllegal, problem != null, "byte " + bits);
      }
    }
    assertEquals(2 + 2 * 3 * 6, legal);
  }

  @Test
  void a_map_with_a_reserved_byte_that_is_not_zero_is_refused() {
    for (int type : List.of(Page.SPACE_MAP, Page.GAM, Page.IAM)) {
      byte[] sound = pages.get(type).getFirst();
      for (int at = Page.FLAGS; at < SpaceMapPage.HEADER; at++) {
        boolean isField =
            type == Page.IAM
                && at >= ExtentMapPage.TABLE
                && at < ExtentMapPage.NEXT + Integer.BYTES;
        byte[] changed = sound.clone();
        changed[at] ^= 1;
        String problem = PageStructure.problemOf(id(sound), MemorySegment.ofArray(changed));
        if (!isField) {
          assertTrue(problem != null && problem.contains("reserved"), type + " at " + at);
        }
      }
    }
  }

  @Test
  void a_list_with_the_extent_of_a_map_or_an_impossible_table_is_refused() {
    byte[] sound = pages.get(Page.IAM).getFirst();
    for (int extent = 0; extent < ExtentMapPage.RANGE; extent += ExtentMapPage.GROUP) {
      byte[] changed = sound.clone();
      changed[ExtentMapPage.offset(extent)] |= (byte) ExtentMapPage.mask(extent);
      String problem = PageStructure.problemOf(id(sound), MemorySegment.ofArray(changed));
      assertTrue(problem != null && problem.contains("extent " + extent), problem);
    }
    byte[] changed = sound.clone();
    changed[ExtentMapPage.TABLE + Integer.BYTES - 1] = (byte) 0x80;
    String problem = PageStructure.problemOf(id(sound), MemorySegment.ofArray(changed));
    assertTrue(problem != null && problem.contains("table"), problem);
  }

  /** Then the longest key is shorter than the bytes that all keys share. */
  @ParameterizedTest
  @ValueSource(ints = {Page.LEAF, Page.INNER})
  void a_page_whose_heads_begin_behind_the_longest_key_is_refused(int type) {
    int tried = 0;
    for (byte[] sound : pages.get(type)) {
      MemorySegment page = MemorySegment.ofArray(sound.clone());
      for (int skip = LeafCell.MAX_KEY + 1; skip <= 0xFFFF; skip += 61) {
        Page.putShort(page, Slotted.SKIP, skip);
        String problem = PageStructure.problemOf(id(sound), page);
        assertTrue(Slotted.count(page) == 0 || problem != null, "skip " + skip);
        tried += Slotted.count(page) == 0 ? 0 : 1;
      }
    }
    assertTrue(tried > 0);
  }

  @Test
  void a_page_with_a_changed_field_is_refused_or_nothing_leaves_it() {
    long first = Long.getLong("revenant.seed", ThreadLocalRandom.current().nextInt(1 << 30));
    System.out.println("PageStructureTest -Drevenant.seed=" + first);
    int passed = 0;
    int refused = 0;
    Integer[] types = pages.keySet().toArray(new Integer[0]);
    for (int round = 0; round < CHANGED_PAGES || passed <= 1_000 || refused <= 1_000; round++) {
      long seed = first + round;
      Random random = new Random(seed);
      List<byte[]> same = pages.get(types[round % types.length]);
      byte[] bytes = same.get(random.nextInt(same.size())).clone();
      int id = id(bytes);
      MemorySegment page = MemorySegment.ofArray(bytes);
      try {
        doing = "check";
        for (int changes = 1 + random.nextInt(3); changes > 0; changes--) {
          change(random, page);
        }
        if (PageStructure.problemOf(id, page) != null) {
          refused++;
          continue;
        }
        passed++;
        readAll(page);
        if (PageStructure.problemBeforeChange(id, page) == null) {
          changeAll(random, id, bytes);
        }
      } catch (Throwable failure) {
        throw new AssertionError(
            "-Drevenant.seed=" + seed + ": page " + id + ", " + doing + ": " + failure, failure);
      }
    }
    System.out.println("PageStructureTest " + passed + " pages passed, " + refused + " refused");
  }

  /** Changes a field of the header, a slot, or a cell: to anything, to an edge, or a little. */
  private static void change(Random random, MemorySegment page) {
    int at;
    int type = Page.type(page);
    boolean slotted = type == Page.LEAF || type == Page.INNER;
    switch (random.nextInt(4)) {
      case 0 -> at = Page.BODY + random.nextInt(Slotted.SLOTS - Page.BODY);
      case 1 -> at = Slotted.SLOTS + random.nextInt(200);
      case 2 -> {
        int count = slotted ? Math.min(500, Slotted.count(page)) : 0;
        int cell = count == 0 ? 0 : Slotted.cell(page, random.nextInt(count));
        at = cell == 0 ? random.nextInt(Page.BODY, Page.SIZE - 8) : cell + random.nextInt(28);
      }
      default -> at = random.nextInt(Page.BODY, Page.SIZE);
    }
    int width = 1 << random.nextInt(4);
    at = Math.clamp(at, Page.BODY, Page.SIZE - width);
    long edge =
        List.of(0L, 1L, -1L, 0x7FL, 0x80L, 0x7FFFL, 0x8000L, 0x1FFFL, 0x2000L, 0x7FFF_FFFFL)
            .get(random.nextInt(10));
    boolean little = random.nextInt(3) == 0;
    long value = random.nextBoolean() ? edge : random.nextLong();
    switch (width) {
      case 1 ->
          Page.putByte(
              page, at, (int) (little ? Page.getByte(page, at) + random.nextInt(-2, 3) : value));
      case 2 ->
          Page.putShort(
              page, at, (int) (little ? Page.getShort(page, at) + random.nextInt(-9, 10) : value));
      case 4 ->
          Page.putInt(
              page, at, (int) (little ? Page.getInt(page, at) + random.nextInt(-9, 10) : value));
      default -> Page.putLong(page, at, little ? Page.getLong(page, at) + 1 : value);
    }
  }

  /** Everything that reads a page, for every slot and every key of the page, and for others. */
  private void readAll(MemorySegment page) {
    switch (Page.type(page)) {
      case Page.LEAF, Page.INNER -> readTree(page);
      case Page.OVERFLOW_HEAD, Page.OVERFLOW_INDEX -> {
        doing = "read ids";
        for (int i = 0; i < OverflowPage.count(page); i++) {
          OverflowPage.id(page, i);
        }
        OverflowPage.length(page);
        OverflowPage.nextIndex(page);
        if (Page.type(page) == Page.OVERFLOW_HEAD) {
          Page.bytes(page, OverflowPage.DATA, OverflowPage.inline(page));
        }
      }
      case Page.OVERFLOW_DATA -> Page.bytes(page, OverflowPage.DATA, OverflowPage.count(page));
      case Page.SHARED_VALUES -> {
        doing = "read values";
        for (int slot = 0; slot < SharedValues.count(page); slot++) {
          if (SharedValues.isTaken(page, slot)) {
            Page.bytes(page, SharedValues.offset(page, slot), SharedValues.length(page, slot));
          }
          SharedValues.writer(page, slot);
          SharedValues.superseder(page, slot);
        }
        SharedValues.hasMoved(page);
        SharedValues.nextSlot(page);
        assertTrue(SharedValues.fullness(page) <= 4);
      }
      case Page.IAM, Page.GAM -> {
        doing = "read extents";
        int base =
            Page.type(page) == Page.GAM ? 0 : ExtentMapPage.rangeNumber(page) * ExtentMapPage.RANGE;
        for (int at = base; at >= base; ) {
          int next = ExtentMapPage.next(page, at, true);
          at = next < 0 || next % ExtentMapPage.RANGE == ExtentMapPage.RANGE - 1 ? -1 : next + 1;
        }
      }
      default -> IntStream.range(0, SpaceMapPage.GROUP).forEach(i -> SpaceMapPage.bits(page, i));
    }
  }

  private void readTree(MemorySegment page) {
    int count = Slotted.count(page);
    boolean leaf = Slotted.level(page) == 0;
    doing = "read the header";
    Slotted.iam(page);
    Slotted.free(page);
    Slotted.used(page);
    SlottedSearch.problemOfHeads(page);
    Slotted.hasGhosts(page, 0, leaf ? count : 0);
    List<byte[]> keys = new ArrayList<>();
    keys.add(Slotted.lowerFence(page));
    if (Slotted.hasUpperFence(page)) {
      keys.add(Slotted.upperFence(page));
    }
    keys.add(new byte[0]);
    keys.add(key(17));
    for (int slot = 0; slot < count; slot++) {
      doing = "read slot " + slot;
      keys.add(Slotted.key(page, slot));
      Slotted.head(page, slot);
      Slotted.length(page, slot);
      int cell = Slotted.cell(page, slot);
      if (!leaf) {
        assertTrue(PageStructure.isLink(Slotted.child(page, slot)));
        continue;
      }
      LeafCell.value(page, cell);
      LeafCell.versionBytes(page, cell);
      LeafCell.problemOf(page, cell);
      if (LeafCell.is(page, cell, LeafCell.OVERFLOW)) {
        assertTrue(ValueReference.of(page, LeafCell.valueOffset(page, cell)).isLegal());
      }
      if (LeafCell.is(page, cell, LeafCell.PREDECESSOR)) {
        LeafCell.predecessorWriter(page, cell);
        LeafCell.predecessor(page, cell);
        LeafCell.predecessorFlags(page, cell);
      }
    }
    for (byte[] key : keys) {
      doing = "search " + Arrays.toString(key);
      SlottedSearch.covers(page, key);
      SlottedSearch.endsBehind(page, key);
      SlottedSearch.search(page, key);
      SlottedSearch.slotAtOrAfter(page, key);
      if (leaf) {
        SlottedSearch.searchHeads(page, 0, key);
      } else {
        assertTrue(
            PageStructure.isLink(Slotted.child(page, SlottedSearch.childPosition(page, key))));
      }
      for (int slot = 0; leaf && slot < count; slot += 7) {
        SlottedSearch.isKey(page, 0, slot, key);
      }
    }
  }

  /** Operations that fit the page can be carried out, and what comes out passes the check. */
  private void changeAll(Random random, int id, byte[] before) {
    MemorySegment page = MemorySegment.ofArray(before);
    int type = Page.type(page);
    if (type == Page.SHARED_VALUES) {
      byte[] bytes = before.clone();
      page = MemorySegment.ofArray(bytes);
      for (int slot = 0; slot < SharedValues.count(page); slot++) {
        if (SharedValues.isTaken(page, slot)) {
          doing = "take value " + slot;
          SharedValues.take(page, slot);
          assertSafe(id, page);
        }
      }
    }
    if (type != Page.LEAF && type != Page.INNER) {
      return;
    }
    MemorySegment scratch = MemorySegment.ofArray(new byte[2 * Page.SIZE]);
    int count = Slotted.count(page);
    boolean leaf = type == Page.LEAF;
    for (int tries = 0; tries < 3 && count > 0; tries++) {
      int slot = random.nextInt(count);
      doing = "remove slot " + slot;
      MemorySegment copy = MemorySegment.ofArray(before.clone());
      SlottedEdit.remove(copy, slot);
      if (leaf) {
        assertSafe(id, copy);
        doing = "insert a cell again at slot " + slot;
        byte[] cell = LeafCell.build(Slotted.key(page, slot), 0, 1, new byte[0]);
        if (SlottedSearch.beginsWithPrefix(copy, cell, 0)
            && Slotted.free(copy) >= cell.length + Slotted.LEAF_SLOT) {
          SlottedEdit.insert(copy, slot, cell, 0, cell.length, scratch);
          assertSafe(id, copy);
        }
        copy = MemorySegment.ofArray(before.clone());
        int at = Slotted.cell(copy, slot);
        boolean predecessor = LeafCell.is(copy, at, LeafCell.PREDECESSOR);
        doing = "settle slot " + slot;
        RowEdit.settle(copy, at);
        assertSafe(id, copy);
        if (predecessor) {
          doing = "revert slot " + slot;
          copy = MemorySegment.ofArray(before.clone());
          new RowEdit(scratch).revert(copy, slot);
          assertSafe(id, copy);
        }
        update(id, before, slot, scratch, random);
      }
      doing = "keep the slots to the left of slot " + slot;
      byte[] fence = Slotted.key(page, slot);
      if (SlottedSearch.canEndAt(page, fence, 0, fence.length)
          && SlottedSearch.covers(page, fence)) {
        copy = MemorySegment.ofArray(before.clone());
        int kept = slot;
        if (keysAreInOrder(page) && Slotted.free(page) + removed(page, kept) >= fence.length) {
          SlottedEdit.keepLeft(copy, kept, fence, 0, fence.length, scratch);
          assertSafe(id, copy);
        }
      }
    }
  }

  private static boolean keysAreInOrder(MemorySegment page) {
    return SlottedSearch.problemOfHeads(page) == null
        && IntStream.range(0, Slotted.count(page))
            .allMatch(slot ->
                SlottedSearch.covers(page, Slotted.key(page, slot))
                    && (slot == 0
                        || Arrays.compareUnsigned(
                                Slotted.key(page, slot - 1), Slotted.key(page, slot))
                            < 0));
  }

  private static int removed(MemorySegment page, int kept) {
    return IntStream.range(kept, Slotted.count(page)).map(slot -> Slotted.length(page, slot)).sum();
  }

  /** Several changes one after the other: each leaves the page as the next one needs it. */
  private void update(int id, byte[] before, int first, MemorySegment scratch, Random random) {
    MemorySegment page = MemorySegment.ofArray(before.clone());
    RowEdit rows = new RowEdit(scratch);
    int slot = first;
    for (int change = 0; change < 6; change++) {
      int cell = Slotted.cell(page, slot);
      // A large value is identified by its writer, which is therefore kept with it.
      int keep = random.nextInt(LeafCell.is(page, cell, LeafCell.OVERFLOW) ? 2 : 3);
      byte[] value = bytes(random, random.nextInt(random.nextBoolean() ? 40 : 700));
      if (random.nextBoolean()) {
        value = LeafCell.value(page, cell);
        if (value.length > 0) {
          value[random.nextInt(value.length)]++;
        }
      }
      int diff = LeafCell.diff(page, cell, 0, value);
      int made =
          LeafCell.updatedLength(
              page, cell, keep, 0, value, diff, MemorySegment.ofArray(new byte[Page.SIZE]));
      if (made <= LeafCell.MAX_CELL - Slotted.prefix(page)
          && made - Slotted.length(page, slot) <= Slotted.free(page)) {
        doing = "change " + change + " of slot " + slot + ", keep " + keep + ", diff " + diff;
        RecordBuilder record = new RecordBuilder();
        record.begin(RecordType.PAGES, 0);
        int from = record.position();
        if (diff == ValueDiff.NONE) {
          PageOps.update(record, slot, 0, keep, 7, value);
          rows.update(page, slot, record.array(), from + 5, PageOps.UPDATE_HEADER + value.length);
        } else {
          PageOps.change(record, slot, keep, 7, value, diff);
          rows.change(page, slot, record.array(), from + 5, record.position() - from - 5);
        }
        assertSafe(id, page);
      }
      slot = random.nextInt(Slotted.count(page));
      if (random.nextInt(3) == 0) {
        doing = "settle slot " + slot + " after change " + change;
        RowEdit.settle(page, Slotted.cell(page, slot));
        assertSafe(id, page);
      }
    }
  }

  /** What was changed by an operation may have keys out of order, as before, and nothing else. */
  private static void assertSafe(int id, MemorySegment page) {
    String problem = PageStructure.problemOf(id, page);
    if (problem == null) {
      problem = PageStructure.problemBeforeChange(id, page);
    }
    assertTrue(problem == null || problem.contains("keys are not in order"), problem);
  }

  @ParameterizedTest
  @ValueSource(ints = {Page.LEAF, Page.INNER, Page.OVERFLOW_HEAD, Page.OVERFLOW_INDEX, Page.IAM})
  void a_page_that_is_at_the_place_of_a_map_is_refused(int type) {
    for (byte[] page : pages.get(type)) {
      String problem = PageStructure.problemOf(SpaceMapPage.POSITION, MemorySegment.ofArray(page));
      assertTrue(problem != null, "a page of type " + type + " as a space map");
    }
  }
}

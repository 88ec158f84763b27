package org.revenantdb.engine.page;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.ThreadLocalRandom;
import org.junit.jupiter.api.Test;
import org.revenantdb.recovery.format.LittleEndian;
import org.revenantdb.recovery.log.PartKind;
import org.revenantdb.recovery.log.RecordBuilder;
import org.revenantdb.recovery.log.RecordType;

/**
 * Random operations on a leaf and on an inner page against a sorted map. What fits by the count of
 * free bytes fits, to the byte; a second page that gets the bytes of the records is the same.
 */
class SlottedFuzzTest {
  private static final int HEADER = 40 + 8;

  private final PageOps operations = new PageOps();
  private final RecordBuilder record = new RecordBuilder();
  private final MemorySegment page = MemorySegment.ofArray(new byte[Page.SIZE]);

  /** The cells, with their whole keys. */
  private final TreeMap<byte[], byte[]> model = new TreeMap<>(Arrays::compareUnsigned);

  /** What the records of the predecessors have behind their head, of the rows that have one. */
  private final TreeMap<byte[], byte[]> stored = new TreeMap<>(Arrays::compareUnsigned);

  /** The values of the predecessors, of the rows that have one. */
  private final TreeMap<byte[], byte[]> formers = new TreeMap<>(Arrays::compareUnsigned);

  private final List<byte[]> records = new ArrayList<>();
  private byte[] lower = {};
  private byte[] upper = {};
  private final MemorySegment scratch = MemorySegment.ofArray(new byte[Page.SIZE]);
  private boolean leaf;
  private int slotSize;
  private byte[] beginning = {};
  private int common;

  /** Bytes of the beginning that the fences have, too. */
  private int shared;

  private long maxWriter;
  private int full;
  private int rebuilt;
  private int lengthened;
  private int diffs;
  private int popped;

  @Test
  void a_page_holds_what_the_model_holds() {
    long first = Long.getLong("revenant.seed", ThreadLocalRandom.current().nextInt(1 << 30));
    System.out.println("SlottedFuzzTest -Drevenant.seed=" + first);
    for (int round = 0; round < 60 || !hasMetAll(); round++) {
      long seed = first + round;
      try {
        round(new Random(seed));
      } catch (Throwable failure) {
        throw new AssertionError("-Drevenant.seed=" + seed + ": " + failure, failure);
      }
    }
    System.out.printf(
        "%d operations left no byte free, %d pages with longer cells, %d with shorter ones,"
            + " %d rows with differences, %d records gave their bytes back at once%n",
        full, rebuilt, lengthened, diffs, popped);
  }

  /** Each is frequent; the rounds go on until all of them were met often enough. */
  private boolean hasMetAll() {
    return full > 20 && rebuilt > 5 && lengthened > 20 && diffs > 60 && popped > 60;
  }

  private void round(Random random) {
    leaf = random.nextInt(3) > 0;
    slotSize = leaf ? Slotted.LEAF_SLOT : Slotted.INNER_SLOT;
    common = random.nextBoolean() ? 0 : random.nextInt(random.nextInt(4) == 0 ? 400 : 40);
    beginning = bytes(random, common);
    shared = random.nextInt(3) == 0 ? common : random.nextInt(common + 1);
    model.clear();
    formers.clear();
    stored.clear();
    records.clear();
    maxWriter = 0;
    lower = fence(random, (byte) 0);
    boolean bounded = random.nextInt(4) > 0;
    upper = fence(random, (byte) 0xFF);
    SlottedBuilder builder = new SlottedBuilder();
    builder.begin(leaf ? 0 : 1, 7, lower, bounded ? upper : null);
    if (!bounded) {
      upper = new byte[0];
    }
    record.begin(RecordType.PAGES, 0);
    record.beginPart(9, PartKind.FORMAT);
    PageOps.image(record, builder);
    apply();
    int size = 1 + random.nextInt(random.nextBoolean() ? 60 : LeafCell.MAX_CELL);
    for (int step = 0; step < 300; step++) {
      record.begin(RecordType.PAGES, 0);
      record.beginPart(9, PartKind.CHANGE);
      step(random, size);
      apply();
      check();
      absent(random);
    }
    MemorySegment copy = MemorySegment.ofArray(new byte[Page.SIZE]);
    for (int twice = 0; twice < 2; twice++) {
      long lsn = 0;
      for (byte[] bytes : records) {
        lsn += 8;
        if (Page.lsn(copy) < lsn) {
          new PageOps().apply(copy, bytes, HEADER, LittleEndian.getShort(bytes, HEADER - 2));
          Page.setLsn(copy, lsn);
        }
      }
      assertArrayEquals(
          Page.bytes(page, Page.BODY, Page.SIZE - Page.BODY),
          Page.bytes(copy, Page.BODY, Page.SIZE - Page.BODY));
    }
  }

  private void apply() {
    record.endPart();
    byte[] bytes = Arrays.copyOf(record.array(), record.length());
    records.add(bytes);
    int top = Slotted.heapTop(page);
    int garbage = Slotted.garbage(page);
    operations.apply(page, bytes, HEADER, bytes.length - HEADER);
    popped += garbage > 0 && Slotted.garbage(page) > 0 && Slotted.heapTop(page) > top ? 1 : 0;
  }

  private void step(Random random, int size) {
    int free = Slotted.free(page);
    int what = random.nextInt(20);
    if (what < 10 || model.isEmpty()) {
      int room =
          Math.min(leaf ? LeafCell.MAX_CELL : InnerCell.MAX_CELL, free - slotSize + prefix());
      int wanted = random.nextInt(3) == 0 ? room : Math.min(room, 17 + random.nextInt(size));
      byte[] key = key(random, 1 + random.nextInt(Math.max(1, Math.min(wanted - 24, 1024))));
      byte[] cell = cell(random, key, wanted);
      if (cell.length <= room && !model.containsKey(key)) {
        full += cell.length - prefix() + slotSize == free ? 1 : 0;
        int slot = -SlottedSearch.search(page, key) - 1;
        assertEquals(model.headMap(key).size(), slot);
        PageOps.insert(record, slot, cell);
        putNew(key, cell);
      }
    } else if (what < 14 && leaf) {
      update(random, free);
    } else if (what < 15) {
      Map.Entry<byte[], byte[]> entry = any(random);
      int room = Math.min(LeafCell.MAX_CELL, free + length(entry.getKey()));
      int wanted = random.nextInt(3) == 0 ? room : random.nextInt(room + 1);
      byte[] cell = cell(random, entry.getKey(), wanted);
      if (cell.length <= room) {
        full += cell.length == free + length(entry.getKey()) ? 1 : 0;
        PageOps.replace(record, SlottedSearch.search(page, entry.getKey()), cell);
        putNew(entry.getKey(), cell);
      }
    } else if (what == 18 && random.nextBoolean()) {
      rebuild(random);
    } else if (what < 19 || model.size() < 2) {
      byte[] key = any(random).getKey();
      PageOps.remove(record, SlottedSearch.search(page, key));
      model.remove(key);
      formers.remove(key);
      stored.remove(key);
    } else {
      int count = 1 + random.nextInt(model.size() - 1);
      byte[] key = new ArrayList<>(model.keySet()).get(count);
      int least = Arrays.mismatch(model.lowerKey(key), key) + 1;
      byte[] fence = Arrays.copyOf(key, least + random.nextInt(key.length - least + 1));
      PageOps.keepLeft(record, count, fence);
      model.tailMap(key, true).clear();
      formers.tailMap(key, true).clear();
      stored.tailMap(key, true).clear();
      upper = fence;
      lengthened += prefix() > Slotted.prefix(page) ? 1 : 0;
    }
  }

  /** The page anew, between fences that lie further apart or nearer, as merge and split do. */
  private void rebuild(Random random) {
    byte[] from = lower;
    byte[] to = upper;
    if (random.nextBoolean()) {
      from = Arrays.copyOf(lower, random.nextInt(lower.length + 1));
    } else if (!model.isEmpty()) {
      from = model.firstKey();
    }
    if (random.nextBoolean()) {
      to = new byte[0];
    } else if (!model.isEmpty() && model.lastKey().length < LeafCell.MAX_KEY) {
      to = Arrays.copyOf(model.lastKey(), model.lastKey().length + 1);
    }
    boolean later = to.length > 0 && random.nextBoolean();
    int grows = (prefix() - prefix(from, later ? new byte[0] : to)) * model.size();
    int more = from.length + to.length - lower.length - upper.length;
    if (grows + more > Slotted.free(page)) {
      return;
    }
    SlottedBuilder builder = new SlottedBuilder();
    builder.begin(leaf ? 0 : 1, 7, from, later || to.length == 0 ? null : to);
    if (leaf) {
      builder.inherit(page);
    }
    builder.append(page, 0, Slotted.count(page));
    if (later) {
      builder.upperFence(to);
    }
    rebuilt += grows > 0 ? 1 : 0;
    lengthened += prefix(from, to) > prefix() ? 1 : 0;
    PageOps.image(record, builder);
    lower = from;
    upper = to;
  }

  /** Bytes that the cells have to lack. */
  private int prefix() {
    return prefix(lower, upper);
  }

  private static int prefix(byte[] lower, byte[] upper) {
    int limit = Math.min(Slotted.MAX_PREFIX, Math.min(lower.length, upper.length));
    int differ = Arrays.mismatch(lower, 0, limit, upper, 0, limit);
    return differ < 0 ? limit : differ;
  }

  /** Bytes of a row as they count on the page, except the omitted prefix. */
  private int length(byte[] key) {
    byte[] record = stored.get(key);
    return model.get(key).length + (record == null ? 0 : 2 + record.length);
  }

  /** A cell as it has to be on the page: without the prefix. */
  private byte[] onPage(byte[] cell) {
    int prefix = prefix();
    int key = leaf ? LeafCell.KEY : InnerCell.keyOffset(0);
    byte[] stored = new byte[cell.length - prefix];
    System.arraycopy(cell, 0, stored, 0, key);
    System.arraycopy(cell, key + prefix, stored, key, stored.length - key);
    int at = leaf ? LeafCell.KEY_LENGTH : InnerCell.KEY_LENGTH;
    LittleEndian.putShort(stored, at, LittleEndian.getShort(cell, at) - prefix);
    return stored;
  }

  /** What all keys begin with, and then bytes that are lower, or higher, than those of most. */
  private byte[] fence(Random random, byte then) {
    int more = random.nextInt(3) == 0 ? LeafCell.MAX_KEY - shared : 1 + random.nextInt(50);
    byte[] fence = Arrays.copyOf(beginning, shared + more);
    Arrays.fill(fence, shared, fence.length, then);
    return fence;
  }

  /** Often one that begins as the others do, so that heads are behind many equal bytes. */
  private byte[] key(Random random, int length) {
    int enough = Math.max(length, shared + 1 + random.nextInt(8));
    while (true) {
      byte[] key = anyKey(random, enough);
      if (Arrays.compareUnsigned(lower, key) <= 0
          && (upper.length == 0 || Arrays.compareUnsigned(key, upper) < 0)) {
        return key;
      }
      if (random.nextInt(20) == 0) {
        // Between a lower fence and itself with a byte more, there is next to nothing.
        return Arrays.copyOf(lower, Math.max(1, lower.length));
      }
    }
  }

  private byte[] anyKey(Random random, int length) {
    byte[] key = bytes(random, length);
    System.arraycopy(beginning, 0, key, 0, Math.min(common, Math.max(0, length - 1)));
    if (random.nextInt(50) == 0) {
      key[random.nextInt(length)]++;
    }
    for (int i = common; i < length; i++) {
      key[i] &= 3; // and equal heads
    }
    return key;
  }

  /** Where keys belong that are not there, shorter and longer ones than those that are. */
  private void absent(Random random) {
    byte[] key = anyKey(random, 1 + random.nextInt(60));
    if (!model.isEmpty() && random.nextBoolean()) {
      byte[] near = any(random).getKey();
      key = Arrays.copyOf(near, 1 + random.nextInt(near.length + 3));
      if (random.nextBoolean()) {
        key[random.nextInt(key.length)] += (byte) (random.nextBoolean() ? 1 : -1);
      }
    }
    if (!model.containsKey(key)) {
      assertEquals(-model.headMap(key).size() - 1, SlottedSearch.search(page, key));
      if (leaf) {
        int alike = SlottedSearch.searchHeads(page, 0, key);
        assertTrue(alike < 0 || !SlottedSearch.isKey(page, 0, alike, key));
      }
    }
    assertEquals(null, SlottedSearch.problemOfHeads(page));
    if (leaf) {
      group(random);
    }
  }

  /** Some keys that the leaf has, and others; those from some key on are not below the fence. */
  private void group(Random random) {
    TreeMap<byte[], Integer> expected = new TreeMap<>(Arrays::compareUnsigned);
    int count = 1 + random.nextInt(20);
    while (expected.size() < count) {
      byte[] key =
          random.nextInt(8) == 0
              ? anyKey(random, 1 + random.nextInt(60))
              : random.nextInt(3) == 0 || model.isEmpty()
                  ? key(random, 1 + random.nextInt(60))
                  : any(random).getKey();
      if (Arrays.compareUnsigned(lower, key) <= 0 && key.length > 0) {
        expected.put(key, SlottedSearch.search(page, key));
      }
      count = random.nextInt(10) == 0 ? expected.size() : count; // there may be only one
    }
    KeyBuffer keys = new KeyBuffer();
    List<byte[]> sorted = List.copyOf(expected.keySet());
    sorted.forEach(key -> keys.add(key, 0, key.length));
    keys.sort();
    int[] alike = new int[sorted.size()];
    int end = SlottedSearch.searchGroup(page, 0, keys, null, 0, alike.length, alike);
    int next = 0;
    for (int i = 0; i < end; i++) {
      int slot =
          alike[i] < 0
              ? alike[i]
              : SlottedSearch.searchAlike(
                  page,
                  0,
                  Slotted.count(page),
                  Slotted.prefix(page),
                  Slotted.skip(page),
                  keys.bytes(),
                  keys.start(i),
                  keys.end(i),
                  Math.max(alike[i], next));
      assertEquals(expected.get(sorted.get(i)), slot);
      next = slot < 0 ? next : slot;
    }
    for (int i = 1; i < sorted.size(); i++) {
      boolean isBehind = upper.length > 0 && Arrays.compareUnsigned(sorted.get(i), upper) >= 0;
      assertEquals(
          isBehind, !SlottedSearch.isBelowEnd(page, 0, keys.bytes(), keys.start(i), keys.end(i)));
      // With the head of the last slot, it may belong behind that slot: that is seen in the cell.
      assertTrue(isBehind == i >= end || isBehind && alike[i] >= 0, "the end of the group");
    }
  }

  /** A new version of a row, or the former one taken away. */
  private void update(Random random, int free) {
    byte[] key = any(random).getKey();
    int length = length(key);
    int slot = SlottedSearch.search(page, key);
    int cell = Slotted.cell(page, slot);
    int current = LeafCell.currentFlags(page, cell);
    boolean predecessor = LeafCell.is(page, cell, LeafCell.PREDECESSOR);
    if (random.nextInt(6) == 0) {
      PageOps.settle(record, slot);
      put(key, LeafCell.build(key, current, LeafCell.writer(page, cell), value(cell)));
      formers.remove(key);
      stored.remove(key);
      return;
    }
    if (predecessor && random.nextInt(3) == 0) {
      PageOps.revert(record, slot);
      stored.remove(key);
      put(
          key,
          LeafCell.build(
              key,
              LeafCell.predecessorFlags(page, cell),
              LeafCell.predecessorWriter(page, cell),
              formers.remove(key)));
      return;
    }
    int keep = random.nextInt(3);
    int flags = random.nextInt(8) == 0 ? LeafCell.OVERFLOW : 0;
    int prefix = prefix(); // the page counts without it
    int rest =
        prefix
            + LeafCell.updatedLength(page, cell, keep, flags, new byte[0], ValueDiff.NONE, scratch);
    int room = Math.min(LeafCell.MAX_CELL, free + length) - rest;
    if (room < 0) {
      return;
    }
    byte[] now = value(cell);
    byte[] value =
        switch (random.nextInt(8)) {
          case 0 -> bytes(random, room);
          case 1 -> bytes(random, random.nextInt(room + 1));
          case 2 -> bytes(random, now.length);
          case 3, 4 -> Edits.edited(random, now);
          default -> Edits.edited(random, predecessor ? formers.get(key) : now);
        };
    long writer = random.nextInt(1000);
    int diff = LeafCell.diff(page, cell, flags, value);
    int made = prefix + LeafCell.updatedLength(page, cell, keep, flags, value, diff, scratch);
    if (made > free + length || made > LeafCell.MAX_CELL) {
      return;
    }
    full += made == free + length ? 1 : 0;
    if (diff == ValueDiff.NONE) {
      PageOps.update(record, slot, flags, keep, writer, value);
    } else {
      PageOps.change(record, slot, keep, writer, value, diff);
    }
    if (keep != PageOps.REPLACE) {
      boolean forAll = keep == PageOps.KEEP_FOR_ALL;
      long before = forAll ? 0 : LeafCell.writer(page, cell);
      row(key, flags, writer, value, current, forAll, before, now);
    } else if (predecessor) {
      row(
          key,
          flags,
          writer,
          value,
          LeafCell.predecessorFlags(page, cell),
          LeafCell.is(page, cell, LeafCell.PREDECESSOR_FOR_ALL),
          LeafCell.predecessorWriter(page, cell),
          formers.get(key));
    } else {
      put(key, LeafCell.build(key, flags, writer, value));
    }
    assertEquals(length(key), made);
  }

  private byte[] value(int cell) {
    return LeafCell.value(page, cell);
  }

  /** What a row with a predecessor has to be, byte by byte as docs/format.md has it. */
  private void row(
      byte[] key,
      int flags,
      long writer,
      byte[] value,
      int formerFlags,
      boolean forAll,
      long formerWriter,
      byte[] former) {
    int limit = Math.min(value.length, former.length);
    int begin = 0;
    while (begin < limit && value[begin] == former[begin]) {
      begin++;
    }
    int end = 0;
    while (end < limit - begin
        && value[value.length - 1 - end] == former[former.length - 1 - end]) {
      end++;
    }
    boolean asDiff = begin + end >= 16 && flags == 0 && formerFlags == 0;
    diffs += asDiff ? 1 : 0;
    byte[] bytes = former;
    if (asDiff) {
      boolean sameLength = former.length == value.length;
      int lengths = sameLength ? 2 : 4;
      bytes = new byte[lengths + former.length - begin - end];
      LittleEndian.putShort(bytes, 0, sameLength ? begin : begin | 0x8000);
      if (!sameLength) {
        LittleEndian.putShort(bytes, 2, end);
      }
      System.arraycopy(former, begin, bytes, lengths, bytes.length - lengths);
    }
    int header = forAll ? 0 : 8;
    byte[] behindHead = new byte[header + bytes.length];
    if (!forAll) {
      LittleEndian.putLong(behindHead, 0, formerWriter);
    }
    System.arraycopy(bytes, 0, behindHead, header, bytes.length);
    byte[] cell = LeafCell.build(key, flags, writer, value);
    cell[2] = (byte) (flags | 4 | formerFlags << 3 | (asDiff ? 32 : 0) | (forAll ? 64 : 0));
    put(key, cell);
    formers.put(key, former);
    stored.put(key, behindHead);
  }

  private Map.Entry<byte[], byte[]> any(Random random) {
    return new ArrayList<>(model.entrySet()).get(random.nextInt(model.size()));
  }

  /** A cell of this length, if the key lets it be so short. */
  private byte[] cell(Random random, byte[] key, int length) {
    if (!leaf) {
      return InnerCell.build(key, random.nextInt());
    }
    int value = Math.max(0, length - 16 - key.length);
    int flags = random.nextInt(8) == 0 ? LeafCell.DELETED : 0;
    return LeafCell.build(key, flags, random.nextInt(1000), bytes(random, value));
  }

  /** A cell that comes as a whole. */
  private void putNew(byte[] key, byte[] cell) {
    put(key, cell);
    formers.remove(key);
    stored.remove(key);
  }

  private void put(byte[] key, byte[] cell) {
    model.put(key, cell);
    if (leaf) {
      maxWriter = Math.max(maxWriter, LittleEndian.getLong(cell, LeafCell.WRITER));
    }
  }

  private static byte[] bytes(Random random, int length) {
    byte[] bytes = new byte[length];
    random.nextBytes(bytes);
    return bytes;
  }

  private void check() {
    int used = 0;
    int slot = 0;
    assertEquals(model.size(), Slotted.count(page));
    for (Map.Entry<byte[], byte[]> entry : model.entrySet()) {
      byte[] cell = onPage(entry.getValue());
      byte[] behindHead = stored.get(entry.getKey());
      int bytes = length(entry.getKey()) - prefix();
      used += bytes + slotSize;
      assertEquals(bytes, Slotted.length(page, slot));
      int at = Slotted.cell(page, slot);
      byte[] found = Page.bytes(page, at, cell.length);
      if (behindHead != null) {
        int record = LittleEndian.getShort(found, 6);
        assertEquals(2 + behindHead.length, Page.getShort(page, record) & 0xFFF);
        assertArrayEquals(behindHead, Page.bytes(page, record + 2, behindHead.length));
        assertArrayEquals(formers.get(entry.getKey()), LeafCell.predecessor(page, at));
        LittleEndian.putShort(found, 6, 0);
      }
      assertArrayEquals(cell, found);
      assertArrayEquals(entry.getKey(), Slotted.key(page, slot));
      assertEquals(slot, SlottedSearch.search(page, entry.getKey()));
      slot++;
    }
    assertEquals(null, PageStructure.problemBeforeChange(9, page));
    assertEquals(used, Slotted.used(page));
    assertEquals(prefix(), Slotted.prefix(page));
    assertEquals(
        Page.SIZE - Slotted.SLOTS - lower.length - upper.length - used, Slotted.free(page));
    assertArrayEquals(lower, Slotted.lowerFence(page));
    assertEquals(upper.length > 0, Slotted.hasUpperFence(page));
    if (upper.length > 0) {
      assertArrayEquals(upper, Slotted.upperFence(page));
    }
    if (leaf) {
      assertEquals(maxWriter, Slotted.maxWriter(page));
    }
  }
}

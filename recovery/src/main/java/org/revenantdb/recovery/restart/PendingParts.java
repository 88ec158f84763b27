package org.revenantdb.recovery.restart;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.revenantdb.recovery.format.LogRecordLayout;

/**
 * For each page the parts of the log that it may lack, in LSN order, by their place in the log.
 *
 * <p>Analysis builds it, in one pass. Afterwards pages are redone one by one, in any order and by
 * any thread, and each leaves it.
 *
 * <p>Memory: off heap, 16 bytes a part and 12 to 48 bytes a page, until the last page has left.
 *
 * <p>Threads: one while it is built. After that any number, several at once; {@link #replay} and
 * {@link #done} of a page are called by one thread at a time, which has the page latched.
 */
public final class PendingParts implements AutoCloseable {
  /*
   * Source      docs/protocols.md §44, "Pending parts".
   *
   * Table       open addressing, at most two thirds full, never smaller again. A slot is page + 1, first part, last
   *             part; parts are numbers + 1, so that 0 is "none". A page whose list is empty keeps its slot.
   * Parts       in chunks, numbered; 16 bytes: start of the record; its length / 8 - 1, whether the part is FORMAT, and
   *             its place in the record (14 bits, 1, 17); next part of the page. Those of emptied lists are used again
   *             while the table is built.
   *
   * Afterwards  nothing changes but `first` of a slot, from not 0 to 0, by the thread that has the page latched
   *             exclusively (done), and after it the numbers of pages: of those whose first part is in a segment, and of
   *             all that are left. They only fall.
   * Ordering    done() is a volatile write of `first`, then two atomic decrements. So whoever reads a number as 0 sees
   *             all that was done before each done(): each redone frame is marked dirty, with the start of its first
   *             part. oldestLsn() passes a segment only when its number is 0: what has left it is dirty, or written.
   *             A page that has left is looked up by a volatile read, and its frame by its latch.
   */
  private static final int SLOT = 12;
  private static final int PAGE = 0;
  private static final int FIRST = 4;
  private static final int LAST = 8;
  private static final int SMALLEST = 256;

  private static final int PART = 16;
  private static final int PLACE = 0;
  private static final int DETAIL = 8;
  private static final int NEXT = 12;
  private static final int CHUNK_SHIFT = 16;
  private static final int CHUNK = 1 << CHUNK_SHIFT;

  private static final int FORMAT = 1 << 17;
  private static final int LENGTH_SHIFT = 18;

  private static final VarHandle INT = ValueLayout.JAVA_INT.varHandle();

  private final RecordFetch records;
  private final AtomicInteger left = new AtomicInteger();
  private volatile MemorySegment table = allocate((long) SMALLEST * SLOT);
  private volatile MemorySegment[] chunks = new MemorySegment[4];
  private long[] segments = new long[0];

  /** For each segment where the first part begins that a page may lack; a record begins there. */
  private long[] lowest = new long[0];

  private AtomicIntegerArray pagesOfSegment = new AtomicIntegerArray(0);
  private int slots = SMALLEST;
  private int used;
  private int parts;
  private int free;

  /**
   * Without a page.
   *
   * @param records reads the log again when a page is redone
   */
  PendingParts(RecordFetch records) {
    this.records = records;
  }

  // ---- while it is built

  /**
   * A part may be missing on its page.
   *
   * @param start where its record begins, and {@code length} how long that is
   * @param at where the part's header is, from the start of the record
   */
  void change(int page, long start, int length, int at) {
    add(page, start, detail(length, at));
  }

  /** A part builds its page from nothing: what was before it does not matter (R12). */
  void format(int page, long start, int length, int at) {
    clear(page);
    add(page, start, detail(length, at) | FORMAT);
  }

  /** A page was given back: nothing that was before it matters (R12). */
  void free(int page) {
    clear(page);
  }

  /** The data file has what the records up to an LSN have changed on a page. */
  void flushed(int page, long lsn) {
    long slot = slotOf(page);
    int first = table.get(ValueLayout.JAVA_INT, slot + FIRST);
    while (first != 0 && lsn(first) <= lsn) {
      int next = next(first);
      giveBack(first);
      first = next;
    }
    setFirst(slot, first);
  }

  private static int detail(int length, int at) {
    return (length / LogRecordLayout.ALIGNMENT - 1) << LENGTH_SHIFT | at;
  }

  private void add(int page, long start, int detail) {
    long slot = slotOf(page);
    if (table.get(ValueLayout.JAVA_INT, slot + PAGE) == 0) {
      if (++used * 3L > slots * 2L) {
        grow();
        slot = slotOf(page);
      }
      table.set(ValueLayout.JAVA_INT, slot + PAGE, page + 1);
    }
    int part = newPart();
    MemorySegment chunk = chunkOf(part);
    long in = offsetOf(part);
    chunk.set(ValueLayout.JAVA_LONG, in + PLACE, start);
    chunk.set(ValueLayout.JAVA_INT, in + DETAIL, detail);
    chunk.set(ValueLayout.JAVA_INT, in + NEXT, 0);
    if (table.get(ValueLayout.JAVA_INT, slot + FIRST) == 0) {
      setFirst(slot, part);
    } else {
      int last = table.get(ValueLayout.JAVA_INT, slot + LAST);
      chunkOf(last).set(ValueLayout.JAVA_INT, offsetOf(last) + NEXT, part);
    }
    table.set(ValueLayout.JAVA_INT, slot + LAST, part);
  }

  private void clear(int page) {
    flushed(page, Long.MAX_VALUE);
  }

  private void setFirst(long slot, int part) {
    int before = table.get(ValueLayout.JAVA_INT, slot + FIRST);
    if (before == 0 && part != 0) {
      left.getAndIncrement();
    } else if (before != 0 && part == 0) {
      left.getAndDecrement();
    }
    table.set(ValueLayout.JAVA_INT, slot + FIRST, part);
  }

  private int newPart() {
    if (free != 0) {
      int part = free;
      free = next(part);
      return part;
    }
    int chunk = parts >>> CHUNK_SHIFT;
    if (chunk == chunks.length) {
      chunks = Arrays.copyOf(chunks, chunk * 2);
    }
    if ((parts & (CHUNK - 1)) == 0) {
      chunks[chunk] = allocate((long) CHUNK * PART);
    }
    return ++parts;
  }

  /** Is free again when nothing leads to it. */
  private static MemorySegment allocate(long bytes) {
    return Arena.ofAuto().allocate(bytes, Long.BYTES);
  }

  private void giveBack(int part) {
    chunkOf(part).set(ValueLayout.JAVA_INT, offsetOf(part) + NEXT, free);
    free = part;
  }

  private void grow() {
    MemorySegment old = table;
    int oldSlots = slots;
    slots = oldSlots * 2;
    table = allocate((long) slots * SLOT);
    for (int i = 0; i < oldSlots; i++) {
      int key = old.get(ValueLayout.JAVA_INT, (long) i * SLOT + PAGE);
      if (key != 0) {
        MemorySegment.copy(old, (long) i * SLOT, table, slotOf(key - 1), SLOT);
      }
    }
  }

  /**
   * It is complete: from now on any thread may use it.
   *
   * @param begins where the segments of the log begin, in ascending order
   */
  void complete(long[] begins) {
    if (left.get() == 0) {
      return;
    }
    segments = begins.clone();
    lowest = new long[begins.length];
    Arrays.fill(lowest, Long.MAX_VALUE);
    pagesOfSegment = new AtomicIntegerArray(begins.length);
    for (int page : pages()) {
      int segment = segmentOf(page);
      lowest[segment] = Math.min(lowest[segment], firstLsn(page));
      pagesOfSegment.getAndIncrement(segment);
    }
  }

  private int segmentOf(int page) {
    return segmentAt(firstLsn(page));
  }

  /** The last segment that begins at or below a position. */
  private int segmentAt(long lsn) {
    int found = Arrays.binarySearch(segments, lsn);
    return found >= 0 ? found : -found - 2;
  }

  // ---- afterwards

  /**
   * From where on the log is needed for pages that may lack something.
   *
   * @return where a record begins, at or below the start of each part that one of them may lack;
   *     {@link Long#MAX_VALUE} if there is none; it only rises
   */
  public long oldestLsn() {
    if (left.get() > 0) {
      AtomicIntegerArray counts = pagesOfSegment;
      for (int i = 0; i < counts.length(); i++) {
        if (counts.get(i) > 0) {
          return lowest[i];
        }
      }
    }
    return Long.MAX_VALUE;
  }

  /**
   * Where the first part begins that a page may lack.
   *
   * @param page one that is pending
   * @return the start of its record
   */
  public long firstLsn(int page) {
    return start(first(page));
  }

  /**
   * How many pages may lack something.
   *
   * @return the number now; it only falls
   */
  public int left() {
    return left.get();
  }

  /**
   * How much memory it takes.
   *
   * @return bytes, off heap
   */
  public long bytes() {
    return (long) slots * SLOT + (long) ((parts + CHUNK - 1) >>> CHUNK_SHIFT) * CHUNK * PART;
  }

  /**
   * Whether a page may lack something.
   *
   * @param page any number
   * @return false once it is {@link #done}
   */
  public boolean isPending(int page) {
    return first(page) != 0;
  }

  /**
   * Whether the log can build a page, so that it need not be read.
   *
   * @param page one that is pending
   * @return whether its first part is FORMAT
   */
  public boolean beginsWithFormat(int page) {
    return (detail(first(page)) & FORMAT) != 0;
  }

  /**
   * The LSN that a page has when nothing is missing.
   *
   * @param page one that is pending
   * @return the LSN of its last part
   */
  public long lastLsn(int page) {
    return lsn(table.get(ValueLayout.JAVA_INT, slotOf(page) + LAST));
  }

  /**
   * Hands the parts of a page to a target, in LSN order.
   *
   * @param page one that is pending
   * @param target applies them
   * @throws org.revenantdb.recovery.file.StorageException if the log cannot be read any more as
   *     analysis has read it
   */
  public void replay(int page, RedoTarget target) {
    RecordFetch.Window window = records.window();
    for (int part = first(page); part != 0; part = next(part)) {
      int detail = detail(part);
      int next = next(part);
      long end = next == 0 ? lsn(part) : lsn(next);
      window.handOut(start(part), length(detail), end, detail & (FORMAT - 1), page, target);
    }
  }

  /**
   * Says that a page lacks nothing any more, or that nobody needs what it lacks. Who asks a
   * checkpoint for its redo point must see by then that the page is dirty, or noted as refused.
   *
   * @param page any number
   */
  public void done(int page) {
    if (!isPending(page)) {
      return;
    }
    int segment = segmentOf(page);
    INT.setVolatile(table, slotOf(page) + FIRST, 0);
    pagesOfSegment.getAndDecrement(segment);
    left.getAndDecrement();
  }

  /**
   * The pages that may lack something.
   *
   * @return those of now; first those whose first part is in the lowest segment, so that the redo
   *     point can follow, and of each segment in ascending order
   */
  public int[] pages() {
    int[] found = new int[left.get()];
    int count = 0;
    for (int i = 0; i < slots && count < found.length; i++) {
      long slot = (long) i * SLOT;
      if ((int) INT.getVolatile(table, slot + FIRST) != 0) {
        found[count++] = table.get(ValueLayout.JAVA_INT, slot + PAGE) - 1;
      }
    }
    int[] pages = Arrays.copyOf(found, count);
    Arrays.sort(pages);
    return pagesOfSegment.length() < 2 ? pages : bySegment(pages);
  }

  private int[] bySegment(int[] pages) {
    int[] segments = new int[pages.length];
    int[] next = new int[pagesOfSegment.length() + 1];
    for (int i = 0; i < pages.length; i++) {
      int first = first(pages[i]); // it may have left by now
      segments[i] = first == 0 ? 0 : segmentAt(start(first));
      next[segments[i] + 1]++;
    }
    for (int i = 1; i < next.length; i++) {
      next[i] += next[i - 1];
    }
    int[] ordered = new int[pages.length];
    for (int i = 0; i < pages.length; i++) {
      ordered[next[segments[i]]++] = pages[i];
    }
    return ordered;
  }

  /** Closes the log files; nobody replays any more. If nothing is pending its memory is free. */
  @Override
  public void close() {
    records.close();
    if (left.get() == 0) {
      chunks = new MemorySegment[0];
      table = MemorySegment.NULL;
    }
  }

  // ---- layout

  private int first(int page) {
    MemorySegment there = table; // it goes when nothing is left, and others may be looking
    return there.byteSize() == 0 ? 0 : (int) INT.getVolatile(there, slotOf(there, page) + FIRST);
  }

  /** The slot of a page, or the free one where it would be. */
  private long slotOf(int page) {
    return slotOf(table, page);
  }

  private long slotOf(MemorySegment in, int page) {
    int key = page + 1;
    int index = ((page * 0x9E3779B9) >>> 4) & (slots - 1);
    while (true) {
      long slot = (long) index * SLOT;
      int there = in.get(ValueLayout.JAVA_INT, slot + PAGE);
      if (there == key || there == 0) {
        return slot;
      }
      index = (index + 1) & (slots - 1);
    }
  }

  private MemorySegment chunkOf(int part) {
    return chunks[(part - 1) >>> CHUNK_SHIFT];
  }

  private static long offsetOf(int part) {
    return (long) ((part - 1) & (CHUNK - 1)) * PART;
  }

  private int next(int part) {
    return chunkOf(part).get(ValueLayout.JAVA_INT, offsetOf(part) + NEXT);
  }

  private int detail(int part) {
    return chunkOf(part).get(ValueLayout.JAVA_INT, offsetOf(part) + DETAIL);
  }

  private long start(int part) {
    return chunkOf(part).get(ValueLayout.JAVA_LONG, offsetOf(part) + PLACE);
  }

  private long lsn(int part) {
    return start(part) + length(detail(part));
  }

  private static int length(int detail) {
    return ((detail >>> LENGTH_SHIFT) + 1) * LogRecordLayout.ALIGNMENT;
  }
}

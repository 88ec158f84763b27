package org.revenantdb.recovery.restart;

import java.lang.invoke.MethodHandles;
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
 * <p>Memory: 16 bytes a part and 18 to 36 bytes a page, until the last page has left. It is plain
 * arrays: an open runs in a JVM that has compiled nothing yet, and there the access to memory
 * segments takes ten times as long.
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
   * Parts       in chunks, numbered; two longs: start of the record; its length / 8 - 1, whether the part is FORMAT, its
   *             place in the record, and the next part of the page (14 bits, 1, 17, 32). Those of emptied lists are used
   *             again while the table is built.
   *
   * Afterwards  nothing changes but `first` of a slot, from not 0 to 0, by the thread that has the page latched
   *             exclusively (done), and after it the numbers of pages: of those whose first part is in a segment, and of
   *             all that are left. They only fall.
   * Ordering    done() is a volatile write of `first`, then two atomic decrements. So whoever reads a number as 0 sees
   *             all that was done before each done(): each redone frame is marked dirty, with the start of its first
   *             part. oldestLsn() passes a segment only when its number is 0: what has left it is dirty, or written.
   *             A page that has left is looked up by a volatile read, and its frame by its latch.
   */
  private static final int SLOT = 3;
  private static final int PAGE = 0;
  private static final int FIRST = 1;
  private static final int LAST = 2;
  private static final int SMALLEST = 256;

  private static final int PART = 2;
  private static final int CHUNK_SHIFT = 14;
  private static final int CHUNK = 1 << CHUNK_SHIFT;
  private static final long NEXT = 0xffff_ffffL;

  private static final int FORMAT = 1 << 17;
  private static final int LENGTH_SHIFT = 18;

  private static final VarHandle INT = MethodHandles.arrayElementVarHandle(int[].class);
  private static final int[] EMPTY = new int[0];

  private final RecordFetch records;
  private final AtomicInteger left = new AtomicInteger();
  private volatile int[] table = new int[SMALLEST * SLOT];
  private volatile long[][] chunks = new long[4][];
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
    int[] in = table;
    int slot = slotOf(in, page);
    int before = in[slot + FIRST];
    int first = before;
    while (first != 0 && lsn(first) <= lsn) {
      int next = next(first);
      giveBack(first);
      first = next;
    }
    if (first != before) {
      setFirst(in, slot, first);
    }
  }

  private static int detail(int length, int at) {
    return (length / LogRecordLayout.ALIGNMENT - 1) << LENGTH_SHIFT | at;
  }

  private void add(int page, long start, int detail) {
    int[] in = table;
    int slot = slotOf(in, page);
    if (in[slot + PAGE] == 0) {
      if (++used * 3L > slots * 2L) {
        grow();
        in = table;
        slot = slotOf(in, page);
      }
      in[slot + PAGE] = page + 1;
    }
    int part = newPart();
    long[] chunk = chunkOf(part);
    int at = indexOf(part);
    chunk[at] = start;
    chunk[at + 1] = (long) detail << Integer.SIZE;
    if (in[slot + FIRST] == 0) {
      setFirst(in, slot, part);
    } else {
      int last = in[slot + LAST];
      chunkOf(last)[indexOf(last) + 1] |= part;
    }
    in[slot + LAST] = part;
  }

  private void clear(int page) {
    flushed(page, Long.MAX_VALUE);
  }

  private void setFirst(int[] in, int slot, int part) {
    int before = in[slot + FIRST];
    if (before == 0 && part != 0) {
      left.getAndIncrement();
    } else if (before != 0 && part == 0) {
      left.getAndDecrement();
    }
    in[slot + FIRST] = part;
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
      chunks[chunk] = new long[CHUNK * PART];
    }
    return ++parts;
  }

  private void giveBack(int part) {
    chunkOf(part)[indexOf(part) + 1] = free;
    free = part;
  }

  private void grow() {
    int[] old = table;
    if (slots >= Integer.MAX_VALUE / (2 * SLOT)) {
      throw new OutOfMemoryError("the log names too many pages");
    }
    slots *= 2;
    int[] larger = new int[slots * SLOT];
    for (int i = 0; i < old.length; i += SLOT) {
      if (old[i + PAGE] != 0) {
        System.arraycopy(old, i, larger, slotOf(larger, old[i + PAGE] - 1), SLOT);
      }
    }
    table = larger;
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
    int[] counts = new int[begins.length];
    int[] in = table;
    for (int i = FIRST; i < in.length; i += SLOT) {
      if (in[i] != 0) {
        long start = start(in[i]);
        int segment = segmentAt(start);
        lowest[segment] = Math.min(lowest[segment], start);
        counts[segment]++;
      }
    }
    pagesOfSegment = new AtomicIntegerArray(counts);
    leave(new int[SLOT], 0, new AtomicIntegerArray(1), 0, new AtomicInteger());
  }

  private int segmentOf(int page) {
    return segmentAt(firstLsn(page));
  }

  private int segmentAt(long lsn) {
    return Begins.lastAtOrBelow(segments, lsn);
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
   * @return bytes
   */
  public long bytes() {
    return (long) slots * SLOT * Integer.BYTES
        + (long) ((parts + CHUNK - 1) >>> CHUNK_SHIFT) * CHUNK * PART * Long.BYTES;
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
    int[] in = table;
    return lsn(in[slotOf(in, page) + LAST]);
  }

  /**
   * Maps the log that {@link #replay} needs, if the file system can. To be called once, before any
   * page is replayed, by a thread that nobody interrupts, and only when the tail of the log was
   * copied: replay reads what is mapped.
   */
  public void map() {
    int[] in = table;
    long first = Long.MAX_VALUE;
    long last = 0;
    for (int i = 0; i < in.length; i += SLOT) {
      if (in[i + FIRST] != 0) {
        first = Math.min(first, start(in[i + FIRST]));
        last = Math.max(last, lsn(in[i + LAST]) - 1);
      }
    }
    if (last > 0) {
      records.map(first, last);
    }
  }

  /**
   * Whether {@link #replay} finds the log in memory.
   *
   * @return false if it has to read files for each page
   */
  public boolean isMapped() {
    return records.isMapped();
  }

  /**
   * Hands the parts of a page to a target, in LSN order.
   *
   * @param page one that is pending
   * @param fromFiles whether files may be read: only by a thread that nobody interrupts
   * @param target applies them
   * @return whether it was given all of them; false only if files may not be read
   * @throws org.revenantdb.recovery.file.StorageException if the log cannot be read any more as
   *     analysis has read it
   */
  public boolean replay(int page, boolean fromFiles, RedoTarget target) {
    RecordFetch.Window window = records.window(fromFiles);
    for (int part = first(page); part != 0; part = next(part)) {
      int detail = detail(part);
      int next = next(part);
      long end = next == 0 ? lsn(part) : lsn(next);
      boolean handedOut =
          window.handOut(start(part), length(detail), end, detail & (FORMAT - 1), page, target);
      if (!handedOut) {
        return false;
      }
    }
    return true;
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
    int[] in = table;
    leave(in, slotOf(in, page), pagesOfSegment, segmentOf(page), left);
  }

  /**
   * The JVM links each access at its first use, and that allocates. An error between two of them
   * would lose a page that was redone: so {@link #complete} makes all of them once.
   */
  private static void leave(
      int[] in, int slot, AtomicIntegerArray counts, int segment, AtomicInteger left) {
    INT.setVolatile(in, slot + FIRST, 0);
    counts.getAndDecrement(segment);
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
    int[] in = table;
    for (int i = 0; i < in.length && count < found.length; i += SLOT) {
      if ((int) INT.getVolatile(in, i + FIRST) != 0) {
        found[count++] = in[i + PAGE] - 1;
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
      chunks = new long[0][];
      table = EMPTY;
    }
  }

  // ---- layout

  private int first(int page) {
    int[] in = table; // it goes when nothing is left, and others may be looking
    return in.length == 0 ? 0 : (int) INT.getVolatile(in, slotOf(in, page) + FIRST);
  }

  /** Where the slot of a page is in a table, or the free one that it would have. */
  private static int slotOf(int[] in, int page) {
    int key = page + 1;
    int slots = in.length / SLOT;
    int index = ((page * 0x9E3779B9) >>> 4) & (slots - 1);
    while (true) {
      int slot = index * SLOT;
      int there = in[slot + PAGE];
      if (there == key || there == 0) {
        return slot;
      }
      index = (index + 1) & (slots - 1);
    }
  }

  private long[] chunkOf(int part) {
    return chunks[(part - 1) >>> CHUNK_SHIFT];
  }

  private static int indexOf(int part) {
    return ((part - 1) & (CHUNK - 1)) * PART;
  }

  private int next(int part) {
    return (int) (chunkOf(part)[indexOf(part) + 1] & NEXT);
  }

  private int detail(int part) {
    return (int) (chunkOf(part)[indexOf(part) + 1] >>> Integer.SIZE);
  }

  private long start(int part) {
    return chunkOf(part)[indexOf(part)];
  }

  private long lsn(int part) {
    return start(part) + length(detail(part));
  }

  private static int length(int detail) {
    return ((detail >>> LENGTH_SHIFT) + 1) * LogRecordLayout.ALIGNMENT;
  }
}

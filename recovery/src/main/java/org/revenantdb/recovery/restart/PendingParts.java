package org.revenantdb.recovery.restart;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.revenantdb.recovery.format.LogRecordLayout;

/**
 * The positions of the log parts that each page may lack, in LSN order.
 *
 * <p>Analysis builds it, in one pass. Afterwards pages are redone one by one, in any order and by
 * any thread. A redone page leaves it.
 *
 * <p>Memory: 16 bytes a part and 18 to 36 bytes a page, until the last page has left. The data is
 * in plain arrays: an open runs in a JVM that has compiled nothing yet, where an access to a memory
 * segment takes ten times as long.
 *
 * <p>Threads: one thread builds it. After that any number of threads use it at the same time. For
 * each page, {@link #replay} and {@link #done} are called only by the thread that has the page
 * latched.
 */
public final class PendingParts implements AutoCloseable {
  /*
   * Source      docs/protocols.md §44, "Pending parts".
   *
   * Table       Open addressing, at most two thirds full; it never shrinks. A slot is page + 1, first part, last part.
   *             Parts are stored as number + 1, so that 0 is "none". A page whose list is empty keeps its slot.
   * Parts       They are numbered, in chunks, and have two longs: start of the record; its length / 8 - 1, whether the
   *             part is FORMAT, its place in the record, and the former part of the page (14 bits, 1, 17, 32). The
   *             places of emptied lists are used again while the table is built. A part names the one before it, not
   *             the one behind it: so a new part is written at the end of a chunk only, and the older parts of its
   *             page, which lie anywhere, are not touched.
   *
   * Batch       Changes are added in batches, by a short loop: so the processor fetches the slots of several pages at the
   *             same time. One by one, between the work for other fields of a record, each of a million parts would
   *             wait for its slot. Everything else that the table is asked, or told, comes after the batch (settle).
   *
   * Afterwards  Only `first` of a slot changes, from not 0 to 0, by the thread that has the page latched exclusively
   *             (done). After that the counts of pages change: the count for the segment of the page's first part, and
   *             the count of all pages left. They only fall.
   * Ordering    done() is a volatile write of `first`, then two atomic decrements. So a thread that reads a count as 0
   *             sees everything that was done before each done(): each redone frame is marked dirty, with the start of
   *             its first part. oldestLsn() passes a segment only when its count is 0: the pages that have left it are
   *             dirty, or written. A page that has left is looked up by a volatile read, and its frame by its latch.
   */
  private static final int SLOT = 3;
  private static final int PAGE = 0;
  private static final int FIRST = 1;
  private static final int LAST = 2;
  private static final int SMALLEST = 256;

  private static final int PART = 2;
  private static final int CHUNK_SHIFT = 14;
  private static final int CHUNK = 1 << CHUNK_SHIFT;
  private static final long FORMER = 0xffff_ffffL;

  private static final int FORMAT = 1 << 17;
  private static final int LENGTH_SHIFT = 18;

  private static final VarHandle INT = MethodHandles.arrayElementVarHandle(int[].class);
  private static final int[] EMPTY = new int[0];
  private static final int BATCH = 256;

  private final RecordFetch records;
  private final AtomicInteger left = new AtomicInteger();
  private volatile int[] table = new int[SMALLEST * SLOT];
  private volatile long[][] chunks = new long[4][];
  private long[] segments = new long[0];

  /** For each segment the start of the first part that a page may lack: the start of a record. */
  private long[] lowest = new long[0];

  private AtomicIntegerArray pagesOfSegment = new AtomicIntegerArray(0);
  private int slots = SMALLEST;
  private int used;
  private int parts;
  private int free;

  /** The LSN of the part that was added last. */
  private long end;

  private final int[] batchPages = new int[BATCH];
  private final long[] batchStarts = new long[BATCH];
  private final int[] batchDetails = new int[BATCH];
  private int batched;

  /**
   * Creates it without pages.
   *
   * @param records reads the log again when a page is redone
   */
  PendingParts(RecordFetch records) {
    this.records = records;
  }

  // ---- while it is built

  /**
   * Adds a part that may be missing on its page.
   *
   * @param start where its record begins; {@code length} is the size of the record
   * @param at offset of the part's header in the record
   */
  void change(int page, long start, int length, int at) {
    if (batched == BATCH) {
      settle();
    }
    batchPages[batched] = page;
    batchStarts[batched] = start;
    batchDetails[batched] = detail(length, at);
    batched++;
  }

  /** Adds what is in the batch. */
  void settle() {
    int count = batched;
    batched = 0;
    for (int i = 0; i < count; i++) {
      add(batchPages[i], batchStarts[i], batchDetails[i]);
    }
  }

  /** Adds a part that builds its page from nothing: earlier parts do not matter (R12). */
  void format(int page, long start, int length, int at) {
    clear(page);
    add(page, start, detail(length, at) | FORMAT);
  }

  /** A page was freed: earlier parts do not matter (R12). */
  void free(int page) {
    clear(page);
  }

  /** The data file has all changes of a page up to an LSN. */
  void flushed(int page, long lsn) {
    settle();
    int[] in = table;
    int slot = slotOf(in, page);
    int first = in[slot + FIRST];
    if (first == 0 || lsn(first) > lsn) {
      return;
    }
    int kept = 0;
    int part = in[slot + LAST];
    while (part != 0 && lsn(part) > lsn) {
      kept = part;
      part = former(part);
    }
    if (kept != 0) {
      chunkOf(kept)[indexOf(kept) + 1] &= ~FORMER;
    }
    while (part != 0) {
      int former = former(part);
      giveBack(part);
      part = former;
    }
    setFirst(in, slot, kept);
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
    boolean isFirst = in[slot + FIRST] == 0;
    long[] chunk = chunkOf(part);
    int at = indexOf(part);
    chunk[at] = start;
    chunk[at + 1] = (long) detail << Integer.SIZE | (isFirst ? 0 : in[slot + LAST]);
    if (isFirst) {
      setFirst(in, slot, part);
    }
    in[slot + LAST] = part;
    end = lsn(part);
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
      free = former(part);
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
   * Completes it: from now on any thread may use it.
   *
   * @param begins where the segments of the log begin, in ascending order
   */
  void complete(long[] begins) {
    settle();
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
   * The position from which the log is needed for pending pages.
   *
   * @return the start of a record, at or below the start of each part that one of them may lack;
   *     {@link Long#MAX_VALUE} if no page is pending; it only rises
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
   * The start of the first part that a page may lack.
   *
   * @param page one that is pending
   * @return the start of its record
   */
  public long firstLsn(int page) {
    return start(first(page));
  }

  /**
   * The number of pages that may lack a part.
   *
   * @return the number now; it only falls
   */
  public int left() {
    return left.get();
  }

  /**
   * The memory that it takes.
   *
   * @return bytes
   */
  public long bytes() {
    return (long) slots * SLOT * Integer.BYTES
        + (long) ((parts + CHUNK - 1) >>> CHUNK_SHIFT) * CHUNK * PART * Long.BYTES;
  }

  /**
   * Whether a page may lack a part.
   *
   * @param page any number
   * @return false once it is {@link #done}
   */
  public boolean isPending(int page) {
    return first(page) != 0;
  }

  /**
   * Whether the log can build a page, so that the file need not be read.
   *
   * @param page one that is pending
   * @return whether its first part is FORMAT
   */
  public boolean beginsWithFormat(int page) {
    return (detail(first(page)) & FORMAT) != 0;
  }

  /**
   * The LSN that a page has after its redo.
   *
   * @param page one that is pending
   * @return the LSN of its last part
   */
  public long lastLsn(int page) {
    int[] in = table;
    return lsn(in[slotOf(in, page) + LAST]);
  }

  /**
   * Maps the log that {@link #replay} needs, if the file system can. Call it once, before any page
   * is replayed, on a thread that is never interrupted. The tail of the log must have been copied,
   * because replay reads the mapped files.
   */
  public void map() {
    long first = oldestLsn();
    if (first < end) {
      records.map(first, end - 1);
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
   * @param fromFiles whether files may be read: only on a thread that is never interrupted
   * @param target applies them
   * @return whether it has received all of them; false only if files may not be read
   * @throws org.revenantdb.recovery.file.FileException if the log cannot be read any more as
   *     analysis has read it
   */
  public boolean replay(int page, boolean fromFiles, RedoTarget target) {
    RecordFetch.Window window = records.window(fromFiles);
    int[] ordered = inOrder(page);
    for (int i = 0; i < ordered.length; i++) {
      int part = ordered[i];
      int detail = detail(part);
      long wanted = lsn(ordered[Math.min(i + 1, ordered.length - 1)]);
      boolean handedOut =
          window.handOut(start(part), length(detail), wanted, detail & (FORMAT - 1), page, target);
      if (!handedOut) {
        return false;
      }
    }
    return true;
  }

  /**
   * Ends the pending state of a page: it is redone, or its missing parts are not needed any more. A
   * checkpoint that computes its redo point later must see the page as dirty, or noted as refused.
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
   * The JVM links each access at its first use, and that allocates. An error between two accesses
   * would lose a page that was redone. So {@link #complete} makes all of them once.
   */
  private static void leave(
      int[] in, int slot, AtomicIntegerArray counts, int segment, AtomicInteger left) {
    INT.setVolatile(in, slot + FIRST, 0);
    counts.getAndDecrement(segment);
    left.getAndDecrement();
  }

  /**
   * The pages that may lack a part.
   *
   * @return the pages that are pending now; those whose first part is in the lowest segment come
   *     first, so that the redo point can follow; within a segment in ascending order
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

  /** Closes the log files; no page is replayed any more. Frees memory if no page is pending. */
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
    int[] in = table; // close() replaces it when no page is left, and others may be reading
    return in.length == 0 ? 0 : (int) INT.getVolatile(in, slotOf(in, page) + FIRST);
  }

  /** The slot of a page in a table, or the free slot that it would get. */
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

  /** The part of the same page that comes before a part; 0 for its first one. */
  private int former(int part) {
    return (int) (chunkOf(part)[indexOf(part) + 1] & FORMER);
  }

  /** The parts of a page, in LSN order. */
  private int[] inOrder(int page) {
    int[] in = table;
    int last = first(page) == 0 ? 0 : in[slotOf(in, page) + LAST];
    int count = 0;
    for (int part = last; part != 0; part = former(part)) {
      count++;
    }
    int[] ordered = new int[count];
    for (int part = last; part != 0; part = former(part)) {
      ordered[--count] = part;
    }
    return ordered;
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

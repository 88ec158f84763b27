package org.revenantdb.engine.overflow;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import org.revenantdb.engine.buffer.BufferPool;
import org.revenantdb.engine.change.MiniTransaction;
import org.revenantdb.engine.page.OverflowPage;
import org.revenantdb.engine.page.Page;
import org.revenantdb.engine.page.PageOps;
import org.revenantdb.engine.page.SharedValues;
import org.revenantdb.engine.page.SpaceMapPage;
import org.revenantdb.engine.page.ValueReference;
import org.revenantdb.engine.space.Allocator;
import org.revenantdb.engine.space.MapChanges;
import org.revenantdb.engine.space.RoomyPages;
import org.revenantdb.engine.space.VersionMarks;
import org.revenantdb.recovery.format.LittleEndian;
import org.revenantdb.recovery.log.RecordBuilder;
import org.revenantdb.recovery.log.RecoverySpace;

/**
 * Writes one large value.
 *
 * <p>Use {@link #writeWhole} for a value whose length is known and small enough to be an array;
 * else {@link #begin}, {@link #append} in chunks of {@link #CHUNK} bytes (only the last may be
 * shorter). A value that fits on a page shares it with others; any other value is a chain of pages.
 * The value belongs to the transaction from its first page on. At first the transaction is also its
 * superseder, and the record that enters the value in a row sets the superseder to 0. So a value
 * that never gets into a row is freed whether the transaction commits or aborts. For one thread at
 * a time.
 */
public final class OverflowWriter {
  /** The number of data pages that one record fills. */
  private static final int PAGES_PER_RECORD = 8;

  /** The number of bytes of each {@link #append} except the last. */
  public static final int CHUNK = PAGES_PER_RECORD * OverflowPage.CAPACITY;

  /** A value of known length with at most this many data pages keeps its beginning in the head. */
  private static final int MAX_PAGES_WITH_INLINE = 1024;

  private static final int CREDIT = 96 * 1024;

  /**
   * The number of pages that one record may change: data pages with a space map each, head, index
   * page and its map; and the pages that claiming all of these changes, which fill few extents.
   */
  private static final int PAGES = 2 * PAGES_PER_RECORD + 3 + 3 * Allocator.PAGES;

  private final BufferPool pool;
  private final Allocator allocator;
  private final RoomyPages roomy;
  private final VersionMarks marks;
  private final RecoverySpace space;
  private final MiniTransaction mini;
  private final MapChanges maps;
  private final byte[] scratch = new byte[Page.SIZE];
  private final MemorySegment image = MemorySegment.ofArray(scratch);

  private long writer;

  /** The first superseder of the value: the writer, until the value is in a row, or 0. */
  private long superseder;

  /** Head of a chain, or the page that the value shares. */
  private int first;

  /** The slot of a value that shares a page. */
  private int slot;

  private int tail;
  private int tailCount;
  private int tailCapacity;

  /** The number of data pages so far. */
  private int pages;

  private long length;

  /** Makes an object that shares its transaction's mini-transaction. */
  public OverflowWriter(
      BufferPool pool,
      Allocator allocator,
      RoomyPages roomy,
      VersionMarks marks,
      RecoverySpace space,
      MiniTransaction mini,
      MapChanges maps) {
    this.pool = pool;
    this.allocator = allocator;
    this.roomy = roomy;
    this.marks = marks;
    this.space = space;
    this.mini = mini;
    this.maps = maps;
  }

  /** The reference to the value that was begun last. */
  public ValueReference reference() {
    return new ValueReference(first, slot, length);
  }

  /** Bytes written so far. */
  public long length() {
    return length;
  }

  /** Writes a whole value. */
  public void writeWhole(long transactionId, byte[] value) {
    superseder = transactionId;
    write(transactionId, value);
  }

  /**
   * Writes a whole value that will be in a row if the transaction commits at all. It has no
   * superseder, so it need not be visited when it is entered in a row.
   */
  public void writeAdopted(long transactionId, byte[] value) {
    superseder = 0;
    write(transactionId, value);
  }

  private void write(long transactionId, byte[] value) {
    if (value.length <= SharedValues.MAX_VALUE) {
      writeShared(transactionId, value);
      return;
    }
    first = 0;
    boolean whole = false;
    try {
      writeChain(transactionId, value);
      whole = true;
    } finally {
      if (!whole) {
        giveUp();
      }
    }
  }

  private void writeChain(long transactionId, byte[] value) {
    int pages = 0;
    while (value.length > inlineCapacity(pages) + pages * (long) OverflowPage.CAPACITY) {
      pages++;
      if (pages > MAX_PAGES_WITH_INLINE) {
        begin(transactionId, value, 0, 0, OverflowPage.MAX_IDS);
        appendAll(value, 0);
        return;
      }
    }
    int inline = Math.min(value.length, inlineCapacity(pages));
    begin(transactionId, value, 0, inline, pages);
    appendAll(value, inline);
  }

  /** Puts a value on a page that has room for it, or on a new one. */
  private void writeShared(long transactionId, byte[] value) {
    writer = transactionId;
    space.acquire(CREDIT, PAGES);
    try {
      int frame = roomy.fix(value.length);
      if (frame < 0) {
        slot = 0;
        int flags = Page.FLAG_VERSIONS | Page.FLAG_GHOST;
        SharedValues.build(image, flags, transactionId, superseder, value);
        format(transactionId, SharedValues.headLength(), value.length);
        roomy.made(first, value.length);
      } else {
        put(frame, transactionId, value);
      }
      length = value.length;
    } finally {
      space.release(CREDIT, PAGES);
    }
  }

  private void put(int frame, long transactionId, byte[] value) {
    try {
      MemorySegment page = pool.page(frame);
      int pageId = pool.pageIdOf(frame);
      int to = SharedValues.nextSlot(page);
      maps.clear();
      mini.begin(transactionId);
      RecordBuilder record = mini.change(frame);
      PageOps.putValue(record, to, transactionId, superseder, value);
      int before = SpaceMapPage.inUse(page, Page.flags(page));
      int free = SharedValues.freeAfterPut(page, to, value.length);
      int flags = Page.FLAG_VERSIONS | Page.FLAG_GHOST;
      int after = SpaceMapPage.inUse(flags) | SharedValues.fullness(free);
      if (after != before) {
        PageOps.setByte(record, Page.FLAGS, flags);
        maps.set(pageId, after);
      }
      mini.end();
      maps.latchAndWrite(mini);
      mini.commit();
      marks.mark(pageId);
      first = pageId;
      slot = to;
    } finally {
      maps.unlatch();
      pool.unfixExclusive(frame);
    }
  }

  private static int inlineCapacity(int pages) {
    return OverflowPage.CAPACITY - 4 * pages;
  }

  private void appendAll(byte[] value, int from) {
    for (int at = from; at < value.length; at += CHUNK) {
      append(value, at, Math.min(CHUNK, value.length - at));
    }
  }

  /**
   * Gives up the value that was begun last and is in no row: the cleaner may free its pages before
   * the transaction has ended. Called by a thread of the transaction, which is open.
   */
  public void giveUp() {
    if (first != 0) {
      marks.giveUp(first);
    }
  }

  /** Begins a value of unknown length. */
  public void begin(long transactionId) {
    superseder = transactionId;
    begin(transactionId, scratch, 0, 0, OverflowPage.MAX_IDS);
  }

  private void begin(long transactionId, byte[] data, int offset, int inline, int capacity) {
    first = 0; // until it is in the log
    writer = transactionId;
    tailCount = 0;
    pages = 0;
    tailCapacity = capacity;
    length = inline;
    slot = ValueReference.WHOLE;
    Arrays.fill(scratch, 0, OverflowPage.DATA, (byte) 0);
    Page.putByte(image, Page.TYPE, Page.OVERFLOW_HEAD);
    Page.putByte(image, Page.FLAGS, Page.FLAG_VERSIONS | Page.FLAG_GHOST);
    Page.putLong(image, OverflowPage.WRITER, transactionId);
    Page.putLong(image, OverflowPage.SUPERSEDER, superseder);
    Page.putLong(image, OverflowPage.LENGTH, inline);
    Page.putShort(image, OverflowPage.INLINE, inline);
    System.arraycopy(data, offset, scratch, OverflowPage.DATA, inline);
    space.acquire(CREDIT, PAGES);
    try {
      format(transactionId, OverflowPage.DATA - Page.BODY + inline, 0);
      tail = first;
    } finally {
      space.release(CREDIT, PAGES);
    }
  }

  /**
   * Makes the image a page with one record, and sets {@link #first} to it.
   *
   * @param headBytes the number of used bytes at the beginning of its body
   * @param tailBytes the number of used bytes at its end
   */
  private void format(long transactionId, int headBytes, int tailBytes) {
    int page = allocator.claim();
    int frame = fixClaimed(page);
    boolean logged = false;
    try {
      if (Page.type(image) == Page.OVERFLOW_HEAD) {
        Page.putInt(image, OverflowPage.ORIGIN, page);
      }
      maps.clear();
      maps.set(page, SpaceMapPage.inUse(image, Page.flags(image)));
      mini.begin(transactionId);
      PageOps.image(mini.format(frame), image, headBytes, tailBytes);
      mini.end();
      maps.latchAndWrite(mini);
      mini.commit();
      logged = true;
      marks.mark(page);
    } finally {
      maps.unlatch();
      giveUp(frame, logged);
      if (!logged) {
        allocator.unclaim(page);
      }
    }
    first = page;
  }

  /** Removes a new page from the pool if it did not get into the log. */
  private void giveUp(int frame, boolean logged) {
    if (logged) {
      pool.unfixExclusive(frame);
    } else {
      pool.discard(frame);
    }
  }

  private int fixClaimed(int page) {
    try {
      return pool.fixNew(page);
    } catch (Throwable failure) {
      allocator.unclaim(page);
      throw failure;
    }
  }

  /**
   * Appends bytes.
   *
   * @param count at most {@link #CHUNK}; less only in the last call
   */
  public void append(byte[] data, int offset, int count) {
    if (slot != ValueReference.WHOLE) {
      throw new IllegalStateException("a value that shares its page is already complete");
    }
    int done = 0;
    while (done < count) {
      if (tailCount == tailCapacity) {
        addIndexPage();
      }
      int pages =
          Math.min(
              tailCapacity - tailCount,
              (count - done + OverflowPage.CAPACITY - 1) / OverflowPage.CAPACITY);
      int bytes = Math.min(count - done, pages * OverflowPage.CAPACITY);
      appendPages(data, offset + done, bytes, pages);
      done += bytes;
    }
  }

  private void appendPages(byte[] data, int offset, int bytes, int pages) {
    space.acquire(CREDIT, PAGES);
    try {
      int[] ids = new int[pages];
      int[] frames = new int[pages];
      int claimed = 0;
      int fixed = 0;
      int headFrame = -1;
      int tailFrame = -1;
      boolean logged = false;
      try {
        for (; claimed < pages; claimed++) {
          ids[claimed] = allocator.claim();
        }
        headFrame = pool.fixExclusive(first);
        tailFrame = tail == first ? -1 : pool.fixExclusive(tail);
        for (; fixed < pages; fixed++) {
          frames[fixed] = pool.fixNew(ids[fixed]);
        }
        maps.clear();
        mini.begin(writer);
        for (int i = 0; i < pages; i++) {
          int from = i * OverflowPage.CAPACITY;
          int here = Math.min(OverflowPage.CAPACITY, bytes - from);
          formatData(frames[i], this.pages + i, data, offset + from, here);
          maps.set(ids[i], SpaceMapPage.ALLOCATED);
        }
        RecordBuilder record = mini.change(headFrame);
        PageOps.setLong(record, OverflowPage.LENGTH, length + bytes);
        if (tailFrame >= 0) {
          mini.end();
          record = mini.change(tailFrame);
        }
        putIds(record, ids);
        PageOps.setShort(record, OverflowPage.COUNT, tailCount + pages);
        mini.end();
        maps.latchAndWrite(mini);
        mini.commit();
        logged = true;
      } finally {
        maps.unlatch();
        while (fixed > 0) {
          giveUp(frames[--fixed], logged);
        }
        if (tailFrame >= 0) {
          pool.unfixExclusive(tailFrame);
        }
        if (headFrame >= 0) {
          pool.unfixExclusive(headFrame);
        }
        while (!logged && claimed > 0) {
          allocator.unclaim(ids[--claimed]);
        }
      }
      tailCount += pages;
      this.pages += pages;
      length += bytes;
    } finally {
      space.release(CREDIT, PAGES);
    }
  }

  /** Writes the header of a page of this value to the image. */
  private void beginPart(int type, int number) {
    Arrays.fill(scratch, 0, OverflowPage.DATA, (byte) 0);
    Page.putByte(image, Page.TYPE, type);
    Page.putInt(image, OverflowPage.NUMBER, number);
    Page.putInt(image, OverflowPage.ORIGIN, first);
    Page.putLong(image, OverflowPage.WRITER, writer);
  }

  private void formatData(int frame, int number, byte[] data, int offset, int bytes) {
    beginPart(Page.OVERFLOW_DATA, number);
    Page.putShort(image, OverflowPage.COUNT, bytes);
    System.arraycopy(data, offset, scratch, OverflowPage.DATA, bytes);
    RecordBuilder record = mini.format(frame);
    PageOps.image(record, image, OverflowPage.DATA - Page.BODY + bytes, 0);
    mini.end();
  }

  private void putIds(RecordBuilder record, int[] ids) {
    byte[] reversed = new byte[4 * ids.length];
    for (int i = 0; i < ids.length; i++) {
      LittleEndian.putInt(reversed, 4 * (ids.length - 1 - i), ids[i]);
    }
    PageOps.setBytes(record, OverflowPage.idOffset(tailCount + ids.length - 1), reversed);
  }

  /**
   * Clears the superseder of the value, which {@link #writeAdopted} never sets: the value will be
   * in a row if the transaction commits at all.
   */
  public void adopt() {
    space.acquire(CREDIT, PAGES);
    try {
      int frame = pool.fixExclusive(first);
      try {
        mini.begin(writer);
        PageOps.setLong(mini.change(frame), reference().supersederOffset(), 0);
        mini.end();
        mini.commit();
      } finally {
        pool.unfixExclusive(frame);
      }
    } finally {
      space.release(CREDIT, PAGES);
    }
  }

  private void addIndexPage() {
    space.acquire(CREDIT, PAGES);
    try {
      int page = allocator.claim();
      boolean logged = false;
      int tailFrame = -1;
      int frame = -1;
      try {
        tailFrame = pool.fixExclusive(tail);
        frame = pool.fixNew(page);
        maps.clear();
        maps.set(page, SpaceMapPage.ALLOCATED);
        beginPart(Page.OVERFLOW_INDEX, pages);
        mini.begin(writer);
        RecordBuilder record = mini.change(tailFrame);
        PageOps.setInt(record, OverflowPage.NEXT_INDEX, page);
        mini.end();
        record = mini.format(frame);
        PageOps.image(record, image, OverflowPage.DATA - Page.BODY, 0);
        mini.end();
        maps.latchAndWrite(mini);
        mini.commit();
        logged = true;
      } finally {
        maps.unlatch();
        if (frame >= 0) {
          giveUp(frame, logged);
        }
        if (tailFrame >= 0) {
          pool.unfixExclusive(tailFrame);
        }
        if (!logged) {
          allocator.unclaim(page);
        }
      }
      tail = page;
      tailCount = 0;
      tailCapacity = OverflowPage.MAX_IDS;
    } finally {
      space.release(CREDIT, PAGES);
    }
  }
}

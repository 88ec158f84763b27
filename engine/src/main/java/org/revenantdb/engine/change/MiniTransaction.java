package org.revenantdb.engine.change;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.function.LongSupplier;
import org.revenantdb.engine.buffer.BufferPool;
import org.revenantdb.engine.page.Page;
import org.revenantdb.engine.page.PageOps;
import org.revenantdb.recovery.format.LittleEndian;
import org.revenantdb.recovery.log.PartKind;
import org.revenantdb.recovery.log.RecordBuilder;
import org.revenantdb.recovery.log.RecordType;

/**
 * One atomic step on several pages: the log contains it completely or not at all.
 *
 * <p>The caller latches all pages exclusively, space maps shared, builds the record with {@link
 * #change}, {@link #changeShared}, {@link #format} and {@link #free}, and calls {@link #commit};
 * then it unlatches. Reusable; for one thread at a time.
 */
public final class MiniTransaction {
  /*
   * Source      rules R11, R13, R18 (docs/rules.md).
   *
   * Steps       1 build (caller)   2 mark frames dirty   3 publish   4 apply with the interpreter of redo   5 page LSN
   *             For a map that is latched shared: 2 by CAS, 4 by CAS of the bytes' word, 5 to the maximum
   *             (protocols.md §19).
   *
   * Invariants  I1 a frame is marked dirty before the record has a place in the log; else the checkpoint could move
   *             the redo point past the record (protocols.md §2). I2 nothing in 4 and 5 can fail because of the
   *             caller: there is room, frames are resident. If something is thrown there anyway, the engine stops,
   *             because log and memory differ.
   */
  private static final int PART_HEADER = 8;

  private final BufferPool pool;
  private final Journal log;
  private final LongSupplier tail;
  private final RecordBuilder record = new RecordBuilder();
  private final PageOps operations = new PageOps();
  private int[] frames = new int[8];
  private int[] starts = new int[8];
  private MemorySegment[] pages = new MemorySegment[8];
  private boolean[] shared = new boolean[8];
  private boolean[] formatted = new boolean[8];
  private int parts;

  /**
   * Makes a mini-transaction, which can be reused.
   *
   * @param pool has the pages
   * @param log receives the record
   */
  public MiniTransaction(BufferPool pool, Journal log) {
    this.pool = pool;
    this.log = log;
    this.tail = log::tail;
  }

  /**
   * Begins a new record.
   *
   * @param transactionId the transaction that makes the change, 0 for the system
   */
  public void begin(long transactionId) {
    record.begin(RecordType.PAGES, transactionId);
    parts = 0;
  }

  /**
   * The builder of the next record. For a record without pages, use it between two calls of {@link
   * #begin}.
   */
  public RecordBuilder record() {
    return record;
  }

  /** Begins the part of the page that is latched in this frame; its operations follow. */
  public RecordBuilder change(int frame) {
    return part(frame, PartKind.CHANGE, /* isShared= */ false);
  }

  /** As {@link #change}, for a space map that is latched shared; it only stores bytes. */
  public RecordBuilder changeShared(int frame) {
    return part(frame, PartKind.CHANGE, /* isShared= */ true);
  }

  /** Begins the part of a page that is built from scratch; an image follows. */
  public RecordBuilder format(int frame) {
    return part(frame, PartKind.FORMAT, /* isShared= */ false);
  }

  /** Records that a page is freed; its byte in the space map is a separate part. */
  public void free(int pageId) {
    record.beginPart(pageId, PartKind.FREE);
    record.endPart();
  }

  /** Ends the part that {@link #change} or {@link #format} began. */
  public void end() {
    record.endPart();
  }

  private RecordBuilder part(int frame, PartKind kind, boolean isShared) {
    if (parts == frames.length) {
      int[] more = Arrays.copyOf(frames, 2 * parts);
      starts = Arrays.copyOf(starts, 2 * parts);
      pages = Arrays.copyOf(pages, 2 * parts);
      shared = Arrays.copyOf(shared, 2 * parts);
      formatted = Arrays.copyOf(formatted, 2 * parts);
      frames = more; // last: if memory runs out in between, the shortest array counts
    }
    frames[parts] = frame;
    starts[parts] = record.position();
    pages[parts] = pool.page(frame);
    shared[parts] = isShared;
    formatted[parts] = kind == PartKind.FORMAT;
    parts++;
    record.beginPart(pool.pageIdOf(frame), kind);
    return record;
  }

  /** Bytes of the record so far. */
  public int length() {
    return record.length();
  }

  /**
   * Publishes the record and changes the pages.
   *
   * @return the record's LSN, which all its pages carry
   */
  public long commit() {
    for (int i = 0; i < parts; i++) {
      if (shared[i]) {
        pool.markDirtyShared(frames[i], log.tail());
      } else {
        pool.markDirty(frames[i], tail);
      }
    }
    long lsn = log.publish(record);
    ChangeSteps steps = log.steps;
    try {
      steps.at(ChangeSteps.Step.PUBLISHED);
      byte[] bytes = record.array();
      for (int i = 0; i < parts; i++) {
        MemorySegment page = pages[i];
        int start = starts[i];
        int length = LittleEndian.getShort(bytes, start + 6);
        if (shared[i]) {
          PageOps.applyShared(page, bytes, start + PART_HEADER, length);
          steps.at(ChangeSteps.Step.APPLIED);
          Page.raiseLsn(page, lsn);
        } else {
          operations.apply(page, bytes, start + PART_HEADER, length);
          steps.at(ChangeSteps.Step.APPLIED);
          Page.setLsn(page, lsn);
          if (formatted[i]) {
            pool.markFormatted(frames[i]); // only now: the record is in the log
          }
        }
        steps.at(ChangeSteps.Step.LSN_SET);
      }
    } catch (Throwable failure) {
      log.fail(failure);
      throw failure;
    }
    return lsn;
  }
}

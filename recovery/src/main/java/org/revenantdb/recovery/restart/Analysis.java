package org.revenantdb.recovery.restart;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.revenantdb.recovery.checkpoint.CheckpointImage;
import org.revenantdb.recovery.file.ControlState;
import org.revenantdb.recovery.format.LogRecordLayout;
import org.revenantdb.recovery.log.FlushedPages;
import org.revenantdb.recovery.log.PartKind;
import org.revenantdb.recovery.log.RecordType;
import org.revenantdb.recovery.segment.LogReader;
import org.revenantdb.recovery.segment.SegmentHeader;
import org.revenantdb.recovery.segment.UnwrittenLog;

/**
 * The pass over the log: from the redo point through all lives to the end. It only reads.
 *
 * <p>It finds the end of the log and the undecided transactions. For each page it finds the last
 * record that formats or frees it (R12), the LSN up to which the data file is known to have it, and
 * the changes that it may lack.
 */
final class Analysis {
  private static final int REPORT_EVERY = 1 << 20;

  private final SegmentCatalog catalog;
  private final ControlState control;
  private final RestartProgress progress;
  private final LongLongMap namedEnds;
  private final TransactionStates transactions;
  private final LongLongMap lastFormatOrFree = new LongLongMap();
  private final LongLongMap flushed = new LongLongMap();
  private final PendingParts pending;
  private final LongLongMap freed = new LongLongMap();
  private LongLongMap refused = new LongLongMap();
  private final List<LifeRange> ranges = new ArrayList<>();

  /**
   * Pages behind the end of the data file: start of the last record of each, 0 if that frees it.
   */
  private final LongLongMap beyondFile = new LongLongMap();

  private final PageRange pages;
  private long highestPage;
  private long bytesRead;
  private long nextReport = REPORT_EVERY;
  private long durableNamed;
  private long segmentsNamed;
  private long durable;

  Analysis(
      SegmentCatalog catalog,
      ControlState control,
      PageRange pages,
      PendingParts pending,
      RestartProgress progress,
      @Nullable KnownStates known) {
    this.catalog = catalog;
    this.pending = pending;
    this.control = control;
    this.pages = pages;
    this.progress = progress;
    namedEnds = catalog.namedEnds();
    transactions =
        known == null
            ? new TransactionStates(control.checkpointLsn())
            : new TransactionStates(known);
  }

  /** Reads the log. */
  void run() {
    long start = control.redoPoint();
    int life = catalog.lifeAt(start);
    while (true) {
      LifeRange range = walk(start, life);
      ranges.add(range);
      @Nullable SegmentHeader successor = catalog.successor(range.end(), life);
      if (successor == null) {
        break;
      }
      start = successor.firstLsn();
      life = successor.life();
    }
    LifeRange last = ranges.getLast();
    EndOfLog end = new EndOfLog(catalog, control);
    durable = end.check(last.end(), life, durableNamed, segmentsNamed);
    takeUnwritten(end, last);
    if (!transactions.isImageRead()) {
      throw LogDamage.record(
          catalog,
          control.checkpointLsn(),
          "the checkpoint that the control slot names ends early");
    }
    refuseLivesAboveSlot();
    refusePagesBeyondFile();
    settleRefused();
  }

  /**
   * The last life goes on in the file of its ring (§46), unless its end is named: then a restart
   * has taken what is there, or nothing is. All that was ever known as durable lies in the
   * segments.
   */
  private void takeUnwritten(EndOfLog end, LifeRange last) {
    @Nullable RingTail ring = RingTail.open(catalog);
    if (ring == null || isEnd(last.end(), last.life())) {
      return;
    }
    @Nullable UnwrittenLog found = ring.behind(last.end(), last.life());
    if (found == null) {
      return;
    }
    catalog.unwritten(found);
    LifeRange rest = walk(last.end(), last.life());
    boolean onlyLife = last.onlyLife() && rest.onlyLife();
    ranges.set(ranges.size() - 1, new LifeRange(last.life(), last.start(), rest.end(), onlyLife));
    end.checkUnwritten(last.end(), rest.end(), last.life(), durableNamed, segmentsNamed);
  }

  /**
   * A life writes its control slots before anything but LIFE. So slots of a former life beside more
   * than that are those of an older data file.
   */
  private void refuseLivesAboveSlot() {
    for (LifeRange range : ranges) {
      if (range.life() > control.life() && !range.onlyLife()) {
        throw LogDamage.newerThanData(catalog, range, control.life());
      }
    }
  }

  private LifeRange walk(long start, int life) {
    int records = 0;
    boolean onlyLife = true;
    segmentsNamed = 0;
    try (LogReader reader =
        new LogReader(catalog.directory(), lsn -> life == 0 ? null : catalog.at(lsn, life))
            .with(catalog.unwritten())) {
      RecordCheck check = new RecordCheck(reader, catalog, pages);
      reader.seek(start);
      long end = start;
      while (!isEnd(end, life) && reader.next() && reader.life() == life) {
        RecordType type = check.check();
        take(reader, type);
        records++;
        onlyLife &= type == RecordType.LIFE;
        end = reader.lsn();
      }
      return new LifeRange(life, start, end, records > 0 ? onlyLife : isFirst(start, life));
    }
  }

  /** Whether a life starts there, so that a range without records is a life without records. */
  private boolean isFirst(long start, int life) {
    @Nullable SegmentHeader header = catalog.headerAt(start);
    return header != null && header.life() == life && header.firstLsn() == start;
  }

  /** Whether a restart said that the life ends there, or a clean close did. */
  private boolean isEnd(long lsn, int life) {
    return namedEnds.getOrDefault(lsn, -1) >= life
        || (control.clean() && control.endOfLog() == lsn && control.life() == life);
  }

  private void take(LogReader record, RecordType type) {
    durableNamed = Math.max(durableNamed, record.durable());
    long upTo = record.segmentsUpTo();
    if (upTo > record.start()) { // else it knows of none, also if it is in the ring only
      segmentsNamed = Math.max(segmentsNamed, upTo);
    }
    if (type == RecordType.PAGES) {
      takeParts(record);
    } else if (type == RecordType.FLUSHED) {
      takeFlushed(record);
    } else if (type == RecordType.CHECKPOINT) {
      takeRefused(record);
    }
    if (record.start() >= control.analysisPoint()) {
      transactions.take(record, type, catalog);
    } else {
      transactions.takeIds(record);
    }
    bytesRead += record.length();
    if (bytesRead >= nextReport) {
      nextReport += REPORT_EVERY;
      progress.analysed(bytesRead);
    }
  }

  private void takeParts(LogReader record) {
    int end = record.contentLength();
    int at = LogRecordLayout.HEADER;
    while (at < end) {
      long page = Integer.toUnsignedLong(record.getInt(at + LogRecordLayout.PART_PAGE));
      int kind = record.array()[record.offset() + at + LogRecordLayout.PART_KIND];
      highestPage = Math.max(highestPage, page);
      if (page < pages.end()) {
        takePending((int) page, kind, record, at);
      }
      if (kind != PartKind.CHANGE.code()) {
        lastFormatOrFree.put(page, record.lsn());
        if (kind == PartKind.FREE.code()) {
          freed.put(page, record.lsn());
        } else {
          freed.remove(page);
        }
      }
      if (page >= pages.end()) {
        beyondFile.put(page, kind == PartKind.FREE.code() ? 0 : record.start());
      }
      at += LogRecordLayout.PART_HEADER + record.getShort(at + LogRecordLayout.PART_LENGTH);
    }
  }

  private boolean isBuilt(int page) {
    return pending.isPending(page) && pending.beginsWithFormat(page);
  }

  private void takePending(int page, int kind, LogReader record, int at) {
    if (kind == PartKind.CHANGE.code()) {
      pending.change(page, record.start(), record.length(), at);
    } else if (kind == PartKind.FORMAT.code()) {
      pending.format(page, record.start(), record.length(), at);
    } else {
      pending.free(page);
    }
  }

  private void takeFlushed(LogReader record) {
    int count = record.getInt(FlushedPages.COUNT);
    for (int i = 0; i < count; i++) {
      int at = FlushedPages.PAGES + i * FlushedPages.ENTRY;
      long page = Integer.toUnsignedLong(record.getInt(at + FlushedPages.PAGE));
      long lsn = record.getLong(at + FlushedPages.LSN);
      raise(flushed, page, lsn);
      pending.flushed((int) page, lsn);
    }
  }

  /**
   * For each image, even one that no control slot refers to. Not of pages behind the size in the
   * slot: they came into being behind B, so redo has all of them.
   */
  private void takeRefused(LogReader record) {
    int ids = record.getInt(CheckpointImage.WRITING);
    ids += record.getInt(CheckpointImage.PREPARED);
    ids += record.getInt(CheckpointImage.ABORTED);
    int count = record.getInt(CheckpointImage.REFUSED);
    for (int i = 0; i < count; i++) {
      int at = CheckpointImage.IDS + ids * Long.BYTES + i * CheckpointImage.REFUSED_ENTRY;
      long page = Integer.toUnsignedLong(record.getInt(at));
      if (page < control.highWaterPages()) {
        raise(refused, page, record.getLong(at + Integer.BYTES));
      }
    }
  }

  /**
   * Drops the pages that redo will build, and those that were freed or written again. On what is
   * left redo has nothing to do, as on a page that was written. A FORMAT that redo skips, since the
   * page was written after it, builds nothing: the write of that is what was lost.
   */
  private void settleRefused() {
    pending.settle();
    LongLongMap noted = new LongLongMap();
    for (long page : refused.keys()) {
      long lsn = refused.getOrDefault(page, 0);
      if (flushed.getOrDefault(page, 0) <= lsn && !freed.contains(page) && !isBuilt((int) page)) {
        noted.put(page, lsn);
      }
    }
    refused = noted;
    for (long page : noted.keys()) {
      long lsn = noted.getOrDefault(page, 0);
      raise(flushed, page, lsn);
      pending.flushed((int) page, lsn);
    }
    pending.complete(catalog.begins());
  }

  private static void raise(LongLongMap lsns, long page, long lsn) {
    lsns.put(page, Math.max(lsn, lsns.getOrDefault(page, 0)));
  }

  /**
   * The file is grown, and forced, before a record names its new pages; it is cut only when the
   * redo point lies behind all records of the pages that go. So redo meets no page behind the end.
   */
  private void refusePagesBeyondFile() {
    for (long page : beyondFile.keys()) {
      long start = beyondFile.getOrDefault(page, 0);
      if (start != 0 && flushed.getOrDefault(page, 0) <= start) {
        throw LogDamage.record(
            catalog,
            start,
            "it changes page " + page + ", but the data file has " + pages.end() + " pages");
      }
    }
  }

  /** All lives that were read, in order. */
  List<LifeRange> ranges() {
    return ranges;
  }

  /** D: how far the log was known to be durable. */
  long durable() {
    return durable;
  }

  LongLongMap lastFormatOrFree() {
    return lastFormatOrFree;
  }

  /** Pages, and up to which LSN the data file is known to have each. */
  LongLongMap flushed() {
    return flushed;
  }

  /**
   * Pages that the data file has not as they were written, and the LSN that each has at least if it
   * is good. Not those that were written again, formatted or freed since.
   */
  LongLongMap refused() {
    return refused;
  }

  long bytesRead() {
    return bytesRead;
  }

  AnalysisResult result(int nextLife) {
    long end = ranges.getLast().end();
    boolean clean = control.clean() && control.endOfLog() == end;
    return new AnalysisResult(
        control.redoPoint(),
        control.analysisPoint(),
        end,
        durable,
        nextLife,
        transactions.abortedAndUndecided(),
        transactions.undecided(),
        transactions.prepared(),
        transactions.highest(),
        (int) highestPage,
        bytesRead,
        clean);
  }
}

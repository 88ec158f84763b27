package org.revenantdb.recovery.restart;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.revenantdb.recovery.file.ControlState;
import org.revenantdb.recovery.format.LogRecordLayout;
import org.revenantdb.recovery.format.SegmentLayout;
import org.revenantdb.recovery.log.FlushedPages;
import org.revenantdb.recovery.log.PartKind;
import org.revenantdb.recovery.log.RecordType;
import org.revenantdb.recovery.segment.LogReader;
import org.revenantdb.recovery.segment.SegmentHeader;

/**
 * The first pass over the log: from the redo point through all lives to the end. It only reads.
 *
 * <p>It finds the end of the log, who was undecided, and for each page the last record that builds
 * it or gives it back (R12), and up to where the data file is known to have it.
 */
final class Analysis {
  private static final int REPORT_EVERY = 1 << 20;

  private final SegmentCatalog catalog;
  private final ControlState control;
  private final RestartProgress progress;
  private final int segmentSize;
  private final LongLongMap namedEnds;
  private final TransactionStates transactions;
  private final LongLongMap lastFormatOrFree = new LongLongMap();
  private final LongLongMap flushed = new LongLongMap();
  private final List<LifeRange> ranges = new ArrayList<>();
  private long highestPage;
  private long bytesRead;
  private long nextReport = REPORT_EVERY;
  private long durableNamed;
  private long segmentNamed;
  private long durable;

  Analysis(SegmentCatalog catalog, ControlState control, RestartProgress progress) {
    this.catalog = catalog;
    this.control = control;
    this.progress = progress;
    segmentSize = catalog.directory().segmentSize();
    namedEnds = catalog.namedEnds();
    transactions = new TransactionStates(control.checkpointLsn());
  }

  /** Reads the log. */
  void run() {
    long start = control.redoPoint();
    int life = catalog.lifeOf(SegmentLayout.number(start, segmentSize));
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
    durable = new EndOfLog(catalog, control).check(last.end(), life, durableNamed, segmentNamed);
    if (!transactions.isImageRead()) {
      throw LogDamage.record(
          catalog,
          control.checkpointLsn(),
          "the checkpoint that the control slot names ends early");
    }
  }

  private LifeRange walk(long start, int life) {
    int records = 0;
    boolean onlyLife = true;
    segmentNamed = 0;
    try (LogReader reader =
        new LogReader(catalog.directory(), number -> life != 0 && catalog.lifeOf(number) == life)) {
      reader.seek(start);
      long end = start;
      while (!isEnd(end, life) && reader.next() && reader.life() == life) {
        RecordType type = take(reader);
        records++;
        onlyLife &= type == RecordType.LIFE;
        end = reader.lsn();
      }
      return new LifeRange(life, start, end, records > 0 ? onlyLife : isFirst(start, life));
    }
  }

  /** Whether a life starts there, so that a range without records is a life without records. */
  private boolean isFirst(long start, int life) {
    @Nullable SegmentHeader header = catalog.header(SegmentLayout.number(start, segmentSize));
    return header != null && header.life() == life && header.firstLsn() == start;
  }

  /** Whether a restart said that the life ends there, or a clean close did. */
  private boolean isEnd(long lsn, int life) {
    return namedEnds.getOrDefault(lsn, -1) >= life
        || (control.clean() && control.endOfLog() == lsn && control.life() == life);
  }

  private RecordType take(LogReader record) {
    @Nullable RecordType type = RecordType.of(record.type());
    if (type == null) {
      throw LogDamage.record(catalog, record.start(), "its type is " + record.type());
    }
    durableNamed = Math.max(durableNamed, record.durable());
    long number = SegmentLayout.number(record.start(), segmentSize);
    segmentNamed = Math.max(segmentNamed, number + record.segmentsAhead());
    if (type == RecordType.PAGES) {
      takeParts(record);
    } else if (type == RecordType.FLUSHED) {
      takeFlushed(record);
    }
    if (record.start() >= control.analysisPoint()) {
      transactions.take(record, type, catalog);
    } else {
      transactions.takeIds(record);
    }
    bytesRead += record.length();
    if (bytesRead >= nextReport) {
      nextReport += REPORT_EVERY;
      progress.progress(RestartProgress.Phase.ANALYSIS, bytesRead, 0);
    }
    return type;
  }

  private void takeParts(LogReader record) {
    int end = record.contentLength();
    int at = LogRecordLayout.HEADER;
    while (at + LogRecordLayout.PART_HEADER <= end) {
      long page = Integer.toUnsignedLong(record.getInt(at + LogRecordLayout.PART_PAGE));
      int kind = record.array()[record.offset() + at + LogRecordLayout.PART_KIND];
      highestPage = Math.max(highestPage, page);
      if (PartKind.of(kind) == null) {
        throw LogDamage.record(catalog, record.start(), "a part is of kind " + kind);
      }
      if (kind != PartKind.CHANGE.code()) {
        lastFormatOrFree.put(page, record.lsn());
      }
      at += LogRecordLayout.PART_HEADER + record.getShort(at + LogRecordLayout.PART_LENGTH);
    }
    if (at != end) {
      throw LogDamage.record(catalog, record.start(), "its parts are longer than the record");
    }
  }

  private void takeFlushed(LogReader record) {
    int count = record.getInt(FlushedPages.COUNT);
    if (count < 0 || count > (record.contentLength() - FlushedPages.PAGES) / FlushedPages.ENTRY) {
      throw LogDamage.record(
          catalog, record.start(), "its list of " + count + " pages is longer than the record");
    }
    for (int i = 0; i < count; i++) {
      int at = FlushedPages.PAGES + i * FlushedPages.ENTRY;
      long page = Integer.toUnsignedLong(record.getInt(at + FlushedPages.PAGE));
      long lsn = record.getLong(at + FlushedPages.LSN);
      if (lsn > record.start()) {
        throw LogDamage.record(
            catalog, record.start(), "it says that page " + page + " was written at LSN " + lsn);
      }
      flushed.put(page, Math.max(lsn, flushed.getOrDefault(page, 0)));
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

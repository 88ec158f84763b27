package org.revenantdb.recovery.restart;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.revenantdb.recovery.format.LogRecordLayout;
import org.revenantdb.recovery.log.PartKind;
import org.revenantdb.recovery.log.RecordType;
import org.revenantdb.recovery.segment.LogReader;

/** The second pass over the log: hands every part that may be missing to its page. */
final class Redo {
  private static final int REPORT_EVERY = 1 << 20;

  private final SegmentCatalog catalog;
  private final LongLongMap lastFormatOrFree;
  private final LongLongMap flushed;
  private final RestartProgress progress;
  private final long total;
  private long done;
  private long nextReport = REPORT_EVERY;

  Redo(SegmentCatalog catalog, Analysis analysis, RestartProgress progress) {
    this.catalog = catalog;
    this.lastFormatOrFree = analysis.lastFormatOrFree();
    this.flushed = analysis.flushed();
    this.progress = progress;
    this.total = analysis.bytesRead();
  }

  /** Goes through the lives in order. */
  void run(List<LifeRange> ranges, RedoTarget target) {
    for (LifeRange range : ranges) {
      try (LogReader reader =
          new LogReader(catalog.directory(), number -> catalog.lifeOf(number) == range.life())) {
        reader.seek(range.start());
        while (reader.lsn() < range.end()) {
          if (!reader.next()) {
            throw LogDamage.endsTooEarly(
                catalog, reader.lsn(), "analysis read it up to position " + range.end());
          }
          if (reader.type() == RecordType.PAGES.code()) {
            redoParts(reader, target);
          }
          report(reader.length());
        }
      }
    }
  }

  private void redoParts(LogReader record, RedoTarget target) {
    int end = record.contentLength();
    int at = LogRecordLayout.HEADER;
    while (at < end) {
      int page = record.getInt(at + LogRecordLayout.PART_PAGE);
      @Nullable PartKind kind =
          PartKind.of(record.array()[record.offset() + at + LogRecordLayout.PART_KIND]);
      int length = record.getShort(at + LogRecordLayout.PART_LENGTH);
      at += LogRecordLayout.PART_HEADER;
      if (counts(Integer.toUnsignedLong(page), record.lsn())
          && kind != null
          && kind != PartKind.FREE) {
        target.redo(page, record.lsn(), kind, record.array(), record.offset() + at, length);
      }
      at += length;
    }
  }

  /** Whether the page has not been built anew since (R12), nor written with this change. */
  private boolean counts(long page, long lsn) {
    return lsn >= lastFormatOrFree.getOrDefault(page, 0) && lsn > flushed.getOrDefault(page, 0);
  }

  private void report(int bytes) {
    done += bytes;
    if (done >= nextReport) {
      nextReport += REPORT_EVERY;
      progress.progress(RestartProgress.Phase.REDO, done, total);
    }
  }
}

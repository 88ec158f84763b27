package org.revenantdb.recovery.restart;

import java.nio.file.Path;
import org.revenantdb.recovery.file.CorruptDataException;
import org.revenantdb.recovery.file.MissingFileException;
import org.revenantdb.recovery.file.StorageException;
import org.revenantdb.recovery.format.LogRecordLayout;
import org.revenantdb.recovery.format.SegmentLayout;
import org.revenantdb.recovery.segment.LogReader;

/** Words for what is wrong with a log. */
final class LogDamage {
  private LogDamage() {}

  /** A record that is whole and makes no sense. */
  static CorruptDataException record(SegmentCatalog catalog, long start, String reason) {
    int size = catalog.directory().segmentSize();
    return new CorruptDataException(
        catalog.directory().file(SegmentLayout.number(start, size)),
        SegmentLayout.offset(start, size),
        "the log record at position " + start + " cannot be understood: " + reason);
  }

  /** The log ends at a position although more of it must be there. */
  static StorageException endsTooEarly(SegmentCatalog catalog, long end, String evidence) {
    int size = catalog.directory().segmentSize();
    long number = SegmentLayout.number(end, size);
    if (catalog.header(number) != null && isCutOffAtSegmentEnd(catalog, end)) {
      number++;
    }
    String why = "the log ends at position " + end + ", but " + evidence;
    if (!catalog.present().contains(number)) {
      return missing(catalog, number, why);
    }
    if (catalog.header(number) == null) {
      return new CorruptDataException(
          catalog.directory().file(number), 0, "the header of the log segment is damaged: " + why);
    }
    return new CorruptDataException(
        catalog.directory().file(SegmentLayout.number(end, size)),
        SegmentLayout.offset(end, size),
        "the log is damaged: " + why);
  }

  /** What was durable ends inside a record, or inside what is none. */
  static CorruptDataException durableInsideRecord(SegmentCatalog catalog, long durable) {
    int size = catalog.directory().segmentSize();
    return new CorruptDataException(
        catalog.directory().file(SegmentLayout.number(durable, size)),
        SegmentLayout.offset(durable, size),
        "the log is damaged: it names position "
            + durable
            + " as durable, and no record begins there");
  }

  /** Whether a record begins at a position and its segment ends before it does. */
  private static boolean isCutOffAtSegmentEnd(SegmentCatalog catalog, long end) {
    int size = catalog.directory().segmentSize();
    long number = SegmentLayout.number(end, size);
    long segmentEnd = SegmentLayout.firstLsn(number + 1, size);
    try (LogReader reader = new LogReader(catalog.directory(), other -> other == number)) {
      return segmentEnd - end < LogRecordLayout.HEADER
          || (reader.claimsToBeRecord(end) && end + reader.lengthAt(end) > segmentEnd);
    }
  }

  /** The data file is older than the log. */
  static CorruptDataException newerThanData(SegmentCatalog catalog, LifeRange range, int life) {
    int size = catalog.directory().segmentSize();
    return new CorruptDataException(
        catalog.directory().file(SegmentLayout.number(range.start(), size)),
        SegmentLayout.offset(range.start(), size),
        "the files are not of one moment: the log has changes of life "
            + range.life()
            + ", but the control slots of the data file are of life "
            + life,
        "bring back the data file that belongs to this log, or restore the whole directory from a"
            + " copy",
        /* cause= */ null);
  }

  /** A segment that must be there is not. */
  static MissingFileException missing(SegmentCatalog catalog, long number, String evidence) {
    Path file = catalog.directory().file(number);
    return new MissingFileException(
        file,
        StorageException.NO_OFFSET,
        "the log segment is missing: " + evidence,
        "put the file back, or restore the database from a copy",
        /* cause= */ null);
  }
}

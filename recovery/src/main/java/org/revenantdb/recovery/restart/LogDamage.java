package org.revenantdb.recovery.restart;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.revenantdb.recovery.file.DamagedFileException;
import org.revenantdb.recovery.file.FileException;
import org.revenantdb.recovery.file.MissingFileException;
import org.revenantdb.recovery.format.LogRecordLayout;
import org.revenantdb.recovery.segment.LogReader;
import org.revenantdb.recovery.segment.SegmentPlace;

/** Words for what is wrong with a log. */
final class LogDamage {
  private LogDamage() {}

  /** A record that is whole and makes no sense. */
  static DamagedFileException record(SegmentCatalog catalog, long start, String reason) {
    return new DamagedFileException(
        file(catalog, start),
        offset(catalog, start),
        "the log record at position " + start + " cannot be understood: " + reason);
  }

  /** The log ends at a position although more of it must be there. */
  static FileException endsTooEarly(SegmentCatalog catalog, long end, String evidence) {
    @Nullable SegmentPlace place = catalog.at(end);
    long needed = place != null && isCutOffAtSegmentEnd(catalog, place, end) ? place.end() : end;
    String why = "the log ends at position " + end + ", but " + evidence;
    @Nullable SegmentPlace file = catalog.fileAt(needed);
    if (file == null) {
      return missing(catalog, needed, why);
    }
    if (catalog.at(needed) == null) {
      return new DamagedFileException(
          catalog.directory().file(file.begin()),
          0,
          "the header of the log segment is damaged: " + why);
    }
    return new DamagedFileException(
        file(catalog, end), offset(catalog, end), "the log is damaged: " + why);
  }

  /** What was durable ends inside a record, or inside what is none. */
  static DamagedFileException durableInsideRecord(SegmentCatalog catalog, long durable) {
    return new DamagedFileException(
        file(catalog, durable),
        offset(catalog, durable),
        "the log is damaged: it names position "
            + durable
            + " as durable, and no record begins there");
  }

  /** Whether a record begins at a position and its segment ends before it does. */
  private static boolean isCutOffAtSegmentEnd(
      SegmentCatalog catalog, SegmentPlace place, long end) {
    try (LogReader reader =
        new LogReader(catalog.directory(), lsn -> place.holds(lsn) ? place : null)) {
      return place.end() - end < LogRecordLayout.HEADER
          || (reader.claimsToBeRecord(end) && end + reader.lengthAt(end) > place.end());
    }
  }

  /** The segment that holds a position; the directory if its name is not known. */
  private static Path file(SegmentCatalog catalog, long lsn) {
    long begin = catalog.beginAt(lsn);
    return begin < 0 ? catalog.directory().path() : catalog.directory().file(begin);
  }

  private static long offset(SegmentCatalog catalog, long lsn) {
    @Nullable SegmentPlace place = catalog.at(lsn);
    return place == null ? FileException.NO_OFFSET : place.offset(lsn);
  }

  /** The data file is older than the log. */
  static DamagedFileException newerThanData(SegmentCatalog catalog, LifeRange range, int life) {
    return new DamagedFileException(
        file(catalog, range.start()),
        offset(catalog, range.start()),
        "the files are not of one moment: the log has changes of life "
            + range.life()
            + ", but the control slots of the data file are of life "
            + life,
        "bring back the data file that belongs to this log, or restore the whole directory from a"
            + " copy",
        /* cause= */ null);
  }

  /** The segment that must hold a position is not there. */
  static MissingFileException missing(SegmentCatalog catalog, long lsn, String evidence) {
    return new MissingFileException(
        file(catalog, lsn),
        FileException.NO_OFFSET,
        "the log segment that holds position " + lsn + " is missing: " + evidence,
        "put the file back, or restore the database from a copy",
        /* cause= */ null);
  }
}

package org.revenantdb.recovery.restart;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.revenantdb.recovery.segment.SegmentDirectory;
import org.revenantdb.recovery.segment.SegmentHeader;
import org.revenantdb.recovery.segment.SegmentPlace;
import org.revenantdb.recovery.segment.UnwrittenLog;

/**
 * Makes sure that what a restart has read is what a next restart will read (R6).
 *
 * <p>Log that is not known to be durable may stand in the cache of the operating system only, and
 * after a failed force no further force would write it. So it is copied to new files, which are
 * forced before anything depends on them. What was published and stands in no segment is copied
 * from the ring (docs/protocols.md §46); a segment that the writer had not begun is made.
 */
final class TailSeal {
  /*
   * D = known durable, P = end of the log. Segments of [D, P): copy to another name, force, rename over the old one.
   * The one that holds the last byte before P comes last, after the names of the others were forced, and is sealed:
   *   crash before its rename     the same tail is read again, from old or new files alike
   *   crash after its rename      the seal is found or not; where it is found, all before it is durable
   *   its name not yet forced     the next restart finds the seal, or the old file with what is left of the tail:
   *                               no thread has seen a result of this restart, as its life begins later
   * The ring stays as it is until the seal is durable, so it gives the same to each restart before that.
   */

  private TailSeal() {}

  /**
   * Seals a life's log.
   *
   * @param catalog the segments; those that are made are added, the others stay as they were
   * @param life the life
   * @param durable D
   * @param end P, or the end of what the ring has behind it
   * @return the segments that were made
   */
  static List<SegmentPlace> seal(SegmentCatalog catalog, int life, long durable, long end) {
    SegmentDirectory directory = catalog.directory();
    @Nullable UnwrittenLog unwritten = catalog.unwritten();
    List<SegmentHeader> made = missing(catalog, life, durable, end);
    if (durable < end) {
      List<SegmentHeader> all = holding(catalog, life, durable, end);
      SegmentHeader last = all.getLast();
      for (SegmentHeader header : all.subList(0, all.size() - 1)) {
        directory.copy(header, header.size(), unwritten);
      }
      directory.forceNames();
      directory.copy(last.sealedAt(end), last.place().offset(end - 1) + 1, unwritten);
    }
    directory.forceNames();
    catalog.made(made);
    List<SegmentPlace> places = new ArrayList<>();
    for (SegmentHeader header : made) {
      places.add(header.place());
    }
    return places;
  }

  /** The segments that {@link #seal} makes. */
  static List<SegmentHeader> missing(SegmentCatalog catalog, int life, long durable, long end) {
    List<SegmentHeader> missing = new ArrayList<>();
    for (SegmentHeader header : holding(catalog, life, durable, end)) {
      if (catalog.at(header.begin()) == null) {
        missing.add(header);
      }
    }
    return missing;
  }

  /** The segments from D on, in their order, those included that the writer had not begun. */
  private static List<SegmentHeader> holding(
      SegmentCatalog catalog, int life, long durable, long end) {
    List<SegmentHeader> all = new ArrayList<>();
    for (long at = durable; at < end; at = all.getLast().place().end()) {
      @Nullable SegmentHeader header = catalog.headerAt(at);
      if (header == null || header.life() != life) {
        header = next(catalog, all.isEmpty() ? catalog.headerAt(at - 1) : all.getLast(), at);
      }
      all.add(header);
    }
    return all;
  }

  /**
   * The header of a segment that the writer had not begun, as it would have been. Its size follows
   * from that of the one before. So a restart that takes the place of one that was killed makes the
   * same files.
   */
  private static SegmentHeader next(
      SegmentCatalog catalog, @Nullable SegmentHeader before, long begin) {
    @Nullable UnwrittenLog unwritten = catalog.unwritten();
    if (unwritten == null
        || !unwritten.isFrom(begin)
        || before == null
        || before.place().end() != begin
        || catalog.at(begin) != null) {
      throw new IllegalStateException("position " + begin + " was read and is in no segment");
    }
    boolean isFirst = before.firstLsn() != 0;
    int full = catalog.directory().segmentSize();
    return new SegmentHeader(
        begin,
        isFirst ? before.size() : Math.min(before.size(), full / 2) * 2,
        before.life(),
        /* firstLsn= */ 0,
        /* formerEnd= */ 0,
        /* sealedEnd= */ 0,
        before.durable(),
        before.buffer());
  }
}

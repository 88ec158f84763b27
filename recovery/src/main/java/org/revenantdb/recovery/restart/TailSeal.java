package org.revenantdb.recovery.restart;

import org.jspecify.annotations.Nullable;
import org.revenantdb.recovery.segment.SegmentDirectory;
import org.revenantdb.recovery.segment.SegmentHeader;
import org.revenantdb.recovery.segment.SegmentPlace;

/**
 * Makes sure that what a restart has read is what a next restart will read (R6).
 *
 * <p>Log that is not known to be durable may stand in the cache of the operating system only, and
 * after a failed force no further force would write it. So it is copied to new files, which are
 * forced before anything depends on them.
 */
final class TailSeal {
  /*
   * D = known durable, P = end of the log. Segments of [D, P): copy to another name, force, rename over the old one.
   * The one that holds the last byte before P comes last, after the names of the others were forced, and is sealed:
   *   crash before its rename     the same tail is read again, from old or new files alike
   *   crash after its rename      the seal is found or not; where it is found, all before it is durable
   *   its name not yet forced     the next restart finds the seal, or the old file with what is left of the tail:
   *                               nobody has seen anything of this restart, as its life begins later
   */

  private TailSeal() {}

  /**
   * Seals a life's log.
   *
   * @param catalog the segments; their headers are as they were before
   * @param durable D
   * @param end P
   */
  static void seal(SegmentCatalog catalog, long durable, long end) {
    SegmentDirectory directory = catalog.directory();
    if (durable < end) {
      SegmentHeader last = header(catalog, end - 1);
      for (SegmentPlace place : catalog.holding(durable, last.begin())) {
        directory.copy(header(catalog, place.begin()), place.size());
      }
      directory.forceNames();
      directory.copy(last.sealedAt(end), last.place().offset(end - 1) + 1);
    }
    directory.forceNames();
  }

  private static SegmentHeader header(SegmentCatalog catalog, long lsn) {
    @Nullable SegmentHeader header = catalog.headerAt(lsn);
    if (header == null) {
      throw new IllegalStateException("position " + lsn + " was read and is in no segment");
    }
    return header;
  }
}

package org.revenantdb.recovery.restart;

import org.jspecify.annotations.Nullable;
import org.revenantdb.recovery.format.SegmentLayout;
import org.revenantdb.recovery.segment.SegmentDirectory;
import org.revenantdb.recovery.segment.SegmentHeader;

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
    int size = directory.segmentSize();
    if (durable < end) {
      long last = SegmentLayout.number(end - 1, size);
      for (long number = SegmentLayout.number(durable, size); number < last; number++) {
        directory.copy(header(catalog, number), size);
      }
      directory.forceNames();
      long bytes = SegmentLayout.offset(end - 1, size) + 1;
      directory.copy(header(catalog, last).sealedAt(end), bytes);
    }
    directory.forceNames();
  }

  private static SegmentHeader header(SegmentCatalog catalog, long number) {
    @Nullable SegmentHeader header = catalog.header(number);
    if (header == null) {
      throw new IllegalStateException("segment " + number + " was read and has no header");
    }
    return header;
  }
}

package org.revenantdb.recovery.restart;

import org.jspecify.annotations.Nullable;
import org.revenantdb.recovery.format.SegmentLayout;
import org.revenantdb.recovery.segment.SegmentDirectory;
import org.revenantdb.recovery.segment.SegmentHeader;
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
   *                               nobody has seen anything of this restart, as its life begins later
   * The ring stays as it is until the seal is durable, so it gives the same to each restart before that.
   */

  private TailSeal() {}

  /**
   * Seals a life's log.
   *
   * @param catalog the segments; those that are made are added
   * @param life the life
   * @param durable D
   * @param end P, or the end of what the ring has behind it
   */
  static void seal(SegmentCatalog catalog, int life, long durable, long end) {
    SegmentDirectory directory = catalog.directory();
    @Nullable UnwrittenLog unwritten = catalog.unwritten();
    int size = directory.segmentSize();
    if (durable < end) {
      long last = SegmentLayout.number(end - 1, size);
      for (long number = SegmentLayout.number(durable, size); number < last; number++) {
        copy(catalog, header(catalog, life, number, durable), size, unwritten);
      }
      directory.forceNames();
      long bytes = SegmentLayout.offset(end - 1, size) + 1;
      copy(catalog, header(catalog, life, last, durable).sealedAt(end), bytes, unwritten);
    }
    directory.forceNames();
  }

  private static void copy(
      SegmentCatalog catalog, SegmentHeader header, long bytes, @Nullable UnwrittenLog unwritten) {
    catalog.directory().copy(header, bytes, unwritten);
    catalog.made(header);
  }

  /** The header of a segment; of one that the writer had not begun, as it would have been. */
  private static SegmentHeader header(SegmentCatalog catalog, int life, long number, long durable) {
    @Nullable SegmentHeader header = catalog.header(number);
    if (header != null && header.life() == life) {
      return header;
    }
    @Nullable UnwrittenLog unwritten = catalog.unwritten();
    @Nullable SegmentHeader before = catalog.header(number - 1);
    int size = catalog.directory().segmentSize();
    if (unwritten == null
        || before == null
        || !unwritten.isFrom(SegmentLayout.firstLsn(number, size))) {
      throw new IllegalStateException("segment " + number + " was read and has no header");
    }
    return new SegmentHeader(
        number,
        size,
        life,
        /* firstLsn= */ 0,
        /* formerEnd= */ 0,
        /* sealedEnd= */ 0,
        durable,
        before.buffer());
  }
}

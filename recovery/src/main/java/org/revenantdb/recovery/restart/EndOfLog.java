package org.revenantdb.recovery.restart;

import org.jspecify.annotations.Nullable;
import org.revenantdb.recovery.file.ControlState;
import org.revenantdb.recovery.format.LogRecordLayout;
import org.revenantdb.recovery.format.SegmentLayout;
import org.revenantdb.recovery.segment.LogReader;
import org.revenantdb.recovery.segment.SegmentHeader;

/**
 * Tells the end of the log from damage (R7), by what is known to have been durable (R6).
 *
 * <p>A hole is the end of the log unless something proves that the bytes in it had been forced:
 * then it is damage, and cutting it off would lose committed work.
 */
final class EndOfLog {
  /*
   * P = where the last life's walk found no good record. Proof that the log went on beyond P:
   *   E1 the control slot, a header, or a record before or behind P names a durable LSN above P;
   *   E2 a header, or the control slot, belongs to a later life than the one that ends at P;
   *   E3 a record before P says that a segment behind P exists, and there is no such segment.
   *
   * A legal crash gives none of them: a durable LSN is named only after the force (E1), a life begins only after the
   * end of the former one was made durable, and names it (E2), a segment is spoken of only after its file, header and
   * name were forced (E3). Good records behind P are no proof: several segments may be written between two forces.
   */

  private final SegmentCatalog catalog;
  private final ControlState control;
  private final int segmentSize;

  EndOfLog(SegmentCatalog catalog, ControlState control) {
    this.catalog = catalog;
    this.control = control;
    segmentSize = catalog.directory().segmentSize();
  }

  /**
   * Checks that the log may end there.
   *
   * @param end P
   * @param life the life that ends there
   * @param named the highest durable LSN that a record before P names
   * @param segmentNamed the highest segment that such a record knows of
   * @return D, the highest position known to have been durable
   */
  long check(long end, int life, long named, long segmentNamed) {
    long durable = Math.max(named, catalog.highestDurable());
    durable = Math.max(durable, Math.max(control.durableLsn(), control.endOfLog()));
    boolean closed = control.clean() && control.endOfLog() == end && control.life() == life;
    if (!closed) {
      durable = Math.max(durable, search(end, life));
    }
    if (durable > end) {
      refuseIfMissing(end, SegmentLayout.number(durable - 1, segmentSize));
      throw LogDamage.endsTooEarly(
          catalog, end, "it was durable up to position " + durable + " at least");
    }
    checkLives(end, life);
    checkSegments(end, life, segmentNamed);
    return durable;
  }

  /**
   * Checks what was taken from the ring behind the end of the segments. Its records name what was
   * durable, and which files there were, as those in the segments do.
   *
   * @param end P
   * @param unwrittenEnd the end of what was taken
   * @param life the life that ends there
   * @param named the highest durable LSN that a record before that end names
   * @param segmentNamed the highest segment that a record of the ring knows of
   */
  void checkUnwritten(long end, long unwrittenEnd, int life, long named, long segmentNamed) {
    if (named > end) {
      throw LogDamage.endsTooEarly(
          catalog,
          end,
          "its ring goes on to position "
              + unwrittenEnd
              + ", and says that it was durable up to position "
              + named
              + " at least");
    }
    checkSegments(end, life, segmentNamed);
  }

  private void checkSegments(long end, int life, long segmentNamed) {
    long next = SegmentLayout.number(end - 1, segmentSize) + 1;
    for (long number = next; number <= segmentNamed; number++) {
      if (catalog.lifeOf(number) != life) {
        throw LogDamage.missing(catalog, number, "the log ends at position " + end + ", before it");
      }
    }
  }

  private void checkLives(long end, int life) {
    @Nullable SegmentHeader youngest = catalog.youngest();
    int highest = Math.max(control.life(), youngest == null ? 0 : youngest.life());
    if (highest > life) {
      if (control.life() > life) {
        refuseIfMissing(end, SegmentLayout.number(control.durableLsn() - 1, segmentSize));
      }
      throw LogDamage.endsTooEarly(
          catalog, end, "that is in life " + life + ", and there was a life " + highest);
    }
  }

  private void refuseIfMissing(long end, long number) {
    if (!catalog.present().contains(number)) {
      throw LogDamage.missing(
          catalog,
          number,
          "the log ends at position " + end + ", and was durable into this segment");
    }
  }

  /** The highest durable LSN that a good record behind the end names. */
  private long search(long end, int life) {
    long durable = 0;
    try (LogReader reader = new LogReader(catalog.directory(), number -> true)) {
      long last = catalog.present().isEmpty() ? -1 : catalog.present().last();
      long at = end;
      while (SegmentLayout.number(at, segmentSize) <= last) {
        long number = SegmentLayout.number(at, segmentSize);
        long present = catalog.present().ceiling(number);
        long segmentEnd = SegmentLayout.firstLsn(number + 1, segmentSize);
        if (present > number) {
          at = SegmentLayout.firstLsn(present, segmentSize);
        } else if (!reader.load(at, Long.BYTES)) {
          at = segmentEnd;
        } else if (reader.isGoodAt(at)) {
          reader.seek(at);
          reader.next();
          if (reader.life() >= life) {
            durable = Math.max(durable, reader.durable());
          }
          at = reader.lsn();
        } else {
          at = reader.nextCandidate(at + LogRecordLayout.ALIGNMENT);
        }
      }
    }
    return durable;
  }
}

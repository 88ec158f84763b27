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
   *   E2 a good record behind P begins in a later segment: the segment of P was forced before that one was written.
   *      (One that only ends there proves nothing: its last bytes may be zeros, as the prepared segment is.)
   *      No proof if the record at P itself reaches into that later segment, where it may be torn;
   *   E3 a header, or the control slot, belongs to a later life than the one that ends at P;
   *   E4 a record before P says that a segment behind P exists, and there is no such segment.
   *
   * Where a seal says P, an earlier restart has looked for E2 and found none; it is not looked for again.
   *
   * A legal crash gives none of them: a durable LSN is named only after the force (E1), a segment is written only
   * after the force of the one before (E2), a life begins only after the end of the former one was made durable, and
   * names it (E3), a segment is spoken of only after its file, header and name were forced (E4).
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
    if (!closed && !isSealedAt(end)) {
      durable = Math.max(durable, search(end, life));
    }
    if (durable > end) {
      refuseIfMissing(end, SegmentLayout.number(durable - 1, segmentSize));
      throw LogDamage.endsTooEarly(
          catalog, end, "it was durable up to position " + durable + " at least");
    }
    checkLives(end, life);
    long next = SegmentLayout.number(end - 1, segmentSize) + 1;
    for (long number = next; number <= segmentNamed; number++) {
      if (catalog.lifeOf(number) != life) {
        throw LogDamage.missing(catalog, number, "the log ends at position " + end + ", before it");
      }
    }
    return durable;
  }

  /**
   * Whether an earlier restart has decided that the log ends here. The seal cut off the record at
   * the end, and with it what may excuse good records behind it in the next segment: they are what
   * is left of a torn tail.
   */
  private boolean isSealedAt(long end) {
    @Nullable SegmentHeader header = catalog.header(SegmentLayout.number(end - 1, segmentSize));
    return header != null && header.sealedEnd() == end;
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

  /** The highest durable LSN that a good record behind the end names or proves. */
  private long search(long end, int life) {
    long durable = 0;
    try (LogReader reader = new LogReader(catalog.directory(), number -> true)) {
      long last = catalog.present().isEmpty() ? -1 : catalog.present().last();
      long at = end;
      while (SegmentLayout.number(at, segmentSize) <= last) {
        long number = SegmentLayout.number(at, segmentSize);
        long segmentEnd = SegmentLayout.firstLsn(number + 1, segmentSize);
        if (!catalog.present().contains(number) || !reader.load(at, Long.BYTES)) {
          at = segmentEnd;
        } else if (reader.isGoodAt(at)) {
          reader.seek(at);
          reader.next();
          durable = Math.max(durable, provenBy(reader, end, life));
          at = reader.lsn();
        } else {
          at = reader.nextCandidate(at + LogRecordLayout.ALIGNMENT);
        }
      }
    }
    return durable;
  }

  private long provenBy(LogReader found, long end, int life) {
    if (found.life() < life) {
      return 0;
    }
    long segmentStart =
        SegmentLayout.firstLsn(SegmentLayout.number(found.start(), segmentSize), segmentSize);
    return segmentStart > end && !mayReachInto(segmentStart, end)
        ? Math.max(found.durable(), segmentStart)
        : found.durable();
  }

  /** Whether the record at the end may have bytes in a segment that starts there. */
  private boolean mayReachInto(long segmentStart, long end) {
    if (segmentStart - end < LogRecordLayout.HEADER) {
      return true;
    }
    try (LogReader reader = new LogReader(catalog.directory(), number -> true)) {
      return reader.claimsToBeRecord(end) && end + reader.lengthAt(end) > segmentStart;
    }
  }
}

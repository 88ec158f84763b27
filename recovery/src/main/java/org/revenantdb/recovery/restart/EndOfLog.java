package org.revenantdb.recovery.restart;

import org.jspecify.annotations.Nullable;
import org.revenantdb.recovery.file.ControlState;
import org.revenantdb.recovery.format.LogRecordLayout;
import org.revenantdb.recovery.segment.LogReader;
import org.revenantdb.recovery.segment.SegmentHeader;
import org.revenantdb.recovery.segment.SegmentPlace;

/**
 * Tells the end of the log from damage (R7), by what is known to have been durable (R6).
 *
 * <p>A hole is the end of the log unless something proves that the bytes in it had been forced:
 * then it is damage, and cutting it off would lose committed work.
 */
final class EndOfLog {
  /*
   * P = where the last life's walk found no good record. Proof that the log continued beyond P:
   *   E1 the control slot, a header, or a record before or behind P names a durable LSN above P;
   *   E2 a header, or the control slot, belongs to a later life than the one that ends at P;
   *   E3 a record before P says that there are segments up to a position behind P, and one of them is not there;
   *      unless the control slot names P as the end of a clean close, which has deleted them.
   *
   * A legal crash gives none of them: a durable LSN is named only after the force (E1), a life begins only after the
   * end of the former one was made durable, and names it (E2), a segment is spoken of only after its file, header and
   * name were forced (E3). Good records behind P are no proof: several segments may be written between two forces.
   */

  private final SegmentCatalog catalog;
  private final ControlState control;

  EndOfLog(SegmentCatalog catalog, ControlState control) {
    this.catalog = catalog;
    this.control = control;
  }

  /**
   * Checks that the log may end there.
   *
   * @param end P
   * @param life the life that ends there
   * @param named the highest durable LSN that a record before P names
   * @param segmentsNamed up to where such a record knows of segments
   * @return D, the highest position known to have been durable
   */
  long check(long end, int life, long named, long segmentsNamed) {
    long durable = Math.max(named, catalog.highestDurable());
    durable = Math.max(durable, Math.max(control.durableLsn(), control.endOfLog()));
    boolean closed = control.clean() && control.endOfLog() == end && control.life() == life;
    if (!closed) {
      durable = Math.max(durable, search(end, life));
    }
    if (durable > end) {
      refuseIfMissing(end, durable - 1);
      throw LogDamage.endsTooEarly(
          catalog, end, "it was durable up to position " + durable + " at least");
    }
    checkLives(end, life);
    if (!closed) { // else the segments that were made ahead are gone: the slot names the end
      checkSegments(end, life, segmentsNamed);
    }
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
   * @param segmentsNamed up to where a record of the ring knows of segments
   */
  void checkUnwritten(long end, long unwrittenEnd, int life, long named, long segmentsNamed) {
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
    checkSegments(end, life, segmentsNamed);
  }

  private void checkSegments(long end, int life, long segmentsNamed) {
    for (long at = end; at < segmentsNamed; ) {
      @Nullable SegmentPlace place = catalog.at(at, life);
      if (place == null) {
        throw LogDamage.missing(catalog, at, "the log ends at position " + end + ", before it");
      }
      at = place.end();
    }
  }

  private void checkLives(long end, int life) {
    @Nullable SegmentHeader youngest = catalog.youngest();
    int highest = Math.max(control.life(), youngest == null ? 0 : youngest.life());
    if (highest > life) {
      if (control.life() > life) {
        refuseIfMissing(end, control.durableLsn() - 1);
      }
      throw LogDamage.endsTooEarly(
          catalog, end, "that is in life " + life + ", and there was a life " + highest);
    }
  }

  private void refuseIfMissing(long end, long lsn) {
    if (catalog.fileAt(lsn) == null) {
      throw LogDamage.missing(
          catalog, lsn, "the log ends at position " + end + ", and was durable into this segment");
    }
  }

  /** The highest durable LSN that a good record behind the end names. */
  private long search(long end, int life) {
    long durable = 0;
    long reached = end;
    for (SegmentPlace place : catalog.present()) {
      if (place.end() > end) {
        // A record may reach into the next segment; files that are no segments may lie anywhere.
        boolean goesOn = place.isSame(catalog.fileAt(reached));
        Search search = new Search(place, goesOn ? reached : Math.max(end, place.begin()), life);
        search.run();
        reached = search.at;
        durable = Math.max(durable, search.durable);
      }
    }
    return durable;
  }

  /** One file is searched, whether or not it has a header of its own. */
  private final class Search {
    private final SegmentPlace place;
    private final int life;
    private long at;
    private long durable;

    Search(SegmentPlace place, long from, int life) {
      this.place = place;
      this.life = life;
      at = from;
    }

    void run() {
      try (LogReader reader = new LogReader(catalog.directory(), this::fileAt)) {
        while (at < place.end() && reader.load(at, Long.BYTES)) {
          if (reader.isGoodAt(at)) {
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
    }

    private @Nullable SegmentPlace fileAt(long lsn) {
      return place.holds(lsn) ? place : catalog.fileAt(lsn);
    }
  }
}

package org.revenantdb.recovery.restart;

import org.jspecify.annotations.NullMarked;
import org.revenantdb.recovery.format.SegmentLayout;

/**
 * Gives the jcstress tests access to package-private pending parts: two pages that may lack a part,
 * in two segments.
 */
@NullMarked
public final class OpenPendingParts {
  private static final long FIRST_BEGIN = SegmentLayout.FIRST_BEGIN;
  private static final long SECOND_BEGIN = FIRST_BEGIN + SegmentLayout.FIRST_SIZE;
  private static final int FIRST_PAGE = 3;
  private static final int SECOND_PAGE = 4;
  private static final int LENGTH = 64;

  private final PendingParts parts = new PendingParts(null);

  /** Both pages are pending. */
  public OpenPendingParts() {
    parts.change(FIRST_PAGE, firstLsn(), LENGTH, /* at= */ 40);
    parts.change(SECOND_PAGE, SECOND_BEGIN, LENGTH, /* at= */ 40);
    parts.complete(new long[] {FIRST_BEGIN, SECOND_BEGIN});
  }

  /**
   * Where the part of the first page begins.
   *
   * @return the start of a segment
   */
  public static long firstLsn() {
    return FIRST_BEGIN;
  }

  /** The first page is redone. */
  public void done() {
    parts.done(FIRST_PAGE);
  }

  /** The second page is redone. */
  public void secondDone() {
    parts.done(SECOND_PAGE);
  }

  /**
   * The position from which the log is needed.
   *
   * @return as {@link PendingParts#oldestLsn}
   */
  public long oldestLsn() {
    return parts.oldestLsn();
  }
}

package org.revenantdb.chaos.run;

import java.util.List;
import org.revenantdb.chaos.oracle.PromiseLog;
import org.revenantdb.chaos.subject.Verdict;

/**
 * The control that a subject's check sees loss: of an empty directory it must not say that all is
 * well (docs/chaos.md §5). The same for every kind of crash.
 */
public final class LossControl {

  /** What is wrong with a subject whose check sees none. */
  public static final String COMPLAINT =
      "an empty directory passes the subject's check: it cannot see that something is lost,"
          + " or nothing was promised to be durable";

  /** What is wrong with a subject that gives nothing to check. */
  public static final String PROMISED_NOTHING = "the subject's work promised nothing";

  /**
   * A life may end with everything removed, and nothing then is right; so a few places are asked.
   */
  private static final int PLACES = 32;

  private LossControl() {}

  /**
   * Has an empty directory opened and checked.
   *
   * @param <E> what may go wrong that is not the subject's fault
   */
  @FunctionalInterface
  public interface OnNothing<E extends Exception> {
    /**
     * Checks.
     *
     * @param crash the crash point: what was promised before it counts
     * @return what the check came to
     * @throws E if it could not be done
     */
    Verdict check(long crash) throws E;
  }

  /**
   * Tells whether the check sees loss anywhere.
   *
   * @param log of the lives
   * @param end behind the last of what was said
   * @param onNothing has an empty directory checked
   * @param <E> what it may throw
   * @return false if it is satisfied with nothing
   * @throws E if a check could not be done
   */
  public static <E extends Exception> boolean seesLoss(
      PromiseLog log, long end, OnNothing<E> onNothing) throws E {
    if (onNothing.check(end) != Verdict.SURVIVED) {
      return true;
    }
    List<Long> places = log.places();
    int step = Math.max(1, places.size() / PLACES);
    for (int i = places.size() - 1; i >= 0; i -= step) {
      // Loss alone: what a check remembers from later would be a phantom there.
      if (onNothing.check(places.get(i) + 1) == Verdict.LOST) {
        return true;
      }
    }
    return false;
  }
}

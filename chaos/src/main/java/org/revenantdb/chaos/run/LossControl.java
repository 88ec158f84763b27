package org.revenantdb.chaos.run;

import java.util.List;
import org.revenantdb.chaos.oracle.PromiseLog;
import org.revenantdb.chaos.subject.Verdict;

/**
 * The control that a subject's check detects losses: it must not accept an empty directory
 * (docs/chaos.md §5). The same for every kind of crash.
 */
public final class LossControl {

  /** The complaint about a subject whose check detects no losses. */
  public static final String COMPLAINT =
      "the subject's check accepts an empty directory: it detects no losses,"
          + " or nothing was promised to be durable";

  /** The complaint about a subject that gives nothing to check. */
  public static final String PROMISED_NOTHING = "the subject's work promised nothing";

  /**
   * A life may end with everything removed, and then an empty directory is right. So several places
   * are tried.
   */
  private static final int PLACES = 32;

  private LossControl() {}

  /**
   * Opens and checks an empty directory.
   *
   * @param <E> a failure that is not the subject's fault
   */
  @FunctionalInterface
  public interface OnNothing<E extends Exception> {
    /**
     * Checks an empty directory.
     *
     * @param crash the crash point: promises before it count
     * @return the verdict of the check
     * @throws E if the check could not be made
     */
    Verdict check(long crash) throws E;
  }

  /**
   * Returns whether the check detects a loss at any place.
   *
   * @param log of the lives
   * @param end a place behind the last report
   * @param onNothing checks an empty directory
   * @param <E> the exception of a check
   * @return false if it accepts an empty directory everywhere
   * @throws E if a check could not be made
   */
  public static <E extends Exception> boolean seesLoss(
      PromiseLog log, long end, OnNothing<E> onNothing) throws E {
    if (onNothing.check(end) != Verdict.SURVIVED) {
      return true;
    }
    List<Long> places = log.places();
    int step = Math.max(1, places.size() / PLACES);
    for (int i = places.size() - 1; i >= 0; i -= step) {
      // Only a loss counts: a value that a check knows from later would be a phantom there.
      if (onNothing.check(places.get(i) + 1) == Verdict.LOST) {
        return true;
      }
    }
    return false;
  }
}

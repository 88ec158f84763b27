package org.revenantdb.chaos.run;

import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;
import org.revenantdb.chaos.disk.DiskImage;
import org.revenantdb.chaos.oracle.PromiseLog;
import org.revenantdb.chaos.subject.CrashSubject;
import org.revenantdb.chaos.subject.Verdict;
import org.revenantdb.chaos.trace.CallStack;

/**
 * What must hold of a subject before anything is believed that it says of crashes: where all is
 * kept it survives, and where all is lost it does not.
 *
 * @param <S> the open store
 */
final class Controls<S> {

  /**
   * A life may end with everything removed, and nothing then is right; so a few places are asked.
   */
  private static final int PLACES = 32;

  private final Supplier<CrashSubject<S>> subjects;
  private final Duration limit;

  /**
   * Creates controls.
   *
   * @param subjects makes subjects
   * @param limit how long each may take
   */
  Controls(Supplier<CrashSubject<S>> subjects, Duration limit) {
    this.subjects = subjects;
    this.limit = limit;
  }

  /**
   * Tries both.
   *
   * @param everything the files as the lives left them; is used up
   * @param promises of the lives
   * @param end behind the last of them
   * @return what is wrong with the subject, with a stack; or nothing
   */
  String complaint(DiskImage everything, PromiseLog promises, long end) {
    StateResult kept = kept(everything, promises, end);
    if (!kept.survived()) {
      return "the subject's own check does not hold on an intact disk: " + told(kept);
    }
    return seesLoss(promises, end)
        ? ""
        : "an empty directory passes the subject's check: it cannot see that something is lost,"
            + " or nothing was promised to be durable";
  }

  /** Looks at what is there when nothing was lost. */
  StateResult kept(DiskImage everything, PromiseLog promises, long end) {
    return new PatientChecker<>(subjects, /* resume= */ true, limit).at(everything, promises, end);
  }

  /** What a check found, with a stack if something was thrown. */
  static String told(StateResult result) {
    return result.summary()
        + (result.failure() == null ? "" : "\n" + CallStack.text(result.failure()));
  }

  private boolean seesLoss(PromiseLog promises, long end) {
    PatientChecker<S> checker = new PatientChecker<>(subjects, /* resume= */ false, limit);
    if (!checker.at(new DiskImage(), promises, end).survived()) {
      return true;
    }
    List<Long> places = promises.places();
    int step = Math.max(1, places.size() / PLACES);
    for (int i = places.size() - 1; i >= 0; i -= step) {
      // Loss alone: what a check remembers from later would be a phantom there.
      if (checker.at(new DiskImage(), promises, places.get(i) + 1).verdict() == Verdict.LOST) {
        return true;
      }
    }
    return false;
  }
}

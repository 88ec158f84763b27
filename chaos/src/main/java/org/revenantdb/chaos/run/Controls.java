package org.revenantdb.chaos.run;

import java.time.Duration;
import java.util.function.Supplier;
import org.revenantdb.chaos.disk.DiskImage;
import org.revenantdb.chaos.oracle.PromiseLog;
import org.revenantdb.chaos.subject.CrashSubject;
import org.revenantdb.chaos.trace.CallStack;

/**
 * The controls of a subject, made before its crash results count: it must survive if everything is
 * kept, and must not survive if everything is lost.
 *
 * @param <S> the open store
 */
final class Controls<S> {

  private final Supplier<CrashSubject<S>> subjects;
  private final Duration limit;

  /**
   * Creates the controls.
   *
   * @param subjects makes subjects
   * @param limit the time limit of each
   */
  Controls(Supplier<CrashSubject<S>> subjects, Duration limit) {
    this.subjects = subjects;
    this.limit = limit;
  }

  /**
   * Runs both controls.
   *
   * @param everything the files as the lives left them; is changed
   * @param promises the promises of the lives
   * @param end a place behind the last of them
   * @return what is wrong with the subject, with a stack; or an empty text
   */
  String complaint(DiskImage everything, PromiseLog promises, long end) {
    StateResult kept = kept(everything, promises, end);
    if (!kept.survived()) {
      return "the subject's own check does not hold on an intact disk: " + told(kept);
    }
    PatientChecker<S> checker = new PatientChecker<>(subjects, /* resume= */ false, limit);
    boolean seesLoss =
        LossControl.seesLoss(
            promises, end, crash -> checker.at(new DiskImage(), promises, crash).verdict());
    return seesLoss ? "" : LossControl.COMPLAINT;
  }

  /** Checks the files if nothing was lost. */
  StateResult kept(DiskImage everything, PromiseLog promises, long end) {
    return new PatientChecker<>(subjects, /* resume= */ true, limit).at(everything, promises, end);
  }

  /** The findings of a check, with a stack if there was an exception. */
  static String told(StateResult result) {
    return result.summary()
        + (result.failure() == null ? "" : "\n" + CallStack.text(result.failure()));
  }
}

package org.revenantdb.chaos.run;

import java.time.Duration;
import java.util.function.Supplier;
import org.revenantdb.chaos.disk.DiskImage;
import org.revenantdb.chaos.oracle.PromiseLog;
import org.revenantdb.chaos.subject.CrashSubject;
import org.revenantdb.chaos.trace.CallStack;

/**
 * What must hold of a subject before anything is believed that it says of crashes: where all is
 * kept it survives, and where all is lost it does not.
 *
 * @param <S> the open store
 */
final class Controls<S> {

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
    PatientChecker<S> checker = new PatientChecker<>(subjects, /* resume= */ false, limit);
    boolean seesLoss =
        LossControl.seesLoss(
            promises, end, crash -> checker.at(new DiskImage(), promises, crash).verdict());
    return seesLoss ? "" : LossControl.COMPLAINT;
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
}

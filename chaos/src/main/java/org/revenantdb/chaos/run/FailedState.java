package org.revenantdb.chaos.run;

import java.io.IOException;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.revenantdb.chaos.disk.DiskImage;
import org.revenantdb.chaos.oracle.PromiseLog;
import org.revenantdb.chaos.power.CrashState;
import org.revenantdb.chaos.power.Losses;
import org.revenantdb.chaos.power.PowerCut;
import org.revenantdb.chaos.power.Shrinker;
import org.revenantdb.chaos.subject.Verdict;
import org.revenantdb.chaos.trace.CallStack;
import org.revenantdb.chaos.trace.Operation;
import org.revenantdb.chaos.trace.Trace;

/**
 * The processing of a crash state that failed: it is confirmed, shrunk, kept and reported.
 *
 * <p>Threads: the thread of its checker.
 */
final class FailedState {

  private static final int SHRINK_TRIALS = 300;
  private static final int MORE_LOOKS = 8;

  private final String where;
  private final String after;
  private final PowerCutOptions options;
  private final String subject;
  private final Look checker;
  private final Alone alone;
  private final Tally tally;

  /**
   * Creates the processing.
   *
   * @param where the place in the run, in words
   * @param after the fault before the power cut, in words; empty if there was none
   * @param options the options of the run
   * @param subject name of the subject's class
   * @param checker opens further images
   * @param alone opens images in a fresh JVM
   * @param tally receives the failure
   */
  FailedState(
      String where,
      String after,
      PowerCutOptions options,
      String subject,
      Look checker,
      Alone alone,
      Tally tally) {
    this.where = where;
    this.after = after;
    this.options = options;
    this.subject = subject;
    this.checker = checker;
    this.alone = alone;
    this.tally = tally;
  }

  /** Reports a state that failed, with an unused image equal to the failed one. */
  void tell(Recording recording, CrashState state, DiskImage spare, StateResult first)
      throws IOException {
    DiskImage equal = spare.fork();
    // A hang takes long, and its checker has confirmed it.
    StateResult second =
        first.hangs() ? first : checker.at(spare, recording.promises(), state.seq());
    // If the failure is that a thread died, its timing is random.
    for (int i = 0; i < MORE_LOOKS && second.survived() && first.isOfAThread(); i++) {
      second = checker.at(equal.fork(), recording.promises(), state.seq());
    }
    if (second.survived()) {
      tellUnlike(recording, state, equal, first, "the second opening of an equal image survived");
      return;
    }
    if (alone.isLeak(first.signature(), equal, recording.promises(), state.seq())) {
      tellLeak(tally, options.seed(), where, first, Alone.LEAK);
      return;
    }
    tally.count(first);
    KnownFailures known = options.known();
    if (known.areUsed() && isKnown(recording, state, first)) {
      return;
    }
    // Two causes may fail alike: to learn both, each state that no known one explains is shrunk.
    if (!tally.isNew(first.signature()) && !known.learns()) {
      return;
    }
    PromiseLog promises = recording.promises();
    Trace trace = recording.trace();
    PowerCut cut = new PowerCut(trace, options.profile().rules());
    CrashState whole = cut.state(state.seq(), state.losses());
    CrashState small =
        first.hangs()
            ? whole
            : Shrinker.shrink(
                cut,
                whole,
                image -> !checker.at(image, promises, state.seq()).survived(),
                SHRINK_TRIALS);
    DiskImage kept = small.image().fork();
    StateResult result = first.hangs() ? first : checker.at(small.image(), promises, small.seq());
    // Static state may have led the search astray.
    StateResult other = alone.once(kept, promises, small.seq());
    if (other != null && other.survived()) {
      small = cut.state(state.seq(), state.losses());
      kept = small.image();
      result = first;
    }
    StateResult shown = result.survived() ? first : result;
    String story =
        alone.withNote(told(small, promises))
            + (shown.failure() == null ? "" : "\n" + CallStack.text(shown.failure()));
    String title = shown.verdict() + ", " + where + ": " + shown.summary();
    @Nullable Path file =
        FailureFile.keep(
            options.keep(),
            new FailureFile(
                subject,
                shown.verdict(),
                title,
                options.seed(),
                options.profile().name(),
                small.seq(),
                kept,
                promises,
                story));
    Failure failure =
        new Failure(
            shown.verdict(),
            title,
            shown.findings(),
            story,
            options.seed(),
            file,
            cause(small, first),
            List.of());
    if (known.learns()) {
      known.explain(failure);
    }
    tally.add(failure);
  }

  /** What is lost, and the thread that was promised something: often another one than wrote it. */
  private static String told(CrashState state, PromiseLog promises) {
    String promise = promises.lastBefore(state.seq());
    return state.losses().story() + (promise.isEmpty() ? "" : "\n" + promise);
  }

  /**
   * Whether a known cause explains the failure: what it needs is among what is lost, or it needs
   * nothing lost, and the state in which nothing is lost fails, too.
   */
  private boolean isKnown(Recording recording, CrashState state, StateResult first)
      throws IOException {
    KnownFailures known = options.known();
    if (known.explain(cause(state, first), first.verdict())) {
      return true;
    }
    if (first.hangs() || state.losses().operations().isEmpty()) {
      return false;
    }
    PowerCut cut = new PowerCut(recording.trace(), options.profile().rules());
    CrashState whole = cut.state(state.seq(), Losses.none());
    StateResult result = checker.at(whole.image(), recording.promises(), whole.seq());
    return !result.survived() && known.explain(Set.of(result.signature(), after), result.verdict());
  }

  /**
   * The cause of a failure: the kinds of the operations that have to be lost, with the places that
   * they come from. A failure without any has a cause of its own.
   */
  private Set<String> cause(CrashState small, StateResult first) {
    Set<String> lost = new HashSet<>();
    for (Operation one : small.losses().operations()) {
      if (one.origin().stack().frames().isEmpty()) {
        return Set.of(after, first.signature());
      }
      lost.add(one.getClass().getSimpleName() + one.origin().stack().text());
    }
    if (lost.isEmpty()) {
      lost.add(first.signature());
    }
    lost.add(after);
    return lost;
  }

  /** A state that survived is opened again and must give the same answers. */
  void compareAnswers(Recording recording, CrashState state, DiskImage spare, StateResult first)
      throws IOException {
    DiskImage equal = spare.fork();
    StateResult second = checker.at(spare, recording.promises(), state.seq());
    if (!second.survived()) {
      tellUnlike(recording, state, equal, second, "the first check of an equal image survived");
    } else if (second.answers() != first.answers()) {
      tellUnlike(
          recording,
          state,
          equal,
          first,
          "the second opening of an equal image gave other answers");
    }
  }

  /** Reports that an image failed only in a JVM with other images. */
  static void tellLeak(Tally tally, long seed, String where, StateResult result, String why) {
    tally.count(Verdict.NOT_MEASURED);
    if (tally.isNew("leak")) {
      Throwable failure = result.failure();
      tally.add(
          new Failure(
              Verdict.NOT_MEASURED,
              why,
              result.findings(),
              where
                  + ": "
                  + result.summary()
                  + (failure == null ? "" : "\n" + CallStack.text(failure)),
              seed,
              null));
    }
  }

  /** With one thread no other image is open, and chance is the likely reason. */
  private void tellUnlike(
      Recording recording, CrashState state, DiskImage image, StateResult result, String other) {
    if (options.workers() > 1 && alone.alwaysSurvives(image, recording.promises(), state.seq())) {
      tellLeak(tally, options.seed(), where, result, Alone.LEAK_OR_CHANCE);
      return;
    }
    tally.count(Verdict.HARNESS_BROKEN);
    if (tally.isNew("unlike")) {
      Throwable failure = result.failure();
      tally.add(
          new Failure(
              Verdict.HARNESS_BROKEN,
              "the subject is not deterministic, " + where + ": " + other,
              List.copyOf(result.findings()),
              Objects.requireNonNullElse(result.summary(), "")
                  + (failure == null ? "" : "\n" + CallStack.text(failure)),
              options.seed(),
              null));
    }
  }
}

package org.revenantdb.chaos.run;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.revenantdb.chaos.crash.Watchdog;
import org.revenantdb.chaos.disk.DiskImage;
import org.revenantdb.chaos.oracle.PromiseLog;
import org.revenantdb.chaos.power.CrashState;
import org.revenantdb.chaos.power.CrashStates;
import org.revenantdb.chaos.subject.CrashSubject;
import org.revenantdb.chaos.subject.Verdict;
import org.revenantdb.chaos.trace.CallStack;

/**
 * Cuts the power of a recorded run many times, and checks what comes back.
 *
 * <p>Threads: {@link #run} uses the number in the options and waits for them.
 *
 * @param <S> the open store
 */
public final class PowerCutRun<S> {
  /*
   * All workers take states from one iterator, in turn under its lock: building a state costs far
   * less than checking it. A state that fails is opened again from an equal image before it counts.
   * Then it is shrunk, kept and reported, once for each kind. Of those that survive, one in RECHECK
   * is opened twice and must answer the same. Every store must accept new work. In one state of
   * READ_BACK it is opened again and must have that work.
   *
   * Depth. Of the states of one level, one in RECORD_EVERY is checked by a recording checker. The
   * same thread then checks INNER states of that recovery, one of them recorded again. The promises
   * for a recovery are those of the cut run, all made before it began.
   *
   * A worker that hangs in a subject is reported as a failure by its watchdog, interrupted, and
   * left behind. The report opens the image in another JVM, which takes time, and a worker that was
   * only slow goes on meanwhile. So it asks its watchdog behind each check whether it was found to
   * hang. The watchdog decides under a lock: either the check ended before, or its result is
   * dropped. A worker that was found to hang waits for its report before it ends, because the run
   * ends with the threads.
   */

  private static final int RECHECK = 64;
  private static final int READ_BACK = 4;
  private static final int RECORD_EVERY = 12;
  private static final int INNER = 6;
  private static final int RECOVERIES_KEPT = 16;
  private static final Duration GLANCE = Duration.ofMillis(100);

  private final Supplier<? extends ImageChecker> checkers;
  private final Alone alone;
  private final Function<Recording, Iterator<CrashState>> source;
  private final Recording recording;
  private final PowerCutOptions options;
  private final SeenImages seen;
  private final String name;
  private final Tally tally;
  private final Set<Thread> leftBehind = ConcurrentHashMap.newKeySet();
  private final List<Recording> recoveries = new ArrayList<>();
  private final long begun = System.nanoTime();

  /**
   * Prepares a run.
   *
   * @param subjects creates subjects, one for each thread
   * @param recording of a run
   * @param options the settings
   * @param seen images that need no second check; shared by runs over the same recording
   */
  public PowerCutRun(
      Supplier<CrashSubject<S>> subjects,
      Recording recording,
      PowerCutOptions options,
      SeenImages seen) {
    this.checkers = () -> new StateChecker<>(subjects, /* resume= */ true);
    this.alone = Alone.of(subjects, options.limit());
    this.recording = recording;
    this.options = options;
    this.tally = new Tally(options.known());
    this.seen = seen;
    this.name = "power cut, " + options.profile();
    this.source = of -> states(of, options.states(), options.seed());
  }

  private PowerCutRun(
      Supplier<? extends ImageChecker> checkers,
      Recording recording,
      PowerCutOptions options,
      String name,
      Function<Recording, Iterator<CrashState>> source) {
    this.checkers = checkers;
    this.alone = Alone.already();
    this.recording = recording;
    this.options = options;
    this.tally = new Tally(options.known());
    this.seen = new SeenImages();
    this.name = name;
    this.source = source;
  }

  /**
   * Prepares power cuts whose images are opened by checkers of another kind.
   *
   * @param checkers creates checkers, one for each thread
   * @param recording of a run
   * @param options the settings
   * @return the run
   */
  public static PowerCutRun<?> with(
      Supplier<? extends ImageChecker> checkers, Recording recording, PowerCutOptions options) {
    return new PowerCutRun<>(
        checkers,
        recording,
        options,
        "power cut, " + options.profile(),
        of ->
            new CrashStates(
                of.trace(),
                options.profile().rules(),
                of.plan(options.seed(), options.states()).exhaustiveTo(options.exhaustive())));
  }

  /**
   * Prepares the deaths of a process at every boundary between two operations.
   *
   * @param checkers creates checkers, one for each thread
   * @param recording of a run
   * @param options the settings; the profile is not used
   * @return the run
   */
  public static PowerCutRun<?> deaths(
      Supplier<? extends ImageChecker> checkers, Recording recording, PowerCutOptions options) {
    return new PowerCutRun<>(
        checkers,
        recording,
        options,
        "process death",
        of -> new EveryBoundary(of, options.states()));
  }

  /**
   * Builds and checks the states, and shrinks those that fail.
   *
   * @return the result
   */
  public Outcome run() {
    if (!recording.usable()) {
      return Outcome.of(name, recording.verdict(), recording.reason());
    }
    Iterator<CrashState> states = source.apply(recording);
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < options.workers(); i++) {
      Worker worker = new Worker(states);
      threads.add(Thread.ofPlatform().daemon().name("power cut " + i).start(worker));
    }
    ExitGuard guard = ExitGuard.on(() -> name);
    try {
      threads.forEach(this::await);
    } finally {
      guard.close();
    }
    if (!(states instanceof EveryBoundary boundaries)) {
      return tally.outcome(name, 0);
    }
    tellUntried();
    return tally.outcome(name, 0).withSeen(Seen.NOTHING.with(boundaries.told()));
  }

  /** A thread that always stores into mapped memory leaves hardly a moment for a death. */
  private void tellUntried() {
    long untried = recording.untriedPromises();
    int all = recording.promises().places().size();
    if (2 * untried > all) {
      tally.count(Verdict.NOT_MEASURED);
      String title =
          ("%d of %d promises were made amid stores into mapped memory that never settled, so a"
                  + " death behind them would be a guess. Let the subject work without a thread that"
                  + " always stores, or measure power cuts only")
              .formatted(untried, all);
      tally.add(
          new Failure(
              Verdict.NOT_MEASURED, title, List.of(), "", options.seed(), /* file= */ null));
    }
  }

  private void await(Thread thread) {
    try {
      while (!leftBehind.contains(thread) && !thread.join(GLANCE)) {
        Thread.onSpinWait();
      }
    } catch (InterruptedException e) {
      thread.interrupt();
      Thread.currentThread().interrupt();
    }
  }

  /**
   * Returns recordings of recoveries that the run made, for further checks.
   *
   * @return some of them, the earliest first
   */
  public List<Recording> recoveries() {
    synchronized (recoveries) {
      return List.copyOf(recoveries);
    }
  }

  private void keep(Recording recovery) {
    synchronized (recoveries) {
      if (recoveries.size() < RECOVERIES_KEPT) {
        recoveries.add(recovery);
      }
    }
  }

  private Iterator<CrashState> states(Recording of, int count, long seed) {
    return new CrashStates(
        of.trace(),
        options.profile().rules(),
        of.plan(seed, count).exhaustiveTo(options.exhaustive()));
  }

  private @Nullable CrashState next(Iterator<CrashState> states) {
    Duration budget = options.budget();
    if (budget != null && System.nanoTime() - begun > budget.toNanos()) {
      return null;
    }
    synchronized (states) {
      return states.hasNext() ? states.next() : null;
    }
  }

  /**
   * A recording at some depth: 1 is the run, 2 a recovery from one of its crash states, and so on.
   */
  private record Level(Recording recording, int depth, String history, long log) {}

  /**
   * The state that a worker is opening: the evidence if the worker hangs.
   *
   * @param image must not be changed
   * @param promises the promises
   * @param seq the crash point
   * @param story describes the losses
   */
  private record Opened(DiskImage image, PromiseLog promises, long seq, Supplier<String> story) {}

  /** Thrown in a thread that was found to hang, and continues. */
  private static final class FoundHanging extends RuntimeException {
    private static final long serialVersionUID = 1L;
  }

  /** One thread with its own subject. */
  private final class Worker implements Runnable {

    private final Iterator<CrashState> states;
    private final ImageChecker checker = checkers.get();
    private volatile String current = "";
    private volatile @Nullable Opened opened;
    private final CountDownLatch told = new CountDownLatch(1);
    private long taken;

    Worker(Iterator<CrashState> states) {
      this.states = states;
    }

    @Override
    public void run() {
      Thread self = Thread.currentThread();
      Watchdog watchdog = Watchdog.start(self.getName(), options.limit(), () -> tellHanging(self));
      checker.watchedBy(watchdog);
      Level top = new Level(recording, 1, "", /* log= */ 0);
      try {
        for (CrashState state; (state = next(states)) != null; ) {
          checkState(top, state, watchdog);
          if (leftBehind.contains(self)) {
            return;
          }
        }
      } catch (FoundHanging e) {
        // Its watchdog reports it.
      } catch (Exception | Error e) { // ours: those of subjects never come here
        tally.count(Verdict.HARNESS_BROKEN);
        tally.add(
            new Failure(
                Verdict.HARNESS_BROKEN,
                "the framework failed at " + current + ": " + e,
                List.of(),
                CallStack.text(e),
                options.seed(),
                null));
      } finally {
        if (!watchdog.alive()) {
          awaitReport();
        }
        watchdog.close();
        checker.close();
      }
    }

    private void awaitReport() {
      boolean interrupted = false;
      while (true) {
        try {
          told.await();
          break;
        } catch (InterruptedException e) {
          interrupted = true;
        }
      }
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }

    private void tellUnusable(Recording recovery) {
      tally.count(recovery.verdict());
      if (tally.isNew("unusable")) {
        String title = recovery.reason() + " (" + current + ")";
        tally.add(
            new Failure(
                recovery.verdict(), title, List.of(), "", options.seed(), /* file= */ null));
      }
    }

    private void tellHanging(Thread thread) {
      try {
        tellHang(thread);
      } finally {
        leftBehind.add(thread);
        told.countDown();
        thread.interrupt();
      }
    }

    private void tellHang(Thread thread) {
      String stack = "its stack:\n" + new CallStack(List.of(thread.getStackTrace())).text();
      String title =
          "%s of a crash state did not end within %d s (%s)"
              .formatted(checker.phase(), options.limit().toSeconds(), current);
      Opened on = opened;
      if (on != null && isLeak(on, title, thread)) {
        return;
      }
      String story = on == null ? stack : alone.withNote(on.story().get()) + "\n" + stack;
      tally.count(Verdict.CORRUPT);
      tally.add(
          new Failure(
              Verdict.CORRUPT, title, List.of(), story, options.seed(), kept(on, title, story)));
    }

    /** Another image may hold what this one waits for. */
    private boolean isLeak(Opened on, String title, Thread thread) {
      Hang hang = new Hang(options.limit(), thread.getStackTrace());
      StateResult result = new StateResult(Verdict.CORRUPT, List.of(), hang, checker.phase(), 0, 0);
      boolean leaks = alone.isLeak(result.signature(), on.image().fork(), on.promises(), on.seq());
      if (leaks) {
        FailedState.tellLeak(tally, options.seed(), title, result, Alone.LEAK);
      }
      return leaks;
    }

    private @Nullable Path kept(@Nullable Opened on, String title, String story) {
      if (on == null) {
        return null;
      }
      FailureFile file =
          new FailureFile(
              checker.subjectClass(),
              Verdict.CORRUPT,
              title,
              options.seed(),
              options.profile().name(),
              on.seq(),
              on.image(),
              on.promises(),
              story);
      try {
        return FailureFile.keep(options.keep(), file);
      } catch (IOException e) {
        System.err.println("cannot keep the file of \"" + title + "\": " + e);
        return null;
      }
    }

    /** Each check of a failed state is a sign of life, and may be the one that hangs. */
    private FailedState failedState(Watchdog watchdog, CrashState state) {
      Look look =
          (image, promises, seq) -> {
            goOn(watchdog);
            // A shrunk state may have fewer losses.
            opened = new Opened(image.fork(), promises, seq, () -> state.losses().story());
            StateResult result = checker.check(image, promises, seq);
            goOn(watchdog);
            return result;
          };
      String where = name + " at " + current;
      return new FailedState(
          where,
          /* after= */ "",
          options,
          checker.subjectClass(),
          look,
          alone.watchedBy(watchdog),
          tally);
    }

    /** Notes a sign of life. */
    private static void goOn(Watchdog watchdog) {
      if (!watchdog.alive()) {
        throw new FoundHanging();
      }
    }

    private void checkState(Level level, CrashState state, Watchdog watchdog) throws IOException {
      goOn(watchdog);
      current = "depth " + level.depth + ", crash point " + state.seq() + level.history;
      Recording of = level.recording;
      DiskImage spare = state.image().fork();
      SeenImages.Known known =
          seen.add(spare.hash(), level.log, of.promises().answerCount(state.seq()));
      if (known == SeenImages.Known.ALREADY) {
        return;
      }
      taken++;
      opened = new Opened(spare.fork(), of.promises(), state.seq(), () -> state.losses().story());
      boolean deeper = level.depth < options.depth() && taken % RECORD_EVERY == level.depth;
      StateResult result;
      Recording recovery = null;
      if (deeper) {
        StateChecker.Recorded recorded =
            checker.checkRecorded(state.image(), of.promises(), state.seq());
        result = recorded.result();
        recovery = recorded.recording();
      } else {
        result =
            taken % READ_BACK == 0
                ? checker.check(state.image(), of.promises(), state.seq())
                : checker.glance(state.image(), of.promises(), state.seq());
      }
      goOn(watchdog);
      if (known == SeenImages.Known.NEW) {
        tally.countState();
      }
      if (!result.survived()) {
        failedState(watchdog, state).tell(of, state, spare, result);
        if (result.hangs()) {
          // As in this JVM, where the thread would be lost: each further hang would take the limit.
          leftBehind.add(Thread.currentThread());
        }
        return;
      }
      tally.count(result);
      if (taken % RECHECK == 0) {
        failedState(watchdog, state).compareAnswers(of, state, spare, result);
      }
      if (recovery != null && !recovery.usable()) {
        tellUnusable(recovery);
      } else if (recovery != null && !recovery.trace().operations().isEmpty()) {
        keep(recovery);
        String history = " of the recovery from " + current;
        Level inner = new Level(recovery, level.depth + 1, history, seen.anotherLog());
        Iterator<CrashState> innerStates = states(recovery, INNER, options.seed() + taken);
        for (CrashState next; (next = next(innerStates)) != null; ) {
          checkState(inner, next, watchdog);
          if (leftBehind.contains(Thread.currentThread())) {
            return;
          }
        }
      }
    }
  }
}

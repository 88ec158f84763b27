package org.revenantdb.chaos.crash;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.lang.reflect.Constructor;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.revenantdb.chaos.fault.FailpointListener;
import org.revenantdb.chaos.oracle.Finding;
import org.revenantdb.chaos.oracle.PromiseEvent;
import org.revenantdb.chaos.oracle.PromiseLog;
import org.revenantdb.chaos.oracle.RecoveredState;
import org.revenantdb.chaos.recording.RecordingFileSystem;
import org.revenantdb.chaos.run.LossControl;
import org.revenantdb.chaos.subject.CrashSubject;
import org.revenantdb.chaos.subject.Verdict;
import org.revenantdb.chaos.trace.CallStack;
import org.revenantdb.chaos.trace.TraceClock;

/**
 * One life of a subject in its own process.
 *
 * <pre>
 *   first life of a store:   open, work, close, open, work, ...            [close, open, check], close
 *   after a crash:           open, check, resume, close, open, check, then as above
 *   control, at the end:     open, check, close, three times; an empty directory: open, check
 * </pre>
 *
 * <p>It never waits for its death. Every failure is reported to the ledger and ends the life.
 *
 * <p>Threads: one, besides those that the subject starts.
 *
 * @param <S> the open store
 */
final class Life<S> {

  /**
   * After this many works in a row without a promise, a kill at a count of promises never comes.
   */
  private static final int MOST_SILENT = 20;

  /** Repetitions of a check: a subject with random answers seldom gives the same one so often. */
  private static final int LOOKS = 3;

  private final LifeOrder order;
  private final CrashSubject<S> subject;
  private final Consumer<LifeEntry> ledger;
  private final DeathWatch watch;
  private final TraceClock clock = new TraceClock();
  private Path directory;
  private @Nullable Unseen unseen;
  private PromiseLog log = new PromiseLog();

  /** The life has ended early. The reason was reported already. */
  private static final class Over extends Exception {
    private static final long serialVersionUID = 1L;
  }

  /** A step that may fail as the store may. */
  @FunctionalInterface
  private interface Step<R extends @Nullable Object> {
    R run() throws Exception;
  }

  Life(LifeOrder order, CrashSubject<S> subject, Consumer<LifeEntry> ledger) {
    this.order = order;
    this.subject = subject;
    this.ledger = ledger;
    this.watch = new DeathWatch(subject, order.death(), ledger);
    this.directory = order.store();
  }

  /** Creates the subject by its constructor without parameters, even if it is not public. */
  @SuppressWarnings("unchecked") // The store's type matters only to the subject itself.
  static <S> CrashSubject<S> subject(String name) {
    try {
      Constructor<?> constructor = Class.forName(name).getDeclaredConstructor();
      constructor.setAccessible(true);
      return (CrashSubject<S>) constructor.newInstance();
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("cannot make a " + name, e);
    }
  }

  void live() {
    try {
      if (order.recorded()) {
        RecordingFileSystem recording =
            RecordingFileSystem.over(order.store()).faults(watch).keepTrace(order.judged()).start();
        if (order.judged()) {
          unseen = new Unseen(recording, order.store());
        }
        directory = recording.directory();
        FailpointListener.set(watch::reached);
      }
      Path promises = order.promises();
      work(promises == null ? begin() : recover(promises));
      watch.tell();
      tellUnseen();
      if (order.control() && promises != null) {
        control(promises);
      }
      ledger.accept(new LifeEntry.Done());
    } catch (Over e) {
      // Reported where it happened.
    } catch (IOException e) {
      ledger.accept(
          new LifeEntry.Broken("the framework cannot use its own files: " + CallStack.text(e)));
    }
  }

  /** Reports what was done without the recorder, where no process can die. */
  private void tellUnseen() {
    Unseen compared = unseen;
    if (compared == null) {
      return;
    }
    try {
      compared.changes().forEach(what -> ledger.accept(new LifeEntry.Missed(what)));
      compared.notes().forEach(what -> ledger.accept(new LifeEntry.Noted(what)));
    } catch (RuntimeException | Error e) { // for instance memory: not the fault of the store
      String what = "the directory cannot be compared with what was recorded: " + e;
      ledger.accept(new LifeEntry.Missed(what));
    }
  }

  /** The controls of the subject's check, on an intact disk (docs/chaos.md §5). */
  private void control(Path promises) throws Over, IOException {
    long answers = 0;
    for (int i = 0; i < LOOKS; i++) {
      S store = open();
      RecoveredState state = check(store, /* settle= */ false);
      close(store);
      if (i > 0 && answers != state.answers()) {
        throw broken(
            "the subject is not deterministic: it gives different answers about the same files");
      }
      answers = state.answers();
    }
    ledger.accept(new LifeEntry.Begins(Phase.CONTROL));
    List<PromiseEvent> all = new ArrayList<>(read(promises).events());
    while (!all.isEmpty() && all.getLast() instanceof PromiseEvent.Crash) {
      all.removeLast(); // otherwise nothing of the last life would count any more
    }
    PromiseLog said = PromiseLog.of(all);
    if (!LossControl.seesLoss(said, Long.MAX_VALUE, crash -> onNothing(said.at(crash)))) {
      throw broken(LossControl.COMPLAINT);
    }
    ledger.accept(new LifeEntry.Ended(Phase.CONTROL, 0));
  }

  private Verdict onNothing(RecoveredState state) throws IOException {
    Path empty = order.settled().resolveSibling("empty");
    FileTrees.delete(empty);
    Files.createDirectories(empty);
    S store = null;
    try {
      store = subject.open(empty);
      subject.check(store, state);
      return state.verdict();
    } catch (Throwable e) { // an exception counts as a finding
      return Verdict.CORRUPT;
    } finally {
      closeQuietly(store);
    }
  }

  private void closeQuietly(@Nullable S store) {
    if (store == null) {
      return;
    }
    try {
      subject.close(store);
    } catch (Throwable e) {
      // The end of a store that held nothing shows nothing.
    }
  }

  private Over broken(String reason) {
    ledger.accept(new LifeEntry.Broken(reason));
    return new Over();
  }

  private static PromiseLog read(Path promises) throws IOException {
    try (DataInputStream in =
        new DataInputStream(new BufferedInputStream(Files.newInputStream(promises)))) {
      return PromiseLog.readFrom(in);
    }
  }

  private S begin() throws Over {
    log.listener(event -> ledger.accept(new LifeEntry.Said(event)));
    return open();
  }

  /**
   * The store must have kept its promises, accept new work, and have kept that, too, when opened
   * again.
   */
  private S recover(Path promises) throws Over, IOException {
    log = read(promises);
    S store = open();
    log = check(store, /* settle= */ true).settled();
    log.listener(event -> ledger.accept(new LifeEntry.Said(event)));
    tellUnseen(); // before new work hides what the recovery has done
    phase(
        Phase.RESUME,
        () -> {
          subject.resume(store, log.promises(clock, Seeds.of(order.seed(), -1)));
          return null;
        });
    close(store);
    tellUnseen();
    S again = open();
    check(again, /* settle= */ false);
    return again;
  }

  private void work(S first) throws Over {
    S store = first;
    int silent = 0;
    for (int i = 0; i < order.works(); i++) {
      if (i > 0 && i % order.closeEvery() == 0) {
        close(store);
        store = open();
      }
      S current = store;
      long seed = Seeds.of(order.seed(), i);
      long spoken = clock.now();
      phase(
          Phase.WORK,
          () -> {
            subject.work(current, log.promises(clock, seed));
            return null;
          });
      silent = clock.now() == spoken ? silent + 1 : 0;
      boolean veryFirst = order.promises() == null && i == 0;
      if (silent >= (veryFirst ? 1 : MOST_SILENT)) {
        throw broken(LossControl.PROMISED_NOTHING);
      }
    }
    if (order.checkLast()) {
      close(store);
      store = open();
      check(store, /* settle= */ false);
    }
    close(store);
  }

  private S open() throws Over {
    return phase(Phase.OPEN, () -> subject.open(directory));
  }

  private void close(S store) throws Over {
    phase(
        Phase.CLOSE,
        () -> {
          subject.close(store);
          return null;
        });
  }

  private RecoveredState check(S store, boolean settle) throws Over {
    RecoveredState state = log.at(Long.MAX_VALUE);
    phase(
        Phase.CHECK,
        () -> {
          try {
            subject.check(store, state);
          } finally {
            // Also of a check that fails: what it has found before may be the cause.
            for (Finding finding : state.findings()) {
              ledger.accept(new LifeEntry.Found(finding));
            }
          }
          if (!state.asked()) {
            throw broken("the subject's check verifies nothing");
          }
          if (!state.findings().isEmpty()) {
            throw new Over();
          }
          if (settle) {
            settle(state);
          }
          return null;
        });
    return state;
  }

  /**
   * Called within the check, before its end is reported, so that the parent finds the file
   * complete.
   */
  private void settle(RecoveredState found) throws IOException {
    try (DataOutputStream out =
        new DataOutputStream(new BufferedOutputStream(Files.newOutputStream(order.settled())))) {
      found.settled().writeTo(out);
    }
  }

  private <R extends @Nullable Object> R phase(Phase phase, Step<R> step) throws Over {
    ledger.accept(new LifeEntry.Begins(phase));
    long start = System.nanoTime();
    try {
      R result = step.run();
      ledger.accept(new LifeEntry.Ended(phase, System.nanoTime() - start));
      return result;
    } catch (Over e) {
      throw e;
    } catch (Throwable e) {
      StackTraceElement[] frames = e.getStackTrace();
      String where = frames.length == 0 ? "" : " at " + frames[0];
      ledger.accept(new LifeEntry.Failed(e.getClass().getName() + where, CallStack.text(e)));
      throw new Over();
    }
  }
}

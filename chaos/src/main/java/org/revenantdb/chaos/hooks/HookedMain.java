package org.revenantdb.chaos.hooks;

import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.revenantdb.chaos.crash.ChildPipe;
import org.revenantdb.chaos.crash.PassedProperties;
import org.revenantdb.chaos.crash.Seeds;
import org.revenantdb.chaos.fault.FaultPoint;
import org.revenantdb.chaos.oracle.PromiseEvent;
import org.revenantdb.chaos.oracle.PromiseLog;
import org.revenantdb.chaos.oracle.RecoveredState;
import org.revenantdb.chaos.run.Subjects;
import org.revenantdb.chaos.subject.CrashSubject;
import org.revenantdb.chaos.subject.FaultKind;
import org.revenantdb.chaos.subject.Promises;
import org.revenantdb.chaos.trace.CallStack;
import org.revenantdb.chaos.trace.TraceClock;

/**
 * The forked JVM of an {@link AnyRecorder}: records itself, and runs lives of a subject on a real
 * directory.
 */
public final class HookedMain {

  /** Lives without faults. */
  static final String RECORD = "record";

  /** A life without faults that counts where they are possible. */
  static final String COUNT = "count";

  /** A life on the files and the tape of another process. */
  static final String AFTER = "after";

  /** A life without hooks, for its duration. */
  static final String PLAIN = "plain";

  /** A life with hooks and without looks at the directory, for its duration. */
  static final String TIMED = "timed";

  private static final ProcessRecorder RECORDER = Recorders.chosen().make();
  private static final long TRIAL = 1 << 22;
  private static final long MOST_PLACES = 1 << 20;

  /** Controls are made at the first promise, the third, the fourth, the seventh, and so on. */
  private static long nextControl = 1;

  private static long controlBehind = 2;
  private static long promises;

  private final ChildPipe pipe;
  private final Path directory;
  private final Supplier<CrashSubject<Object>> subjects;
  private final long seed;
  private final PromiseLog former;
  private final TraceClock clock = new PlaceClock();
  private String phase = "open";

  /** The phase of the first failure, which closing the store hides; empty before. */
  private String failedIn = "";

  private HookedMain(
      ChildPipe pipe,
      Path directory,
      Supplier<CrashSubject<Object>> subjects,
      long seed,
      PromiseLog former) {
    this.pipe = pipe;
    this.directory = directory;
    this.subjects = subjects;
    this.seed = seed;
    this.former = former;
  }

  /**
   * Runs the lives.
   *
   * @param arguments the subject's class, the directory, the tape, the seed, the number of lives,
   *     and the mode
   */
  public static void main(String[] arguments) {
    ChildPipe pipe = ChildPipe.open(HookedMain::end);
    PassedProperties.adopt();
    Path directory = Path.of(arguments[1]);
    String mode = arguments[5];
    PromiseLog former = new PromiseLog();
    try {
      if (!mode.equals(PLAIN)) {
        Path file = Path.of(arguments[2]);
        Tape tape = Tape.open(file);
        hook(directory, file);
        if (mode.equals(AFTER)) {
          former = continueIn(directory, tape);
        } else {
          RECORDER.start(directory, tape, faults(mode), countsOpenings(mode));
        }
      }
    } catch (Throwable e) { // whatever it is, this process cannot be hooked
      pipe.say("unsupported\t" + coded(CallStack.text(e)));
      end(0);
    }
    Thread.setDefaultUncaughtExceptionHandler((thread, thrown) ->
        pipe.say(
            "failed\t"
                + coded(
                    "the thread \"%s\" died: %s"
                        .formatted(thread.getName(), CallStack.text(thrown)))));
    Supplier<CrashSubject<Object>> subjects;
    try {
      subjects = Subjects.of(Class.forName(arguments[0]));
    } catch (ClassNotFoundException | LinkageError e) {
      throw new IllegalStateException("cannot make a " + arguments[0], e);
    }
    HookedMain main =
        new HookedMain(pipe, directory, subjects, Long.parseLong(arguments[3]), former);
    try {
      switch (mode) {
        case RECORD -> main.lives(Integer.parseInt(arguments[4]));
        case AFTER -> main.lifeAfter();
        case PLAIN ->
            main.timedLives(Integer.parseInt(arguments[4]), new TraceClock(), _ -> {}, () -> {});
        case TIMED ->
            main.timedLives(
                Integer.parseInt(arguments[4]),
                main.clock,
                HookedMain::told,
                RECORDER.journal()::rewind);
        case COUNT -> main.lifeWithFault("without a fault");
        default -> main.lifeWithFault("with a fault");
      }
      pipe.say("done");
    } catch (Throwable e) { // any exception of a subject
      pipe.say(
          "failed\t"
              + coded(
                  (main.failedIn.isEmpty() ? main.phase : main.failedIn)
                      + " failed: "
                      + CallStack.text(e)));
    }
    end(0);
  }

  /** The trial happens beside the directory under test, which may have content. */
  private static void hook(Path directory, Path tape) throws Throwable {
    Path trial = directory.resolveSibling(directory.getFileName() + ".trial");
    Path record = ofTrial(tape);
    Files.createDirectories(trial);
    // It stays mapped, and Windows deletes no such file: the parent does it.
    RECORDER.install(trial, Tape.create(record, TRIAL));
    Files.delete(trial);
  }

  /** The file for the record of the trial, which the parent deletes when the process has ended. */
  static Path ofTrial(Path tape) {
    return tape.resolveSibling(tape.getFileName() + ".trial");
  }

  private static Faults faults(String mode) {
    if (Set.of(RECORD, COUNT, TIMED).contains(mode)) {
      return Faults.NOTHING;
    }
    String[] parts = mode.split(" ", 2);
    return Faults.of(new FaultPoint(FaultKind.valueOf(parts[0]), Long.parseLong(parts[1])));
  }

  private static boolean countsOpenings(String mode) {
    return mode.equals(COUNT) || mode.startsWith(FaultKind.OPEN_FAILS.name());
  }

  /** Reads what the former process has promised, and begins behind its record. */
  private static PromiseLog continueIn(Path directory, Tape tape) throws Throwable {
    TraceBuilder built = new TraceBuilder(tape, directory.toString(), -1).read();
    List<Path> existing;
    try (Stream<Path> all = Files.walk(directory)) {
      existing = all.toList();
    }
    // Threads may have done something behind the last look; a force takes many places.
    long last = tape.lastPlace();
    RECORDER.continueIn(
        directory,
        tape,
        built.lastPlace() > last ? built.lastPlace() + MOST_PLACES : last,
        existing);
    return PromiseLog.of(built.promises());
  }

  private void lives(int count) throws Exception {
    PromiseLog log = new PromiseLog(HookedMain::told);
    for (int life = 0; life < count; life++) {
      String which = " in life " + (life + 1) + ", on an intact disk";
      begin("open" + which);
      CrashSubject<Object> subject = subjects.get();
      Object store = subject.open(directory);
      control(pipe);
      begin("work" + which);
      subject.work(store, promises(log, seed + life));
      control(pipe);
      begin("close" + which);
      subject.close(store);
      control(pipe);
    }
  }

  private void timedLives(
      int count, TraceClock places, Consumer<PromiseEvent> sink, Runnable before) throws Exception {
    PromiseLog log = new PromiseLog(sink);
    for (int life = 0; life < count; life++) {
      begin("a life whose duration is measured");
      before.run();
      CrashSubject<Object> subject = subjects.get();
      Object store = subject.open(directory);
      Promises reports = log.promises(places, seed + life);
      long begun = System.nanoTime();
      subject.work(store, reports);
      pipe.say("worked\t" + (System.nanoTime() - begun));
      subject.close(store);
    }
  }

  private void lifeWithFault(String how) throws Exception {
    begin("open " + how);
    CrashSubject<Object> subject = subjects.get();
    try {
      Object store = subject.open(directory);
      try {
        begin("work " + how);
        subject.work(store, promises(new PromiseLog(HookedMain::told), seed));
      } catch (Exception | Error e) {
        failedIn = phase;
        throw e;
      } finally {
        begin("close " + how);
        subject.close(store);
      }
    } finally {
      control(pipe);
    }
  }

  private void lifeAfter() throws Exception {
    begin("open after a fault");
    CrashSubject<Object> subject = subjects.get();
    try {
      Object store = subject.open(directory);
      try {
        // Lazy work may be lost with the first process: the present content counts.
        begin("check after a fault");
        RecoveredState found = former.at(Long.MAX_VALUE);
        found.during(() -> subject.check(store, found));
        PromiseLog next = former.before(Long.MAX_VALUE).settle(found);
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        next.writeTo(new DataOutputStream(bytes));
        RECORDER.journal().begun(bytes.toByteArray());
        begin("resume after a fault");
        subject.resume(store, promises(next.listener(HookedMain::told), Seeds.of(seed, 1)));
      } catch (Exception | Error e) {
        failedIn = phase;
        throw e;
      } finally {
        begin("close after a fault");
        subject.close(store);
      }
    } finally {
      control(pipe);
    }
  }

  private void begin(String what) {
    phase = what;
    pipe.say("phase\t" + what);
  }

  private Promises promises(PromiseLog log, long ofLife) {
    return new ControlledPromises(log.promises(clock, ofLife), pipe);
  }

  private static void told(PromiseEvent event) {
    RECORDER.journal().promised(event.encode(), PromiseLog.isPromise(event));
  }

  private static void end(int code) {
    RECORDER.end(code);
  }

  private static void control(ChildPipe pipe) {
    RECORDER
        .journal()
        .control(place -> pipe.say("control\t" + place), place -> pipe.say("no control\t" + place));
  }

  private static synchronized boolean isControl() {
    if (++promises < nextControl) {
      return false;
    }
    long next = nextControl + controlBehind;
    controlBehind = nextControl;
    nextControl = Math.max(next, promises + 1);
    return true;
  }

  private static String coded(String text) {
    return Base64.getEncoder().encodeToString(text.getBytes(StandardCharsets.UTF_8));
  }

  /** Gives promises their places among the operations. */
  private static final class PlaceClock extends TraceClock {

    @Override
    public long next() {
      return RECORDER.journal().place();
    }
  }

  /** Makes a control at some of the answers, when the store does nothing in this thread. */
  private static final class ControlledPromises extends DelegatingPromises {

    private final ChildPipe pipe;

    ControlledPromises(Promises to, ChildPipe pipe) {
      super(to);
      this.pipe = pipe;
    }

    @Override
    void answered() {
      if (isControl()) {
        control(pipe);
      }
    }
  }
}

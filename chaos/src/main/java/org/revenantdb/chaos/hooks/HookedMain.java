package org.revenantdb.chaos.hooks;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Base64;
import java.util.function.Supplier;
import org.revenantdb.chaos.crash.ChildPipe;
import org.revenantdb.chaos.oracle.PromiseLog;
import org.revenantdb.chaos.run.Subjects;
import org.revenantdb.chaos.subject.CrashSubject;
import org.revenantdb.chaos.subject.Promises;
import org.revenantdb.chaos.trace.CallStack;
import org.revenantdb.chaos.trace.TraceClock;

/**
 * The forked JVM of an {@link AnyRecorder}: hooks itself, and runs lives of a subject on a real
 * directory.
 */
public final class HookedMain {

  /** Controls are made at the first promise, the third, the fourth, the seventh, and so on. */
  private static long nextControl = 1;

  private static long controlBehind = 2;
  private static long promises;

  private HookedMain() {}

  /**
   * Runs the lives.
   *
   * @param arguments the subject's class, the directory, the tape, the seed, the number of lives
   */
  public static void main(String[] arguments) {
    ChildPipe pipe = ChildPipe.open(HookedMain::end);
    Path directory = Path.of(arguments[1]);
    try {
      Hooks.install(directory, Tape.open(Path.of(arguments[2])));
      Hooks.start();
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
    long seed = Long.parseLong(arguments[3]);
    int lives = Integer.parseInt(arguments[4]);
    PromiseLog log = new PromiseLog(event -> Hooks.promised(event.encode()));
    TraceClock clock = new PlaceClock();
    String phase = "open";
    try {
      for (int life = 0; life < lives; life++) {
        String which = " in life " + (life + 1) + ", on an intact disk";
        phase = "open" + which;
        pipe.say("phase\t" + phase);
        CrashSubject<Object> subject = subjects.get();
        Object store = subject.open(directory);
        control(pipe);
        phase = "work" + which;
        pipe.say("phase\t" + phase);
        subject.work(store, new ControlledPromises(log.promises(clock, seed + life), pipe));
        control(pipe);
        phase = "close" + which;
        pipe.say("phase\t" + phase);
        subject.close(store);
        control(pipe);
      }
      pipe.say("done");
    } catch (Throwable e) { // any exception of a subject
      pipe.say("failed\t" + coded(phase + " failed: " + CallStack.text(e)));
    }
    end(0);
  }

  private static void end(int code) {
    try {
      Libc.exit(code);
    } catch (LinkageError | RuntimeException unsupported) {
      // This process could not be hooked, so no thread of a native library is attached.
      Runtime.getRuntime().halt(code);
    }
  }

  private static void control(ChildPipe pipe) {
    Hooks.control(
        place -> pipe.say("control\t" + place), place -> pipe.say("no control\t" + place));
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
      return Hooks.place();
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

package org.revenantdb.suite.fuzz;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.List;

/**
 * A finding of a trial.
 *
 * @param outcome its severity
 * @param phase the phase of the trial
 * @param signature equal for all findings with one cause
 * @param detail a description of several lines
 */
record Finding(Outcome outcome, String phase, String signature, String detail) {

  private static final String OURS = "org.revenantdb.";
  private static final String FRAMEWORK = "org.revenantdb.chaos.";
  private static final String FUZZER = "org.revenantdb.suite.";
  private static final int FRAMES = 3;

  static Finding of(Outcome outcome, String phase, String what) {
    return new Finding(outcome, phase, outcome.text() + " in " + phase + ": " + what, what);
  }

  /** A finding for an exception: the same place means the same cause. */
  static Finding of(Outcome outcome, String phase, Throwable thrown) {
    Throwable root = thrown;
    String types = thrown.getClass().getSimpleName();
    if (thrown.getCause() != null) {
      for (Throwable cause = thrown.getCause(); cause != null; cause = cause.getCause()) {
        root = cause;
      }
      types += " of " + root.getClass().getSimpleName();
    }
    List<String> frames = new ArrayList<>();
    for (StackTraceElement frame : root.getStackTrace()) {
      String type = frame.getClassName();
      if (isOfTheEngine(type) && frames.size() < FRAMES) {
        frames.add(
            type.substring(type.lastIndexOf('.') + 1)
                + "."
                + frame.getMethodName()
                + ":"
                + frame.getLineNumber());
      }
    }
    String signature = outcome.text() + ": " + types + " at " + String.join(" < ", frames);
    return new Finding(outcome, phase, signature, "in " + phase + ": " + stack(thrown));
  }

  /** Whether a stack frame with this name belongs to the engine, and not to the fuzzer. */
  static boolean isOfTheEngine(String name) {
    return name.startsWith(OURS) && !name.startsWith(FRAMEWORK) && !name.startsWith(FUZZER);
  }

  static String stack(Throwable thrown) {
    StringWriter text = new StringWriter();
    thrown.printStackTrace(new PrintWriter(text));
    return text.toString();
  }
}

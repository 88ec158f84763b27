package org.revenantdb.suite.fuzz;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.List;

/**
 * What a trial has found.
 *
 * @param outcome how bad it is
 * @param phase what was being done
 * @param signature the same for all findings with one cause
 * @param detail for people, several lines
 */
record Finding(Outcome outcome, String phase, String signature, String detail) {

  private static final String OURS = "org.revenantdb.";
  private static final String FRAMEWORK = "org.revenantdb.chaos.";
  private static final String FUZZER = "org.revenantdb.suite.";
  private static final int FRAMES = 3;

  static Finding of(Outcome outcome, String phase, String what) {
    return new Finding(outcome, phase, outcome.text() + " in " + phase + ": " + what, what);
  }

  /** Of something that was thrown: the same place is the same cause. */
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

  /** Whether a frame with this name tells where the engine was, and not the fuzzer. */
  static boolean isOfTheEngine(String name) {
    return name.startsWith(OURS) && !name.startsWith(FRAMEWORK) && !name.startsWith(FUZZER);
  }

  static String stack(Throwable thrown) {
    StringWriter text = new StringWriter();
    thrown.printStackTrace(new PrintWriter(text));
    return text.toString();
  }
}

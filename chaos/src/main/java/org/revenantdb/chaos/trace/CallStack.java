package org.revenantdb.chaos.trace;

import java.util.Arrays;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The place in the program that an operation came from: stack frames, innermost first, without
 * those of the framework and of the JDK's file layer.
 *
 * @param frames innermost first; empty if stacks were switched off
 */
public record CallStack(List<StackTraceElement> frames) {

  /** No stack is known. */
  public static final CallStack UNKNOWN = new CallStack(List.of());

  private static final String OURS = "org.revenantdb.chaos.";

  /**
   * The callers of subjects. By name and not by package, because tests of a package are programs,
   * too.
   */
  private static final Set<String> CALLERS =
      Set.of(
          OURS + "crash.Life",
          OURS + "hooks.HookedMain",
          OURS + "run.DyingLife",
          OURS + "run.ErrorLife",
          OURS + "run.FaultRun",
          OURS + "run.LifeRecorder",
          OURS + "run.MemoryLife",
          OURS + "run.StateChecker",
          OURS + "subject.CrashSubject");

  /** Between the line that reports a promise and the log of promises. */
  private static final Set<String> REPORTERS =
      Set.of(
          OURS + "hooks.DelegatingPromises",
          OURS + "hooks.HookedMain",
          OURS + "hooks.Journal",
          OURS + "oracle.PromiseLog",
          OURS + "oracle.PromiseStacks",
          OURS + "oracle.PromiseWriter",
          OURS + "subject.Promises");

  /** JDK frames below every thread of a program. */
  private static final List<String> THREADS =
      List.of("java.lang.Thread", "java.lang.VirtualThread", "java.util.concurrent.", "jdk.");

  /** Copies the list. */
  public CallStack {
    frames = List.copyOf(frames);
  }

  /**
   * Returns the frames in the form of a Java stack trace, down to the call from the framework or
   * the start of the thread.
   *
   * @return one line for each frame
   */
  public String text() {
    return text(ofTheProgram(frames));
  }

  /**
   * Returns the stack without the inner frames that belong to the report of a promise.
   *
   * @return from the line of the subject on
   */
  public CallStack ofTheReporter() {
    int from = 0;
    while (from < frames.size() && REPORTERS.contains(topLevel(frames.get(from)))) {
      from++;
    }
    return new CallStack(frames.subList(from, frames.size()));
  }

  /**
   * Returns an exception with its causes, as Java prints it, but with each stack only {@linkplain
   * #text() as far as the program goes}. Of the frames below the program, in the JDK and in the
   * disk of the framework, only the one that the program called is shown.
   *
   * @param failure what was thrown
   * @return several lines
   */
  public static String text(Throwable failure) {
    StringBuilder text = new StringBuilder();
    append(text, "", failure, List.of(), Collections.newSetFromMap(new IdentityHashMap<>()));
    return text.toString().strip();
  }

  private static void append(
      StringBuilder text,
      String caption,
      Throwable failure,
      List<StackTraceElement> outer,
      Set<Throwable> told) {
    if (!told.add(failure)) {
      return;
    }
    List<StackTraceElement> all = ofTheProgram(Arrays.asList(failure.getStackTrace()));
    List<StackTraceElement> shown = all.subList(0, all.size() - common(all, outer));
    text.append(caption).append(failure).append('\n');
    int below = belowTheProgram(shown);
    if (below > 0) {
      text.append("    ... ").append(below).append(" below the program\n");
    }
    if (!shown.isEmpty()) {
      text.append(text(shown.subList(below, shown.size()))).append('\n');
    }
    if (shown.size() < all.size()) {
      text.append("    ... ").append(all.size() - shown.size()).append(" more\n");
    }
    for (Throwable suppressed : failure.getSuppressed()) {
      append(text, "Suppressed: ", suppressed, all, told);
    }
    @Nullable Throwable cause = failure.getCause();
    if (cause != null) {
      append(text, "Caused by: ", cause, all, told);
    }
  }

  private static int common(List<StackTraceElement> one, List<StackTraceElement> other) {
    int count = 0;
    while (count < Math.min(one.size(), other.size())
        && one.get(one.size() - 1 - count).equals(other.get(other.size() - 1 - count))) {
      count++;
    }
    return count;
  }

  private static String text(List<StackTraceElement> frames) {
    return frames.stream().map(frame -> "    at " + frame).collect(Collectors.joining("\n"));
  }

  /** Keeps the whole stack if otherwise nothing would be left. */
  private static List<StackTraceElement> ofTheProgram(List<StackTraceElement> frames) {
    int end = 0;
    while (end < frames.size() && !CALLERS.contains(topLevel(frames.get(end)))) {
      end++;
    }
    while (end > 0 && isOfAThread(frames.get(end - 1))) {
      end--;
    }
    return end == 0 ? frames : frames.subList(0, end);
  }

  /** How many inner frames are below the one that the program called; 0 if there is no program. */
  private static int belowTheProgram(List<StackTraceElement> frames) {
    int program = 0;
    while (program < frames.size() && Site.isBelow(frames.get(program).getClassName())) {
      program++;
    }
    return program == frames.size() ? 0 : Math.max(0, program - 1);
  }

  private static boolean isOfAThread(StackTraceElement frame) {
    return THREADS.stream().anyMatch(frame.getClassName()::startsWith);
  }

  private static String topLevel(StackTraceElement frame) {
    String name = frame.getClassName();
    int nested = name.indexOf('$');
    return nested < 0 ? name : name.substring(0, nested);
  }
}

package org.revenantdb.chaos.record;

import java.lang.StackWalker.StackFrame;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import org.revenantdb.chaos.trace.CallStack;

/**
 * Takes call stacks; equal ones are one object, so that a long trace has few of them.
 *
 * <p>Threads: any.
 */
final class CallStacks {

  private static final int DEPTH = 40;

  /** This package and the JDK's file layer: between the program and the file. */
  private static final List<String> LAYERS =
      List.of(
          CallStacks.class.getPackageName() + ".",
          "java.nio.",
          "sun.nio.",
          "java.io.",
          "jdk.internal.");

  private static final StackWalker WALKER = StackWalker.getInstance();

  /** What tells frames apart; much cheaper to make than a {@link StackTraceElement}. */
  private record Frame(String type, String method, int index) {}

  private final ConcurrentMap<List<Frame>, CallStack> known = new ConcurrentHashMap<>();

  /** The stack of this call. */
  CallStack here() {
    List<StackFrame> frames =
        WALKER.walk(all -> all.filter(CallStacks::isProgram).limit(DEPTH).toList());
    List<Frame> key = new ArrayList<>(frames.size());
    for (StackFrame frame : frames) {
      key.add(new Frame(frame.getClassName(), frame.getMethodName(), frame.getByteCodeIndex()));
    }
    return known.computeIfAbsent(
        key,
        unused -> new CallStack(frames.stream().map(StackFrame::toStackTraceElement).toList()));
  }

  private static boolean isProgram(StackFrame frame) {
    String type = frame.getClassName();
    for (String layer : LAYERS) {
      if (type.startsWith(layer)) {
        return false;
      }
    }
    return true;
  }
}

package org.revenantdb.chaos.oracle;

import java.lang.StackWalker.StackFrame;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.revenantdb.chaos.trace.CallStack;

/**
 * Where in the subject each promise was made, by its place. Equal stacks are one object, so that a
 * long log has few of them.
 *
 * <p>Threads: any.
 */
final class PromiseStacks {

  /** The line of the subject is near the inner end. */
  private static final int DEPTH = 24;

  private static final StackWalker WALKER = StackWalker.getInstance();

  /** Much cheaper to make than a {@link StackTraceElement}. */
  private record Frame(String type, String method, int index) {}

  private final Map<List<Frame>, CallStack> known = new ConcurrentHashMap<>();
  private final Map<Long, CallStack> byPlace = new ConcurrentHashMap<>();

  /** Notes the stack of this call. */
  void note(long place) {
    List<StackFrame> frames = WALKER.walk(all -> all.limit(DEPTH).toList());
    List<Frame> key = new ArrayList<>(frames.size());
    for (StackFrame frame : frames) {
      key.add(new Frame(frame.getClassName(), frame.getMethodName(), frame.getByteCodeIndex()));
    }
    byPlace.put(
        place,
        known.computeIfAbsent(
            key,
            _ -> new CallStack(frames.stream().map(StackFrame::toStackTraceElement).toList())));
  }

  /** Notes a stack from another process. */
  void note(long place, CallStack stack) {
    byPlace.put(place, stack);
  }

  /** Whole stacks, also with the frames of the report. */
  Map<Long, CallStack> all() {
    return Map.copyOf(byPlace);
  }

  /** The stack without the frames of the report itself. */
  CallStack at(long place) {
    return byPlace.getOrDefault(place, CallStack.UNKNOWN).ofTheReporter();
  }
}

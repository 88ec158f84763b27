package org.revenantdb.chaos.trace;

import java.lang.StackWalker.StackFrame;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.function.Predicate;

/**
 * Takes call stacks. Equal ones are one object, so that a long record has few of them.
 *
 * <p>Threads: any.
 */
public final class KnownStacks {

  private static final StackWalker WALKER = StackWalker.getInstance();

  /** The key of a frame, much cheaper to create than a {@link StackTraceElement}. */
  private record Frame(String type, String method, int index) {}

  private final ConcurrentMap<List<Frame>, CallStack> known = new ConcurrentHashMap<>();

  /** Knows none. */
  public KnownStacks() {}

  /**
   * Returns the stack of this call. Its innermost frame is this method, if that is wanted.
   *
   * @param wanted the other frames are left out
   * @param depth the maximum number of frames, from the innermost one on
   * @return the stack
   */
  public CallStack here(Predicate<StackFrame> wanted, int depth) {
    List<StackFrame> frames = WALKER.walk(all -> all.filter(wanted).limit(depth).toList());
    List<Frame> key = new ArrayList<>(frames.size());
    for (StackFrame frame : frames) {
      key.add(new Frame(frame.getClassName(), frame.getMethodName(), frame.getByteCodeIndex()));
    }
    return known.computeIfAbsent(
        key, _ -> new CallStack(frames.stream().map(StackFrame::toStackTraceElement).toList()));
  }
}

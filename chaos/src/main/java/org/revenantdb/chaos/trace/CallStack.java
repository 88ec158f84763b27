package org.revenantdb.chaos.trace;

import java.util.List;
import java.util.stream.Collectors;

/**
 * Where in the program an operation came from: frames, innermost first, without those of the
 * framework and of the JDK's file layer.
 *
 * @param frames innermost first; empty if stacks were switched off
 */
public record CallStack(List<StackTraceElement> frames) {

  /** No stack is known. */
  public static final CallStack UNKNOWN = new CallStack(List.of());

  /** Copies the list. */
  public CallStack {
    frames = List.copyOf(frames);
  }

  /**
   * The frames as a Java stack trace shows them.
   *
   * @return one line for each frame
   */
  public String text() {
    return frames.stream().map(frame -> "    at " + frame).collect(Collectors.joining("\n"));
  }
}

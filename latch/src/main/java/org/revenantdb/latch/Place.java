package org.revenantdb.latch;

import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Set;

/**
 * Records when, in which thread and from where the latch was called. The stack is the caller's,
 * without the frames of this package.
 */
final class Place {
  /** The number of frames of a stack that a message shows. */
  private static final int SHOWN = 32;

  private static final Set<String> OURS =
      Set.of(
          Place.class.getName(),
          HoldRegistry.class.getName(),
          LatchDebug.class.getName(),
          HybridLatch.class.getName());

  final Instant time = Instant.now();

  /** Not the thread itself, so that it can be collected when it has ended. */
  private final String threadName = Thread.currentThread().getName();

  private final long threadId = Thread.currentThread().threadId();

  /** Its frames are resolved only if they are printed. */
  private final Throwable here = new Throwable();

  List<StackTraceElement> stack() {
    StackTraceElement[] frames = here.getStackTrace();
    int first = 0;
    while (first < frames.length && OURS.contains(frames[first].getClassName())) {
      first++;
    }
    return List.of(Arrays.copyOfRange(frames, first, frames.length));
  }

  /** Several lines, the last one with its line end. */
  @Override
  public String toString() {
    StringBuilder text =
        new StringBuilder("  in thread #" + threadId + " \"" + threadName + "\"\n");
    for (StackTraceElement frame : stack().stream().limit(SHOWN).toList()) {
      text.append("    at ").append(frame).append('\n');
    }
    return text.toString();
  }
}

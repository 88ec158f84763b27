package org.revenantdb.chaos.oracle;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.revenantdb.chaos.trace.CallStack;
import org.revenantdb.chaos.trace.KnownStacks;

/**
 * Where in the subject each promise was made, by its place.
 *
 * <p>Threads: any.
 */
final class PromiseStacks {

  /** The line of the subject is near the inner end. */
  private static final int DEPTH = 24;

  private final KnownStacks known = new KnownStacks();
  private final Map<Long, CallStack> byPlace = new ConcurrentHashMap<>();

  /** Notes the stack of this call. */
  void note(long place) {
    byPlace.put(place, known.here(_ -> true, DEPTH));
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

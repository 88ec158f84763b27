package org.revenantdb.engine;

import java.util.Arrays;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The attempts of one call of {@link Database#run} that have met conflicts. One thread. */
final class Attempts {
  /** Of each reason, in their order. */
  private final int[] failures = new int[ConflictReason.values().length];

  private int made;
  private int inARow;
  private @Nullable ConflictException last;

  void failed(ConflictException conflict) {
    ConflictException before = last;
    boolean isSame = before != null && before.isAs(conflict);
    inARow = isSame ? inARow + 1 : 1;
    made++;
    last = conflict;
    failures[conflict.reason().ordinal()]++;
  }

  /** How many have failed one after the other for the same reason, because of the same other. */
  int inARow() {
    return inARow;
  }

  /** How many there were. */
  int made() {
    return made;
  }

  /** How many failed for this reason. */
  int failedBecauseOf(ConflictReason reason) {
    return failures[reason.ordinal()];
  }

  /** Why the last one failed. */
  @Nullable ConflictException last() {
    return last;
  }

  /** How many there were, and for each reason how many. */
  String inWords() {
    return Arrays.stream(ConflictReason.values())
        .filter(reason -> failedBecauseOf(reason) > 0)
        .map(reason -> "%s: %d".formatted(reason.text(), failedBecauseOf(reason)))
        .collect(Collectors.joining(", ", made + " attempts (", ")"));
  }
}

package org.revenantdb.engine;

import java.util.EnumMap;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The attempts of one call of {@link Database#run} that have met conflicts. One thread. */
final class Attempts {
  private final Map<ConflictReason, Integer> failures = new EnumMap<>(ConflictReason.class);

  private int made;
  private int inARow;
  private @Nullable ConflictException last;

  void failed(ConflictException conflict) {
    ConflictException before = last;
    boolean isSame = before != null && before.isAs(conflict);
    inARow = isSame ? inARow + 1 : 1;
    made++;
    last = conflict;
    failures.merge(conflict.reason(), 1, Integer::sum);
  }

  /** How many have failed one after the other for the same reason, because of the same other. */
  int inARow() {
    return inARow;
  }

  /** How many there were. */
  int made() {
    return made;
  }

  /** Why the last one failed. */
  @Nullable ConflictException last() {
    return last;
  }

  /** How many there were, and for each reason how many. */
  String inWords() {
    return failures.entrySet().stream()
        .map(one -> one.getKey().text() + ": " + one.getValue())
        .collect(Collectors.joining(", ", made + " attempts (", ")"));
  }
}

package org.revenantdb.chaos.examples;

import java.util.List;
import java.util.Set;

/**
 * What an independent recorder has found in these stores. The framework must find each of them
 * unaided: by the common work, without a hint where to look.
 */
record Finding(Example store, Set<Part> parts, String what, String judgement) {
  static final String BUG = "a bug: its documents promise otherwise";
  static final String UNUSUAL = "only where names are not durable in their order";

  static final List<Finding> KNOWN =
      List.of();

  /** In one line. */
  String text() {
    return store.title() + ": " + what + " (" + judgement + ")";
  }

  /** Whether a run has shown it. */
  boolean isIn(List<Row> rows) {
    return rows.stream()
        .anyMatch(row -> row.store() == store && parts.contains(row.part()) && row.isFinding());
  }
}

package org.revenantdb.chaos.examples;

import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.revenantdb.chaos.run.Outcome;
import org.revenantdb.chaos.subject.Verdict;

/**
 * What became of a store whose operations failed in one way.
 *
 * @param fault the kind, in words
 * @param outcome not measured if hooks cannot make the fault, or if no operation of the store can
 *     have it
 * @param seen in how many lives it occurred; empty if it was not measured
 */
record FaultLine(Example store, String fault, Outcome outcome, String seen) {
  boolean isFinding() {
    return outcome.verdict() == Verdict.LOST || outcome.verdict() == Verdict.CORRUPT;
  }

  /** The first failure, or why nothing was measured, in one line. */
  String first() {
    String text =
        outcome.failures().isEmpty() ? outcome.reason() : outcome.failures().getFirst().title();
    return text.lines().findFirst().orElse("");
  }

  /** The files of its failures, for a replay. */
  List<Path> files() {
    return Row.files(outcome);
  }

  Map<String, Object> json() {
    Map<String, Object> fields = new LinkedHashMap<>(store.json());
    fields.put("fault", fault);
    fields.put("verdict", outcome.verdict().name());
    fields.put("states", outcome.states());
    fields.put("seen", seen);
    fields.put("first", first());
    fields.put("files", files().stream().map(Path::toString).toList());
    return fields;
  }
}

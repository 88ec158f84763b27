package org.revenantdb.chaos.examples;

import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.revenantdb.chaos.run.Failure;
import org.revenantdb.chaos.run.Outcome;
import org.revenantdb.chaos.subject.Verdict;

/**
 * What became of a store in one part.
 *
 * @param seconds that the states took
 */
record Row(Example store, Part part, Outcome outcome, double seconds) {
  /** Store and kind of crash. */
  String name() {
    return store.title() + ", " + part.title();
  }

  boolean isMeasured() {
    return outcome.verdict() != Verdict.NOT_MEASURED && outcome.verdict() != Verdict.HARNESS_BROKEN;
  }

  boolean isFinding() {
    return outcome.verdict() == Verdict.LOST || outcome.verdict() == Verdict.CORRUPT;
  }

  /** The checks that ended with a loss or a damage. */
  long failedChecks() {
    Map<Verdict, Long> verdicts = outcome.verdicts();
    return verdicts.getOrDefault(Verdict.LOST, 0L) + verdicts.getOrDefault(Verdict.CORRUPT, 0L);
  }

  /** The failures that no finding explains, in one line each. */
  List<String> unexplained() {
    if (!isFinding()) {
      return List.of();
    }
    return outcome.failures().isEmpty()
        ? List.of(first())
        : outcome.failures().stream()
            .filter(failure -> Finding.KNOWN.stream().noneMatch(one -> one.explains(this, failure)))
            .map(failure -> firstLine(failure.title()))
            .toList();
  }

  /** The states that the death of a process leaves. */
  long deaths() {
    return part == Part.DEATH ? outcome.states() : 0;
  }

  /** The first failure, or why nothing was measured, in one line. */
  String first() {
    String text =
        outcome.failures().isEmpty() ? outcome.reason() : outcome.failures().getFirst().title();
    return firstLine(text);
  }

  private static String firstLine(String text) {
    return text.lines().findFirst().orElse("");
  }

  /** The files of its failures, for a replay. */
  List<Path> files() {
    return files(outcome);
  }

  static List<Path> files(Outcome outcome) {
    Set<Path> files = new LinkedHashSet<>(); // two failures may have equal images
    for (Failure failure : outcome.failures()) {
      Path file = failure.file();
      if (file != null) {
        files.add(file);
      }
    }
    return List.copyOf(files);
  }

  Map<String, Object> json() {
    Map<String, Object> fields = new LinkedHashMap<>(store.json());
    fields.put("crash", part.title());
    fields.put("verdict", outcome.verdict().name());
    fields.put("states", outcome.states());
    fields.put("seconds", seconds);
    fields.put("first", first());
    fields.put("files", files().stream().map(Path::toString).toList());
    return fields;
  }
}

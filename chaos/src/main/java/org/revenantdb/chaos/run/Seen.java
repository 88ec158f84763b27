package org.revenantdb.chaos.run;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * What a part of a run saw of the store. A verdict says little if little was seen, so every report
 * has it beside the verdict.
 *
 * @param counts in the order in which they are told, by the name that they have in JSON, for
 *     instance {@code files} or {@code deaths_left_out}
 * @param notes what no number tells, each without a period
 * @param coverage for each place that forces, whether its loss is noticed; empty if forces were not
 *     removed
 * @param faults the lives with faults; empty if there were none
 */
public record Seen(
    Map<String, Long> counts,
    List<String> notes,
    List<CoverageRow> coverage,
    List<FaultRow> faults) {

  /** Nothing is known. */
  public static final Seen NOTHING = new Seen(Map.of(), List.of(), List.of(), List.of());

  /** Copies map and lists. */
  public Seen {
    counts = Collections.unmodifiableMap(new LinkedHashMap<>(counts));
    notes = List.copyOf(notes);
    coverage = List.copyOf(coverage);
    faults = List.copyOf(faults);
  }

  /**
   * Adds a number.
   *
   * @param name a plural, its words separated by {@code _}
   * @param count instead of the one that it has already
   * @return what was seen with it
   */
  public Seen with(String name, long count) {
    Map<String, Long> all = new LinkedHashMap<>(counts);
    all.put(name, count);
    return new Seen(all, notes, coverage, faults);
  }

  /**
   * Adds a note.
   *
   * @param note without a period; ignored if empty
   * @return what was seen with it
   */
  public Seen with(String note) {
    return note.isEmpty() ? this : and(new Seen(Map.of(), List.of(note), List.of(), List.of()));
  }

  /**
   * Adds rows of force coverage.
   *
   * @param rows for each place
   * @return what was seen with them
   */
  public Seen withCoverage(List<CoverageRow> rows) {
    return new Seen(counts, notes, rows, faults);
  }

  /**
   * Adds rows of faults.
   *
   * @param rows for each kind
   * @return what was seen with them
   */
  public Seen withFaults(List<FaultRow> rows) {
    return new Seen(counts, notes, coverage, rows);
  }

  /**
   * Adds what was seen elsewhere.
   *
   * @param other its numbers replace those of the same name
   * @return both
   */
  public Seen and(Seen other) {
    Map<String, Long> all = new LinkedHashMap<>(counts);
    all.putAll(other.counts);
    return new Seen(
        all, both(notes, other.notes), both(coverage, other.coverage), both(faults, other.faults));
  }

  private static <T> List<T> both(List<T> one, List<T> other) {
    List<T> all = new ArrayList<>(one);
    all.addAll(other);
    return all;
  }

  /**
   * Returns the numbers and the notes in one line.
   *
   * @return without a period; empty if nothing is known
   */
  public String text() {
    String numbers =
        counts.entrySet().stream()
            .map(one -> one.getValue() + " " + words(one.getKey(), one.getValue()))
            .collect(Collectors.joining(", "));
    return Stream.concat(Stream.of(numbers), notes.stream())
        .filter(one -> !one.isEmpty())
        .collect(Collectors.joining("; "));
  }

  private static String words(String name, long count) {
    String words = name.replace('_', ' ');
    return count == 1 ? words.replaceFirst("s\\b", "") : words;
  }
}

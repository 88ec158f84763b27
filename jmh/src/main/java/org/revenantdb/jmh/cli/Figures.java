package org.revenantdb.jmh.cli;

import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import com.google.gson.JsonObject;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The result of a measurement: figures, which are plain numbers with a name, the points behind
 * them, and the plots of these points.
 */
final class Figures {
  private static final Gson JSON =
      new GsonBuilder().setPrettyPrinting().disableHtmlEscaping().create();

  private final Map<String, Double> figures = new LinkedHashMap<>();
  private final Map<String, Sample> points = new LinkedHashMap<>();
  private final Map<String, String> settings = new LinkedHashMap<>();
  private final Map<String, String> versions = new LinkedHashMap<>();
  private final List<String> notMeasured = new ArrayList<>();
  private final List<Plot> plots = new ArrayList<>();
  private final List<PointTable> tables = new ArrayList<>();
  private final Map<String, Boolean> judged = new LinkedHashMap<>();
  private Rounds.@Nullable Tally tally;

  /** Sets a figure that a reader may rely on; yes is 1, no is 0. */
  void put(String name, double value) {
    if (!Double.isFinite(value)) {
      throw new IllegalArgumentException(name + " is no number: " + value);
    }
    figures.put(name, value);
  }

  /** Adds a point that figures were made from; one that is no number was not measured. */
  void point(String name, Sample sample) {
    if (Double.isFinite(sample.lowest()) && Double.isFinite(sample.highest())) {
      points.put(name, sample);
    } else {
      notMeasured.add(name + " is no number");
    }
  }

  /** Notes a setting under which the points were measured. */
  void setting(String name, Object value) {
    settings.put(name, value.toString());
  }

  /** Notes the version of a program that was measured for comparison, or measured with. */
  void version(String name, String value) {
    versions.put(name, value);
  }

  /** Notes in a sentence what could not be measured, and why; the other parts continue. */
  void notMeasured(String sentence) {
    notMeasured.add(sentence);
  }

  /** A part of a measurement. */
  @FunctionalInterface
  interface Part {
    /** Measures it. */
    void measure() throws CannotMeasureException;
  }

  /** Measures a part. If that fails it is noted, and the other parts continue. */
  void attempt(Part part) {
    try {
      part.measure();
    } catch (CannotMeasureException e) {
      notMeasured(e.sentence());
    } catch (RuntimeException | LinkageError e) { // the latter is a missing peer
      notMeasured("a part: " + e);
      e.printStackTrace(System.err);
    }
  }

  /** Adds a picture to the report. */
  void plot(Plot plot) {
    plots.add(plot);
  }

  /** Adds a table to the report. */
  void table(PointTable table) {
    tables.add(table);
  }

  /** Checks whether a bound, which is a setting of the same name, was kept; each time if often. */
  void judge(String name, boolean isKept) {
    judged.merge(name, isKept, Boolean::logicalAnd);
  }

  /** Notes how many rounds there were. */
  void rounds(Rounds.Tally rounds) {
    tally = rounds;
  }

  Map<String, Double> figures() {
    return Collections.unmodifiableMap(figures);
  }

  Map<String, Sample> points() {
    return Collections.unmodifiableMap(points);
  }

  Map<String, String> settings() {
    return Collections.unmodifiableMap(settings);
  }

  Map<String, String> versions() {
    return Collections.unmodifiableMap(versions);
  }

  List<String> notMeasured() {
    return Collections.unmodifiableList(notMeasured);
  }

  List<Plot> plots() {
    return Collections.unmodifiableList(plots);
  }

  List<PointTable> tables() {
    return Collections.unmodifiableList(tables);
  }

  Map<String, Boolean> judged() {
    return Collections.unmodifiableMap(judged);
  }

  Rounds.@Nullable Tally tally() {
    return tally;
  }

  /** The whole result as text: figures at the top level, followed by the details. */
  String toJson(Bench.Settings run, MeasuredOn surroundings) {
    JsonObject json = new JsonObject();
    figures.forEach(json::addProperty);
    JsonObject detail = new JsonObject();
    judged.forEach(detail::addProperty);
    detail.add("points", JSON.toJsonTree(points));
    JsonObject shown = new JsonObject();
    tables.forEach(table -> shown.add(table.question(), table.toJson(points)));
    detail.add("tables", shown);
    detail.add("settings", JSON.toJsonTree(settings));
    detail.add("versions", JSON.toJsonTree(versions));
    if (tally != null) {
      detail.add("rounds", JSON.toJsonTree(tally));
    }
    detail.add("notMeasured", JSON.toJsonTree(notMeasured));
    json.add("detail", detail);
    json.add("machine", JSON.toJsonTree(surroundings.machine()));
    json.addProperty("jdk", surroundings.jdk());
    json.addProperty("commit", surroundings.commit());
    json.addProperty("seed", run.seed());
    json.addProperty("quick", run.quick());
    return JSON.toJson(json) + "\n";
  }
}

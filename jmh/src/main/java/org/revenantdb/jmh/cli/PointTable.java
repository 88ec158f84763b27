package org.revenantdb.jmh.cli;

import com.google.gson.JsonObject;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Points of a report in rows and columns, for comparisons in several units that have no plot. Like
 * a {@link Plot} it has names of points; one that was not measured leaves a gap.
 */
final class PointTable {
  private final String question;
  private final List<String> columns = new ArrayList<>();
  private final Map<String, Map<String, String>> rows = new LinkedHashMap<>();

  PointTable(String question) {
    this.question = question;
  }

  /** Adds a cell; rows and columns are in the order in which they first come. */
  PointTable cell(String row, String column, String point) {
    if (!columns.contains(column)) {
      columns.add(column);
    }
    rows.computeIfAbsent(row, _ -> new LinkedHashMap<>()).put(column, point);
    return this;
  }

  String question() {
    return question;
  }

  List<String> columns() {
    return List.copyOf(columns);
  }

  /** By name of the row, by column, the name of a point. */
  Map<String, Map<String, String>> rows() {
    return rows;
  }

  /** By row, by column, the median of the measurements. */
  JsonObject toJson(Map<String, Sample> points) {
    JsonObject json = new JsonObject();
    rows.forEach((row, cells) -> {
      JsonObject medians = new JsonObject();
      cells.forEach((column, point) -> {
        Sample sample = points.get(point);
        if (sample != null) {
          medians.addProperty(column, sample.median());
        }
      });
      json.add(row, medians);
    });
    return json;
  }
}

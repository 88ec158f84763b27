package org.revenantdb.jmh.cli;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * One picture of a report: which points answer one question, and how they are laid out. It holds
 * names of points, not values, so it can be made before anything is measured; a point that was not
 * measured leaves a gap.
 */
final class Plot {
  /** How the marks of a series are drawn. */
  enum Form {
    /** A group of bars at each place. */
    BARS,
    /** A line through all places. */
    LINES
  }

  private final String question;
  private final Form form;
  private final String xTitle;
  private final String yTitle;
  private final boolean logarithmic;
  private final List<String> places = new ArrayList<>();
  private final Map<String, Map<String, String>> series = new LinkedHashMap<>();

  /**
   * Makes one without marks.
   *
   * @param question that it answers
   * @param xTitle the title of the places
   * @param yTitle the title of the values, with their unit
   * @param logarithmic whether values span orders of magnitude; then none may be 0
   */
  Plot(String question, Form form, String xTitle, String yTitle, boolean logarithmic) {
    this.question = question;
    this.form = form;
    this.xTitle = xTitle;
    this.yTitle = yTitle;
    this.logarithmic = logarithmic;
  }

  /**
   * Adds a mark.
   *
   * @param name of the series, for the legend
   * @param place on the axis; places stand side by side in the order in which they first come
   * @param point the name of a point
   */
  Plot mark(String name, String place, String point) {
    if (!places.contains(place)) {
      places.add(place);
    }
    series.computeIfAbsent(name, _ -> new LinkedHashMap<>()).put(place, point);
    return this;
  }

  String question() {
    return question;
  }

  Form form() {
    return form;
  }

  String xTitle() {
    return xTitle;
  }

  String yTitle() {
    return yTitle;
  }

  boolean logarithmic() {
    return logarithmic;
  }

  List<String> places() {
    return List.copyOf(places);
  }

  /** By name of the series, by place, the name of a point. */
  Map<String, Map<String, String>> series() {
    return series;
  }
}

package org.revenantdb.jmh.cli;

import java.util.Locale;
import java.util.Map;
import java.util.function.Function;

/**
 * One self-contained page: the figures, one plot for each question, every point in a table, and the
 * machine.
 */
final class Report {
  private static final String STYLE =
      """
      body { font: 15px/1.5 sans-serif; max-width: 60em; margin: 2em auto; padding: 0 1em }
      td, th { padding: 0 1em 0 0; text-align: left; font-weight: normal }
      th { color: #666 }
      .n { text-align: right; font-variant-numeric: tabular-nums }
      svg { width: 100%; font: 12px sans-serif }
      svg path { fill: none } svg text { stroke: none; fill: #222 }
      .a { stroke: #222 } .g { stroke: #ddd } .r { stroke: #222; stroke-width: 1.2 }
      .t { stroke-width: 1.2 }
      .s { stroke-width: 2 } .b { stroke: none }
      .x { text-anchor: middle } .y { text-anchor: end }
      """;

  private Report() {}

  /** Returns the page. */
  static String page(
      Bench bench, Bench.Settings settings, Figures figures, MeasuredOn surroundings) {
    StringBuilder page = new StringBuilder();
    page.append("<!doctype html><html lang=en><meta charset=utf-8>\n<title>")
        .append(escape(bench.name()))
        .append("</title>\n<style>\n")
        .append(STYLE)
        .append("</style>\n<h1>")
        .append(escape(bench.name()))
        .append("</h1>\n<p>")
        .append(escape(bench.question()));
    if (settings.quick()) {
      page.append("\n<p>A quick run: fewer points, shorter, noisier.");
    }
    table(page, "Figures", figures.figures(), value -> String.format(Locale.ROOT, "%.3f", value));
    table(page, "Bounds kept", figures.judged(), kept -> kept ? "yes" : "no");
    if (!figures.notMeasured().isEmpty()) {
      page.append("<h2>Not measured</h2>\n");
      figures.notMeasured().forEach(it -> page.append("<p>").append(escape(it)).append('\n'));
    }
    for (Plot plot : figures.plots()) {
      page.append("<h2>").append(escape(plot.question())).append("</h2>\n");
      page.append(PlotDrawing.draw(plot, figures.points()));
    }
    figures.tables().forEach(table -> cells(page, table, figures.points()));
    points(page, figures);
    table(page, "Settings", figures.settings(), Function.identity());
    table(page, "Versions", figures.versions(), Function.identity());
    Rounds.Tally tally = figures.tally();
    if (tally != null) {
      page.append("<p>Rounds measured: ").append(tally.measured());
      page.append(". Disturbed and repeated: ").append(tally.repeated());
      page.append(". Disturbed and counted all the same: ").append(tally.keptDisturbed());
      page.append(".\n");
    }
    table(page, "Machine", surroundings.machine(), Function.identity());
    page.append("<p>").append(escape(surroundings.jdk()));
    page.append("<br>commit ").append(escape(surroundings.commit()));
    page.append("<br>seed ").append(settings.seed()).append('\n');
    return page.toString();
  }

  static String escape(String text) {
    return text.replace("&", "&amp;")
        .replace("<", "&lt;")
        .replace("\"", "&quot;")
        .replace("'", "&#39;");
  }

  private static void cells(StringBuilder page, PointTable table, Map<String, Sample> points) {
    page.append("<h2>").append(escape(table.question())).append("</h2>\n<table>\n<tr><th>");
    table.columns().forEach(it -> page.append("<th class=n>").append(escape(it)));
    table
        .rows()
        .forEach((row, cells) -> {
          page.append("\n<tr><td>").append(escape(row));
          for (String column : table.columns()) {
            Sample sample = points.get(cells.getOrDefault(column, ""));
            page.append("<td class=n>");
            if (sample != null) {
              page.append(PlotDrawing.number(sample.median())).append(' ');
              page.append(String.format(Locale.ROOT, "&#177; %.0f %%", 100 * sample.spread()));
            }
          }
        });
    page.append("\n</table>\n");
  }

  private static void points(StringBuilder page, Figures figures) {
    page.append("<h2>Points</h2>\n<details><summary>All ").append(figures.points().size());
    page.append(": median, half the range of the rounds, number of rounds</summary>\n<table>\n");
    figures
        .points()
        .forEach((name, sample) -> {
          page.append("<tr><td>").append(escape(name)).append("<td class=n>");
          page.append(PlotDrawing.number(sample.median())).append("<td>");
          page.append(escape(sample.unit())).append("<td class=n>");
          page.append(String.format(Locale.ROOT, "%.1f %%", 100 * sample.spread()));
          page.append("<td class=n>").append(sample.n()).append('\n');
        });
    page.append("</table></details>\n");
  }

  private static <T> void table(
      StringBuilder page, String title, Map<String, T> rows, Function<T, String> text) {
    if (rows.isEmpty()) {
      return;
    }
    page.append("<h2>").append(title).append("</h2>\n<table>\n");
    rows.forEach((name, value) -> {
      page.append("<tr><td>").append(escape(name)).append("<td class=n>");
      page.append(escape(text.apply(value))).append('\n');
    });
    page.append("</table>\n");
  }
}

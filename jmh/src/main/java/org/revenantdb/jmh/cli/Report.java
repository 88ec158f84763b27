package org.revenantdb.jmh.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;

/** One self-contained page: the figures as a table, the points as bars. */
final class Report {
  private static final int BAR = 420;

  private Report() {}

  static void write(Bench bench, Figures figures, Surroundings surroundings, Path folder)
      throws IOException {
    Files.createDirectories(folder);
    StringBuilder page = new StringBuilder();
    page.append("<!doctype html><meta charset=utf-8><title>").append(escape(bench.name()));
    page.append(
        """
        </title><style>
        body { font: 15px/1.5 sans-serif; max-width: 60em; margin: 2em auto }
        td { padding: 0 1em 0 0 } td.n { text-align: right } rect { fill: #4a6fa5 }
        line { stroke: #222 }
        </style>
        """);
    page.append("<h1>").append(escape(bench.name())).append("</h1>\n<p>");
    page.append(escape(bench.question())).append("\n<h2>Figures</h2>\n<table>\n");
    figures
        .figures()
        .forEach((name, value) -> row(page, name, String.format(Locale.ROOT, "%.3f", value)));
    page.append("</table>\n<h2>Points: median, and half the range of the rounds</h2>\n<table>\n");
    double longest = figures.points().values().stream().mapToDouble(Sample::median).max().orElse(1);
    figures.points().forEach((name, sample) -> bar(page, name, sample, longest));
    page.append("</table>\n<h2>Where</h2>\n<table>\n");
    for (Map.Entry<String, String> entry : surroundings.machine().entrySet()) {
      row(page, entry.getKey(), entry.getValue());
    }
    row(page, "jdk", surroundings.jdk());
    row(page, "commit", surroundings.commit());
    page.append("</table>\n");
    Files.writeString(folder.resolve(bench.name() + ".html"), page);
  }

  private static void row(StringBuilder page, String name, String value) {
    page.append("<tr><td>").append(escape(name)).append("<td class=n>");
    page.append(escape(value)).append("\n");
  }

  private static void bar(StringBuilder page, String name, Sample sample, double longest) {
    double width = BAR * sample.median() / longest;
    double error = width * sample.spread();
    page.append("<tr><td>").append(escape(name)).append("<td class=n>");
    page.append(
        String.format(
            Locale.ROOT,
            "%.2f %s<td><svg width=%d height=16><rect y=2 width=%.1f height=12 />"
                + "<line x1=%.1f x2=%.1f y1=8 y2=8 /></svg>%n",
            sample.median(),
            escape(sample.unit()),
            BAR + 40,
            width,
            width - error,
            width + error));
  }

  private static String escape(String text) {
    return text.replace("&", "&amp;").replace("<", "&lt;");
  }
}

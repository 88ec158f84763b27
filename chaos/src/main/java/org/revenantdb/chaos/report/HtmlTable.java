package org.revenantdb.chaos.report;

import static org.revenantdb.chaos.report.Html.escape;

import java.util.ArrayList;
import java.util.List;

/** A table of cells that are markup already. Columns that stay empty are left out. */
final class HtmlTable {

  private final String[] columns;
  private final List<String[]> rows = new ArrayList<>();

  /** Names of columns; a {@code #} before a name aligns its numbers to the right. */
  HtmlTable(String... columns) {
    this.columns = columns;
  }

  void row(String... cells) {
    if (cells.length != columns.length) {
      throw new IllegalArgumentException(
          cells.length + " cells for " + columns.length + " columns");
    }
    rows.add(cells);
  }

  /** The table, or nothing if it has no rows. */
  String orNothing() {
    if (rows.isEmpty()) {
      return "";
    }
    StringBuilder out = new StringBuilder("<div class=\"scroll\"><table>\n<thead><tr>");
    for (int i = 0; i < columns.length; i++) {
      if (used(i)) {
        boolean number = columns[i].startsWith("#");
        String name = escape(number ? columns[i].substring(1) : columns[i]);
        out.append(number ? "<th class=\"n\">" : "<th>").append(name).append("</th>");
      }
    }
    out.append("</tr></thead>\n<tbody>\n");
    for (String[] row : rows) {
      out.append("<tr>");
      for (int i = 0; i < columns.length; i++) {
        if (used(i)) {
          out.append(columns[i].startsWith("#") ? "<td class=\"n\">" : "<td>");
          out.append(row[i]).append("</td>");
        }
      }
      out.append("</tr>\n");
    }
    return out.append("</tbody></table></div>\n").toString();
  }

  private boolean used(int column) {
    return rows.stream().anyMatch(row -> !row[column].isEmpty());
  }
}

package org.revenantdb.chaos.report;

import java.util.ArrayList;
import java.util.List;

/** Two columns of text, the first as wide as its widest entry. */
public final class TextTable {

  private record Row(String name, String value) {}

  private final List<Row> rows = new ArrayList<>();

  /** Creates an empty table. */
  public TextTable() {}

  /**
   * Adds a row.
   *
   * @param name the name of the value
   * @param value its value
   * @return this
   */
  public TextTable row(String name, Object value) {
    rows.add(new Row(name, value.toString()));
    return this;
  }

  @Override
  public String toString() {
    int width = rows.stream().mapToInt(row -> row.name.length()).max().orElse(0);
    int widest = rows.stream().mapToInt(row -> row.value.length()).max().orElse(0);
    String rule = "-".repeat(width + 2 + widest);
    StringBuilder text = new StringBuilder(rule).append('\n');
    for (Row row : rows) {
      text.append(row.name)
          .append(" ".repeat(width - row.name.length() + 2))
          .append(row.value)
          .append('\n');
    }
    return text.append(rule).toString();
  }
}

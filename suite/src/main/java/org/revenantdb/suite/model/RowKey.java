package org.revenantdb.suite.model;

import java.util.Comparator;

/**
 * A row of the model: a table and a number, from which the key's bytes follow.
 *
 * @param space the table
 * @param number the row's number in it
 */
record RowKey(KeySpace space, int number) implements Comparable<RowKey> {

  private static final Comparator<RowKey> ORDER =
      Comparator.comparing(RowKey::space).thenComparingInt(RowKey::number);

  String table() {
    return space.table(number);
  }

  byte[] bytes() {
    return space.key(number);
  }

  @Override
  public int compareTo(RowKey other) {
    return ORDER.compare(this, other);
  }

  @Override
  public String toString() {
    return table() + "/" + number;
  }
}

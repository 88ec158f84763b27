package org.revenantdb.suite.model;

import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.revenantdb.chaos.oracle.Attempt;
import org.revenantdb.suite.model.Store.Check;
import org.revenantdb.suite.model.Store.Rows;
import org.revenantdb.suite.model.Store.Tx;

/** Reads a whole store and returns its content; each byte of each value is checked. */
final class Verifier {

  private static final int POINT_READS = 50;

  private Verifier() {}

  /** Every row with its version; scans and point reads must agree. */
  static Map<RowKey, Long> contents(Store store, SplittableRandom random) {
    Map<RowKey, Long> contents = new TreeMap<>();
    try (Tx tx = store.begin()) {
      for (KeySpace space : KeySpace.ALL) {
        walk(tx, space, contents);
      }
      KeySpace space = KeySpace.ALL.get(random.nextInt(KeySpace.ALL.size()));
      compareDownwards(tx, space, contents);
      for (int i = 0; i < POINT_READS; i++) {
        comparePoint(tx, space.row(random.nextInt(space.rows())), contents);
      }
      tx.rollback();
    }
    return contents;
  }

  private static void walk(Tx tx, KeySpace space, Map<RowKey, Long> contents) {
    for (int first : space.tables().toArray()) {
      String table = space.table(first);
      int last = first - 1;
      try (Rows rows = tx.scan(table, null, null, false)) {
        while (rows.next()) {
          RowKey row = space.rowOf(rows.key());
          if (row.number() <= last || !row.table().equals(table)) {
            throw new ModelFailure(
                "a scan over all of " + table + " shows " + row + " after row " + last);
          }
          last = row.number();
          contents.put(row, version(space, rows));
        }
      }
    }
  }

  private static long version(KeySpace space, Rows rows) {
    return space == KeySpace.BLOB ? Values.verify(rows.openValue()) : Values.verify(rows.value());
  }

  private static void compareDownwards(Tx tx, KeySpace space, Map<RowKey, Long> contents) {
    List<RowKey> expected = new ArrayList<>();
    contents.keySet().stream().filter(row -> row.space() == space).forEach(expected::addFirst);
    List<RowKey> found = new ArrayList<>();
    for (int first : space.tables().boxed().toList().reversed()) {
      try (Rows rows = tx.scan(space.table(first), null, null, true)) {
        while (rows.next()) {
          found.add(space.rowOf(rows.key()));
        }
      }
    }
    if (!expected.equals(found)) {
      throw new ModelFailure(
          "all of %s: upwards there are %d rows, downwards %d, or in another order"
              .formatted(space, expected.size(), found.size()));
    }
  }

  private static void comparePoint(Tx tx, RowKey row, Map<RowKey, Long> contents) {
    InputStream in = tx.open(row.table(), row.bytes());
    long found = in == null ? Attempt.ABSENT : Values.verify(in);
    long expected = contents.getOrDefault(row, Attempt.ABSENT);
    if (found != expected) {
      throw new ModelFailure(
          "%s: a scan shows version %x, a read %x".formatted(row, expected, found));
    }
  }

  /** Checks that the structure has no problems. */
  static Check demandSound(Store store, String when) {
    Check check = store.check();
    if (!check.problems().isEmpty()) {
      throw new ModelFailure(
          "the check %s finds %d problems: %s"
              .formatted(
                  when,
                  check.problems().size(),
                  String.join(
                      "; ", check.problems().subList(0, Math.min(10, check.problems().size())))));
    }
    return check;
  }

  /**
   * Checks that, after cleaning and without open transactions, no old content is left and no page
   * is leaked.
   */
  static void demandCleanable(Store store) {
    store.clean();
    Check check = demandSound(store, "after cleaning");
    if (check.pagesToClean() != 0) {
      throw new ModelFailure(check.pagesToClean() + " pages cannot be cleaned");
    }
  }

  /** Checks that the store accepts new work. */
  static void demandNewWork(Store store, long life) {
    byte[] key = new byte[] {1};
    byte[] value = Values.of(life, 100);
    try (Tx tx = store.begin()) {
      tx.put(LIVENESS, key, value);
      tx.commit();
    }
    try (Tx tx = store.begin()) {
      byte[] found = tx.get(LIVENESS, key);
      if (found == null || Values.verify(found) != life) {
        throw new ModelFailure("what was committed after the reopening cannot be read");
      }
      tx.delete(LIVENESS, key);
      tx.rollback();
    }
  }

  private static final String LIVENESS = "liveness";
}

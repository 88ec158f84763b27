package org.revenantdb.engine.catalog;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.TableOptions;
import org.revenantdb.engine.testing.TestEngine;

/** What must be durable before a caller learns whether there is a table of a name. */
class CatalogChangesTest {
  @TempDir Path directory;

  /** Sessions that each had a table of their own waited for the changes of all others. */
  @Test
  void R10_who_looks_up_a_name_waits_for_the_last_change_of_that_name_alone() {
    try (TestEngine engine = new TestEngine(directory, 64)) {
      Catalog catalog = engine.catalog;
      long one = catalog.create("one", TableOptions.defaults());
      long two = catalog.create("two", TableOptions.defaults());
      assertEquals(one, catalog.changedAt("one"));
      assertEquals(two, catalog.changedAt("two"));
      assertEquals(0, catalog.changedAt("three"));
      assertEquals(two, catalog.changedAt(), "the names of all tables");
      catalog.isDurable("two", two);
      assertEquals(0, catalog.changedAt("two"));
      assertEquals(one, catalog.changedAt("one"));
    }
  }

  @Test
  void R10_a_creation_that_is_durable_late_does_not_hide_the_drop_behind_it() {
    try (TestEngine engine = new TestEngine(directory, 64)) {
      Catalog catalog = engine.catalog;
      long created = catalog.create("t", TableOptions.defaults());
      assertEquals(Catalog.Dropped.DONE, catalog.drop(Objects.requireNonNull(catalog.find("t"))));
      catalog.isDurable("t", created);
      assertTrue(catalog.changedAt("t") > created, "that there is none is not durable");
    }
  }

  @Test
  void the_id_of_a_dropped_table_is_not_used_again() {
    try (TestEngine engine = new TestEngine(directory, 64)) {
      Catalog catalog = engine.catalog;
      int highest = 0;
      for (int i = 0; i < 3; i++) {
        catalog.create("t", TableOptions.hashPartitioned(2));
        Table table = Objects.requireNonNull(catalog.find("t"));
        assertTrue(TableState.of(table).newest().all().getFirst().table() > highest);
        highest = TableState.of(table).newest().all().getLast().table();
        catalog.drop(table);
      }
    }
  }
}

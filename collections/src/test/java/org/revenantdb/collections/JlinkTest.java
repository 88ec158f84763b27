package org.revenantdb.collections;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.recovery.testing.LinkedImage;

/** As the test of the engine: the module of typed tables brings all that an application needs. */
@Tag("slow")
class JlinkTest {
  private static final String MAIN =
      """
      package app;

      import java.lang.invoke.MethodHandles;
      import java.nio.file.Path;
      import org.revenantdb.collections.Codecs;
      import org.revenantdb.collections.Index;
      import org.revenantdb.collections.Keys;
      import org.revenantdb.collections.Row;
      import org.revenantdb.collections.TypedTable;
      import org.revenantdb.engine.Database;

      final class Main {
        private record Customer(String name, String city) {}

        private Main() {}

        public static void main(String[] arguments) {
          try (Database db = Database.open(Path.of(arguments[0]))) {
            TypedTable<Long, Customer> customers =
                TypedTable.open(
                    db,
                    "customers",
                    Keys.longs(),
                    Codecs.records(MethodHandles.lookup(), Customer.class));
            Index<String, Long, Customer> byCity =
                customers.index("by city", Index.of(Keys.strings(), Customer::city));
            db.run(tx -> customers.put(tx, 7L, new Customer("Ada", "London")));
            Row<Long, Customer> found = db.read(tx -> byCity.get(tx, "London"));
            System.out.println(found);
          }
        }
      }
      """;

  @TempDir private Path folder;

  @Test
  void an_application_that_requires_typed_tables_alone_runs_from_a_linked_image() throws Exception {
    LinkedImage image = new LinkedImage(folder.resolve("app"), "org.revenantdb.collections", MAIN);
    assertEquals(
        "Row[key=7, value=Customer[name=Ada, city=London]]", image.run(folder.resolve("db")));
  }
}

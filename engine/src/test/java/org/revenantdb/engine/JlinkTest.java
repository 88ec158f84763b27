package org.revenantdb.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.recovery.testing.LinkedImage;
import org.revenantdb.testing.Drawn;

/**
 * An application that requires the module of the engine and no other is compiled on the module
 * path, linked into a runtime image, and run there without a flag.
 */
@Tag("slow")
class JlinkTest {
  private static final String MAIN =
      """
      package app;

      import java.nio.file.Path;
      import org.revenantdb.engine.Database;
      import org.revenantdb.engine.RevenantException;
      import org.revenantdb.engine.StorageException;
      import org.revenantdb.engine.Table;

      final class Main {
        private Main() {}

        public static void main(String[] arguments) {
          Path directory = Path.of(arguments[0]);
          try (Database db = Database.open(directory)) {
            Table table = db.getOrCreateTable("t");
            db.run(tx -> tx.put(table, new byte[] {1}, new byte[100_000]));
            int length = db.read(tx -> tx.get(table, new byte[] {1})).length;
            boolean sound = db.check().isSound();
            try {
              Database.open(directory).close();
            } catch (StorageException locked) {
              System.out.println(length + " " + sound + " " + locked.reason());
            }
          } catch (RevenantException failure) {
            System.out.println(failure);
          }
        }
      }
      """;

  @TempDir private Path folder;

  @Test
  @Drawn(oneIn = 3)
  void an_application_that_requires_the_engine_alone_runs_from_a_linked_image() throws Exception {
    LinkedImage image = new LinkedImage(folder.resolve("app"), "org.revenantdb.engine", MAIN);
    assertEquals("100000 true LOCKED", image.run(folder.resolve("db")));
  }
}

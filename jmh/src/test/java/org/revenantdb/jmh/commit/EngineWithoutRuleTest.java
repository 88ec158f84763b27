package org.revenantdb.jmh.commit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;

import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.Transaction;
import org.revenantdb.engine.TransactionOptions;

/** That the engine without the rule is one: else the rule would be measured against itself. */
class EngineWithoutRuleTest {
  private static final byte[] KEY = {1};

  /** Commits lazily, reads durably, and ends with 7 if the reader had to wait. */
  public static final class Child {
    private Child() {}

    /** The child. */
    public static void main(String[] arguments) {
      long waits;
      try (Database database =
          Database.open(
              Path.of(arguments[0]),
              DatabaseOptions.defaults().withMaxLazyDelay(DatabaseOptions.NEVER))) {
        Table table = database.getOrCreateTable("rows");
        database.run(
            TransactionOptions.lazy(), transaction -> transaction.put(table, KEY, new byte[8]));
        try (Transaction reader = database.begin(TransactionOptions.durable())) {
          assertNotNull(reader.get(table, KEY));
        }
        waits = database.statistics().commits().durableReadWaits();
      }
      System.exit(waits == 0 ? 0 : 7);
    }
  }

  @Test
  void aDurableReader_waitsWithTheRuleAndNotWithoutIt(@TempDir Path folder)
      throws IOException, InterruptedException {
    String classPath = System.getProperty("java.class.path");
    assertEquals(7, child(classPath, folder.resolve("with")));
    Path without = folder.resolve("classes");
    EngineWithoutRule.write(without);
    assertEquals(0, child(without + File.pathSeparator + classPath, folder.resolve("without")));
  }

  private static int child(String classPath, Path database)
      throws IOException, InterruptedException {
    return new ProcessBuilder(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                classPath,
                Child.class.getName(),
                database.toString()))
        .inheritIO()
        .start()
        .waitFor();
  }
}

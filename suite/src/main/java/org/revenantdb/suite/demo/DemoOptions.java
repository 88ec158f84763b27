package org.revenantdb.suite.demo;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.DatabaseOptions;

/**
 * The options of the demo.
 *
 * @param seed determines the row at which the child is killed
 * @param poolBytes memory for pages
 * @param scale the factor by which the big transaction is larger
 * @param modules the maximum number of modules of the JDK, 0 for all
 * @param dir the directory of the database; null for a temporary directory
 * @param keep whether the database is kept
 */
public record DemoOptions(
    long seed, long poolBytes, int scale, int modules, @Nullable Path dir, boolean keep) {

  private static final int MOST_SCALE = 1_000;

  /** Checks the options. */
  public DemoOptions {
    if (scale < 1 || scale > MOST_SCALE) {
      throw new IllegalArgumentException("the scale is from 1 to " + MOST_SCALE + ", not " + scale);
    }
    if (modules < 0 || modules == 1) {
      throw new IllegalArgumentException(
          "at least 2 modules are needed, or 0 for all, not " + modules);
    }
    database(poolBytes);
  }

  /** The options of the database. */
  DatabaseOptions database() {
    return database(poolBytes);
  }

  static DatabaseOptions database(long poolBytes) {
    return DatabaseOptions.defaults().withPoolBytes(poolBytes);
  }
}

package org.revenantdb.suite.demo;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.DatabaseOptions;

/**
 * What the demo is to do.
 *
 * @param seed draws the row at which the child is killed
 * @param poolBytes memory for pages
 * @param scale how many times as large the big transaction is to be
 * @param modules how many modules of the JDK at most, 0 for all
 * @param dir where the database is made; null for a temporary directory
 * @param keep whether the database stays
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

  /** How the database is opened. */
  DatabaseOptions database() {
    return database(poolBytes);
  }

  static DatabaseOptions database(long poolBytes) {
    return DatabaseOptions.defaults().withPoolBytes(poolBytes);
  }
}

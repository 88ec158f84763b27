package org.revenantdb.suite.fuzz;

import java.time.Duration;
import org.revenantdb.engine.DatabaseOptions;

/** The options of the fuzzer's databases, which are as small as possible. */
final class Place {

  /** The directory of the database on its disk in memory. */
  static final String DIRECTORY = "db";

  private static final long MIB = 1 << 20;

  private Place() {}

  static DatabaseOptions options() {
    return DatabaseOptions.defaults()
        .withPoolBytes(2 * MIB)
        .withLogSegmentBytes((int) MIB)
        .withMaxRecoveryLog(4 * MIB)
        .withMaxRecoveryPages(256)
        .withShortTransactionRows(4) // so that most aborted ones are left to the cleaner
        .withVersionMemory(MIB)
        .withCleanerThreads(1)
        .withMaxLazyDelay(Duration.ofMillis(5))
        .withCountersFile(false);
  }
}

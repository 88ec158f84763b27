package org.revenantdb.engine.cli;

import org.revenantdb.engine.DatabaseOptions;

/** How commands open a database. */
public final class CommandOptions {
  /**
   * A command often runs in the container of an application, which has most of the memory already.
   * So it does not choose its pool by the limit of the container.
   */
  private static final long POOL_BYTES = 128L << 20;

  private CommandOptions() {}

  /**
   * Returns the options of all commands.
   *
   * @return options that create nothing
   */
  public static DatabaseOptions existing() {
    return DatabaseOptions.defaults().withCreate(false).withPoolBytes(POOL_BYTES);
  }
}

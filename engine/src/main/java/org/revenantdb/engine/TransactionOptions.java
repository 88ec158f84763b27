package org.revenantdb.engine;

import java.util.Objects;

/**
 * How a transaction is begun. Immutable.
 *
 * @param durability what its commit waits for, and what it may read
 * @param actsAfterCommit for {@link Durability#DURABLE}: a promise that nothing outside of the
 *     database is done on the strength of what the transaction has read until it has committed. It
 *     is then given at once what is not yet durable, and waits once, when it commits, also if it
 *     has only read; so a row that everybody reads and writes is changed at the speed of the log,
 *     not of the disk
 */
public record TransactionOptions(Durability durability, boolean actsAfterCommit) {
  private static final TransactionOptions OF_DURABLE =
      new TransactionOptions(Durability.DURABLE, /* actsAfterCommit= */ false);
  private static final TransactionOptions OF_LAZY =
      new TransactionOptions(Durability.LAZY, /* actsAfterCommit= */ false);

  /** Checks the options. */
  public TransactionOptions {
    Objects.requireNonNull(durability, "durability");
  }

  /**
   * Durable, and each read waits for what it is given.
   *
   * @return options
   */
  public static TransactionOptions durable() {
    return OF_DURABLE;
  }

  /**
   * Lazy.
   *
   * @return options
   */
  public static TransactionOptions lazy() {
    return OF_LAZY;
  }

  /**
   * Of one durability, with nothing else set.
   *
   * @param durability what the commit waits for
   * @return options
   */
  public static TransactionOptions of(Durability durability) {
    return switch (durability) {
      case DURABLE -> OF_DURABLE;
      case LAZY -> OF_LAZY;
    };
  }

  /**
   * Makes or takes back the promise to act on what was read only after the commit.
   *
   * @param value the setting
   * @return other options
   */
  public TransactionOptions withActsAfterCommit(boolean value) {
    return new TransactionOptions(durability, value);
  }
}

package org.revenantdb.engine;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Options of a transaction. Immutable.
 *
 * @param durability what the commit waits for, and what reads wait for; null, the default, means
 *     {@link DatabaseOptions#durability}
 * @param deferReadWaitsToCommit for {@link Durability#DURABLE} transactions; default false. With
 *     true a read returns at once even if its data is not durable yet. The commit then waits for
 *     that data, even if the transaction has only read. The application promises not to act on what
 *     it has read before the commit. A row that many transactions read and write then changes at
 *     the speed of the log, not of the disk
 * @param lockTimeout longest time that a statement waits for open transactions that have written
 *     its rows; for {@code deleteRange} the time for each leaf of the range. Zero throws {@link
 *     ConflictException} at once. Null, the default, means {@link DatabaseOptions#lockTimeout},
 *     whose default is zero
 * @param isolation isolation level; default {@link Isolation#SNAPSHOT}
 * @param readOnly whether writes throw {@link TransactionStateException.Reason#READ_ONLY}
 * @param name a name for people, or null; {@link VersionStatistics#oldestSnapshot}, the command
 *     {@code stat} and {@link LeakedTransaction} show it
 * @param retryTimeout longest time after the first conflict in which {@link Database#run} begins
 *     another attempt; null, the default, means {@link DatabaseOptions#retryTimeout}
 */
public record TransactionOptions(
    @Nullable Durability durability,
    boolean deferReadWaitsToCommit,
    @Nullable Duration lockTimeout,
    Isolation isolation,
    boolean readOnly,
    @Nullable String name,
    @Nullable Duration retryTimeout) {
  /** Characters of a name. */
  static final int MAX_NAME = 100;

  private static final String NAMES =
      "from 1 to "
          + MAX_NAME
          + " characters, not blank, without control characters and halves of characters";

  private static final TransactionOptions DEFAULTS = usual(/* durability= */ null);
  private static final TransactionOptions OF_DURABLE = usual(Durability.DURABLE);
  private static final TransactionOptions OF_LAZY = usual(Durability.LAZY);

  /** Checks the options. */
  public TransactionOptions {
    OptionCheck.present(isolation, "isolation", Isolation.class);
    if (lockTimeout != null) {
      DatabaseOptions.checkLockTimeout(lockTimeout);
    }
    if (name != null) {
      checkName(name);
    }
    if (retryTimeout != null) {
      DatabaseOptions.checkRetryTimeout(retryTimeout);
    }
  }

  /** The name is shown in one line, by programs that do not know where it comes from. */
  private static void checkName(String name) {
    if (name.isBlank()
        || name.length() > MAX_NAME
        || name.codePoints().anyMatch(TransactionOptions::disturbsALine)) {
      throw OptionCheck.refused("name", NAMES, shown(name), "");
    }
  }

  /** The part of an illegal name that the message can show. */
  private static String shown(String name) {
    StringBuilder text = new StringBuilder("\"");
    name.codePoints()
        .limit(MAX_NAME)
        .forEach(character -> {
          if (disturbsALine(character)) {
            text.append("\\u{%X}".formatted(character));
          } else {
            text.appendCodePoint(character);
          }
        });
    return text.append("\" (").append(name.length()).append(" characters)").toString();
  }

  private static boolean disturbsALine(int character) {
    return switch (Character.getType(character)) {
      case Character.CONTROL,
          Character.FORMAT,
          Character.LINE_SEPARATOR,
          Character.PARAGRAPH_SEPARATOR,
          Character.SURROGATE ->
          true;
      default -> false;
    };
  }

  private static TransactionOptions usual(@Nullable Durability durability) {
    return new TransactionOptions(
        durability,
        /* deferReadWaitsToCommit= */ false,
        /* lockTimeout= */ null,
        Isolation.SNAPSHOT,
        /* readOnly= */ false,
        /* name= */ null,
        /* retryTimeout= */ null);
  }

  /**
   * The options of {@link Database#begin()}: the durability of the database, and nothing else set.
   * The methods {@code with...} change one option each, so a name does not change the durability.
   *
   * @return options
   */
  public static TransactionOptions defaults() {
    return DEFAULTS;
  }

  /**
   * A durable transaction, whatever {@link DatabaseOptions#durability} is. Each read waits until
   * its result is durable.
   *
   * @return options
   */
  public static TransactionOptions durable() {
    return OF_DURABLE;
  }

  /**
   * A lazy transaction, whatever {@link DatabaseOptions#durability} is. Its commit does not wait
   * for a force of the disk, except as {@link Transaction#commit} describes. It can throw {@link
   * OutcomeUnknownException}.
   *
   * @return options
   */
  public static TransactionOptions lazy() {
    return OF_LAZY;
  }

  /**
   * Options with a durability, and nothing else set.
   *
   * @param durability what the commit waits for
   * @return options
   */
  public static TransactionOptions of(Durability durability) {
    OptionCheck.present(durability, "durability", Durability.class);
    return switch (durability) {
      case DURABLE -> OF_DURABLE;
      case LAZY -> OF_LAZY;
    };
  }

  /**
   * Sets what the commit waits for, instead of {@link DatabaseOptions#durability}.
   *
   * @param value the durability
   * @return other options
   * @throws NullPointerException if the durability is null; {@link #defaults} has options that
   *     inherit it
   */
  public TransactionOptions withDurability(Durability value) {
    OptionCheck.present(value, "durability", Durability.class);
    return new TransactionOptions(
        value, deferReadWaitsToCommit, lockTimeout, isolation, readOnly, name, retryTimeout);
  }

  /**
   * Sets whether reads leave the wait for durability to the commit. With true the application
   * promises not to act on what it has read before the commit.
   *
   * @param value the setting
   * @return other options
   */
  public TransactionOptions withDeferReadWaitsToCommit(boolean value) {
    return new TransactionOptions(
        durability, value, lockTimeout, isolation, readOnly, name, retryTimeout);
  }

  /**
   * Sets how long a statement waits for open transactions that have written its rows.
   *
   * <ul>
   *   <li>After that time it throws {@link ConflictReason#LOCK_TIMEOUT}.
   *   <li>If transactions would wait for each other, one of them throws {@link
   *       ConflictReason#DEADLOCK} at once.
   *   <li>If the other transaction commits, the statement is a conflict after the wait, except with
   *       {@link Isolation#READ_COMMITTED}.
   * </ul>
   *
   * <p>Set it to wait for the decision about a prepared transaction, or for a transaction that
   * stays open for long.
   *
   * @param value from zero, which means no wait, to a year
   * @return other options
   * @throws IllegalArgumentException if it is out of range
   */
  public TransactionOptions withLockTimeout(Duration value) {
    DatabaseOptions.checkLockTimeout(value);
    return new TransactionOptions(
        durability, deferReadWaitsToCommit, value, isolation, readOnly, name, retryTimeout);
  }

  /**
   * Sets the isolation level.
   *
   * @param value the level
   * @return other options
   */
  public TransactionOptions withIsolation(Isolation value) {
    return new TransactionOptions(
        durability, deferReadWaitsToCommit, lockTimeout, value, readOnly, name, retryTimeout);
  }

  /**
   * Sets whether the transaction only reads. A write then throws an exception. A transaction that
   * only reads its snapshot meets no conflict, however long it is open. There is one exception: the
   * use of a table that was created after its begin. With {@link Isolation#SERIALIZABLE} this
   * option also saves the cost of the validation, for this transaction and for others. With other
   * levels it saves nothing.
   *
   * @param value the setting
   * @return other options
   */
  public TransactionOptions withReadOnly(boolean value) {
    return new TransactionOptions(
        durability, deferReadWaitsToCommit, lockTimeout, isolation, value, name, retryTimeout);
  }

  /**
   * Sets a name for people, such as "nightly report". Statistics of the oldest snapshot and
   * messages of conflicts have it. It need not be unique.
   *
   * @param value 1 to 100 characters, not blank, without control and format characters
   * @return other options
   * @throws IllegalArgumentException if it is not such a name
   */
  public TransactionOptions withName(String value) {
    OptionCheck.present(value, "name", NAMES);
    return new TransactionOptions(
        durability, deferReadWaitsToCommit, lockTimeout, isolation, readOnly, value, retryTimeout);
  }

  /**
   * Sets the time after the first conflict in which {@link Database#run} begins another attempt. A
   * running attempt is not cut short, and the first attempt does not count, however long it takes.
   * {@link #withLockTimeout} bounds a single wait for a row.
   *
   * @param value from zero, which means one attempt, to a year
   * @return other options
   * @throws IllegalArgumentException if it is out of range
   */
  public TransactionOptions withRetryTimeout(Duration value) {
    DatabaseOptions.checkRetryTimeout(value);
    return new TransactionOptions(
        durability, deferReadWaitsToCommit, lockTimeout, isolation, readOnly, name, value);
  }
}

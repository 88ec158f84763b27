package org.revenantdb.engine;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * How a transaction is begun. Immutable.
 *
 * @param durability what its commit waits for, and what it may read; null, the default: as {@link
 *     DatabaseOptions#durability} says
 * @param deferReadWaitsToCommit for {@link Durability#DURABLE}: a promise that nothing outside of
 *     the database is done on the strength of what the transaction has read until it has committed.
 *     It is then given at once what is not yet durable, and waits once, when it commits, also if it
 *     has only read; so a row that everybody reads and writes is changed at the speed of the log,
 *     not of the disk
 * @param lockTimeout how long a statement waits in all for other transactions that have written its
 *     rows and have not ended, a {@code deleteRange} for each leaf of its range; zero: not at all,
 *     it is refused at once with {@link ConflictException}; null, the default: as {@link
 *     DatabaseOptions#lockTimeout} says, which is zero where nobody has set it
 * @param isolation what it sees of others that commit meanwhile; {@link Isolation#SNAPSHOT} if
 *     nothing else is said
 * @param readOnly whether whatever would write is refused with {@link
 *     TransactionStateException.Reason#READ_ONLY}
 * @param name what people call it, null if nothing; for {@link VersionStatistics#oldestSnapshot},
 *     the command {@code stat} and {@link LeakedTransaction}
 * @param retryTimeout how long {@link Database#run} goes on after the first conflict; null, the
 *     default: as {@link DatabaseOptions#retryTimeout} says
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

  /** It is shown in one line, by programs that may know nothing of its origin. */
  private static void checkName(String name) {
    if (name.isBlank()
        || name.length() > MAX_NAME
        || name.codePoints().anyMatch(TransactionOptions::disturbsALine)) {
      throw OptionCheck.refused("name", NAMES, shown(name), "");
    }
  }

  /** What the message can show of a name that must not be shown as it is. */
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
   * The durability of the database, and nothing else set: what {@link Database#begin()} uses. The
   * methods {@code with...} keep what is not set, so a name alone does not change the durability.
   *
   * @return options
   */
  public static TransactionOptions defaults() {
    return DEFAULTS;
  }

  /**
   * Durable whatever {@link DatabaseOptions#durability} says, and each read waits for what it is
   * given.
   *
   * @return options
   */
  public static TransactionOptions durable() {
    return OF_DURABLE;
  }

  /**
   * Lazy whatever {@link DatabaseOptions#durability} says.
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
   * @throws NullPointerException if it is null; options that inherit it begin with {@link
   *     #defaults}
   */
  public TransactionOptions withDurability(Durability value) {
    OptionCheck.present(value, "durability", Durability.class);
    return new TransactionOptions(
        value, deferReadWaitsToCommit, lockTimeout, isolation, readOnly, name, retryTimeout);
  }

  /**
   * Makes or takes back the promise to act on what was read only after the commit.
   *
   * @param value the setting
   * @return other options
   */
  public TransactionOptions withDeferReadWaitsToCommit(boolean value) {
    return new TransactionOptions(
        durability, value, lockTimeout, isolation, readOnly, name, retryTimeout);
  }

  /**
   * Sets how long a statement waits for other transactions that have written its rows and have not
   * ended; without this as {@link DatabaseOptions#lockTimeout} says, by default not at all. When
   * the time is over it gets {@link ConflictReason#LOCK_TIMEOUT}; where those who wait would wait
   * for each other one of them gets {@link ConflictReason#DEADLOCK} at once. A statement that has
   * waited for one that committed is in conflict all the same, but for {@link
   * Isolation#READ_COMMITTED}. Against a transaction that is prepared, or that its user has left
   * open, nothing else helps.
   *
   * @param value from zero, which is not to wait, to a year
   * @return other options
   * @throws IllegalArgumentException if it is none of these
   */
  public TransactionOptions withLockTimeout(Duration value) {
    DatabaseOptions.checkLockTimeout(value);
    return new TransactionOptions(
        durability, deferReadWaitsToCommit, value, isolation, readOnly, name, retryTimeout);
  }

  /**
   * Sets what the transaction sees of others that commit meanwhile.
   *
   * @param value the level
   * @return other options
   */
  public TransactionOptions withIsolation(Isolation value) {
    return new TransactionOptions(
        durability, deferReadWaitsToCommit, lockTimeout, value, readOnly, name, retryTimeout);
  }

  /**
   * Makes or takes back the promise to write nothing: what would write is refused. One that only
   * reads its snapshot is in conflict with nobody, however long it is open, and is refused only a
   * table that was created since. With {@link Isolation#SERIALIZABLE} the promise also spares
   * itself and others what that costs: see there; else it saves nothing, as one that has not
   * written costs no more in any case.
   *
   * @param value the setting
   * @return other options
   */
  public TransactionOptions withReadOnly(boolean value) {
    return new TransactionOptions(
        durability, deferReadWaitsToCommit, lockTimeout, isolation, value, name, retryTimeout);
  }

  /**
   * Gives the transaction a name, for people: "nightly report". Others may have the same.
   *
   * @param value from 1 to 100 characters, not blank, none that control how it is shown
   * @return other options
   * @throws IllegalArgumentException if it is none of these
   */
  public TransactionOptions withName(String value) {
    OptionCheck.present(value, "name", NAMES);
    return new TransactionOptions(
        durability, deferReadWaitsToCommit, lockTimeout, isolation, readOnly, value, retryTimeout);
  }

  /**
   * Sets how long {@link Database#run} goes on after the first conflict; without this as {@link
   * DatabaseOptions#retryTimeout} says, by default 30 s. No attempt begins later; one that has
   * begun is not cut short. The first attempt does not count, however long it takes. What bounds a
   * single wait for a row is {@link #withLockTimeout}.
   *
   * @param value from zero, which is to make one attempt, to a year
   * @return other options
   * @throws IllegalArgumentException if it is none of these
   */
  public TransactionOptions withRetryTimeout(Duration value) {
    DatabaseOptions.checkRetryTimeout(value);
    return new TransactionOptions(
        durability, deferReadWaitsToCommit, lockTimeout, isolation, readOnly, name, value);
  }
}

package org.revenantdb.engine;

import java.util.Objects;
import java.util.function.Consumer;

/**
 * How a database is opened. Immutable: each {@code with} gives another set of options.
 *
 * @param create whether a database that does not exist is created; default true
 * @param readOnly whether nothing may be written; the database must have been closed cleanly;
 *     default false
 * @param poolBytes memory for pages, at least 2 MiB; default 128 MiB
 * @param maxRecoveryLog bytes of log that a restart may have to go through, once in analysis and
 *     once in redo; at least 4 segments; default 128 MiB
 * @param logSegmentBytes size of a log segment, a power of two from 1 MiB; used when the database
 *     is created; default 4 MiB
 * @param doubleWrite whether pages are protected against torn writes by the double-write file;
 *     switch it off only where the device writes 8 KiB atomically; default true
 * @param maxAttempts how often {@link Database#run} tries when there are conflicts; default 1,000
 * @param leakListener told of each transaction that was forgotten open and has been rolled back;
 *     the default writes a warning to {@link System.Logger} {@code org.revenantdb}
 */
public record DatabaseOptions(
    boolean create,
    boolean readOnly,
    long poolBytes,
    long maxRecoveryLog,
    int logSegmentBytes,
    boolean doubleWrite,
    int maxAttempts,
    Consumer<LeakedTransaction> leakListener) {

  private static final int MIB = 1 << 20;

  private static final DatabaseOptions DEFAULTS =
      new DatabaseOptions(
          true, false, 128L * MIB, 128L * MIB, 4 * MIB, true, 1_000, LeakedTransaction::log);

  /** Checks the options against each other. */
  public DatabaseOptions {
    if (logSegmentBytes < MIB || Integer.bitCount(logSegmentBytes) != 1) {
      throw new IllegalArgumentException(
          "logSegmentBytes must be a power of two from 1 MiB ("
              + MIB
              + "), not "
              + logSegmentBytes);
    }
    if (maxRecoveryLog < 4L * logSegmentBytes) {
      throw new IllegalArgumentException(
          "maxRecoveryLog must be at least four log segments ("
              + 4L * logSegmentBytes
              + " bytes), not "
              + maxRecoveryLog);
    }
    if (poolBytes < 2L * MIB) {
      throw new IllegalArgumentException(
          "poolBytes must be at least 2 MiB (" + 2 * MIB + "), not " + poolBytes);
    }
    Objects.requireNonNull(leakListener, "leakListener");
    if (maxAttempts < 1) {
      throw new IllegalArgumentException("maxAttempts must be at least 1, not " + maxAttempts);
    }
  }

  /**
   * The defaults.
   *
   * @return options
   */
  public static DatabaseOptions defaults() {
    return DEFAULTS;
  }

  /**
   * Says whether a database that does not exist is created.
   *
   * @param value the setting
   * @return other options
   */
  public DatabaseOptions withCreate(boolean value) {
    return new DatabaseOptions(
        value,
        readOnly,
        poolBytes,
        maxRecoveryLog,
        logSegmentBytes,
        doubleWrite,
        maxAttempts,
        leakListener);
  }

  /**
   * Says whether nothing may be written.
   *
   * @param value the setting
   * @return other options
   */
  public DatabaseOptions withReadOnly(boolean value) {
    return new DatabaseOptions(
        create,
        value,
        poolBytes,
        maxRecoveryLog,
        logSegmentBytes,
        doubleWrite,
        maxAttempts,
        leakListener);
  }

  /**
   * Sets the memory for pages.
   *
   * @param value bytes
   * @return other options
   */
  public DatabaseOptions withPoolBytes(long value) {
    return new DatabaseOptions(
        create,
        readOnly,
        value,
        maxRecoveryLog,
        logSegmentBytes,
        doubleWrite,
        maxAttempts,
        leakListener);
  }

  /**
   * Sets how much log a restart may have to read.
   *
   * @param value bytes
   * @return other options
   */
  public DatabaseOptions withMaxRecoveryLog(long value) {
    return new DatabaseOptions(
        create,
        readOnly,
        poolBytes,
        value,
        logSegmentBytes,
        doubleWrite,
        maxAttempts,
        leakListener);
  }

  /**
   * Sets the size of log segments of a database that is created.
   *
   * @param value bytes, a power of two
   * @return other options
   */
  public DatabaseOptions withLogSegmentBytes(int value) {
    return new DatabaseOptions(
        create, readOnly, poolBytes, maxRecoveryLog, value, doubleWrite, maxAttempts, leakListener);
  }

  /**
   * Says whether pages are protected against torn writes.
   *
   * @param value the setting
   * @return other options
   */
  public DatabaseOptions withDoubleWrite(boolean value) {
    return new DatabaseOptions(
        create,
        readOnly,
        poolBytes,
        maxRecoveryLog,
        logSegmentBytes,
        value,
        maxAttempts,
        leakListener);
  }

  /**
   * Sets how often {@link Database#run} tries.
   *
   * @param value at least 1
   * @return other options
   */
  public DatabaseOptions withMaxAttempts(int value) {
    return new DatabaseOptions(
        create,
        readOnly,
        poolBytes,
        maxRecoveryLog,
        logSegmentBytes,
        doubleWrite,
        value,
        leakListener);
  }

  /**
   * Sets who is told of leaked transactions.
   *
   * @param value called on a thread of the runtime; must not block
   * @return other options
   */
  public DatabaseOptions withLeakListener(Consumer<LeakedTransaction> value) {
    return new DatabaseOptions(
        create,
        readOnly,
        poolBytes,
        maxRecoveryLog,
        logSegmentBytes,
        doubleWrite,
        maxAttempts,
        value);
  }
}

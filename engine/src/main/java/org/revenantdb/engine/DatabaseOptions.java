package org.revenantdb.engine;

import java.nio.file.Path;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.buffer.BufferPoolOptions;
import org.revenantdb.recovery.format.SegmentLayout;
import org.revenantdb.recovery.log.LogOptions;

/**
 * Options with which a database is opened. Immutable: each {@code with} method returns other
 * options.
 *
 * @param create whether a database that does not exist is created; default true
 * @param readOnly whether the open changes no file; after a crash it redoes changes from the log in
 *     memory only; default false
 * @param poolBytes memory for pages, from 2 MiB to 8 TiB; default: an eighth of the memory of the
 *     machine or the container, from 64 MiB to 1 GiB
 * @param maxRecoveryLog most bytes of log that a restart reads before the database is open; at
 *     least 4 segments; default 256 MiB. If a second crash follows soon after the first, the
 *     restart can read twice as much
 * @param maxRecoveryPages most pages that are changed and not written. After a crash redo reads
 *     them while the database is open. At least 256. Default and maximum are seven eighths of the
 *     pages of the pool
 * @param maxLogSize most bytes of the log directory, prepared and spare files included; 0, the
 *     default, means twice {@code maxRecoveryLog}. It must hold {@code maxRecoveryLog} in segments,
 *     without their headers, and four segments more. If the segments of the database are larger
 *     than {@code logSegmentBytes}, it holds at least that number of larger segments. If this
 *     bound, or one of the two above, is lower than at the last open, it takes effect at the first
 *     checkpoint
 * @param logSegmentBytes full size of a log segment, a power of two from 1 MiB to 1 GiB; used when
 *     the database is created; default 4 MiB
 * @param doubleWrite whether the double-write file protects pages against torn writes; default
 *     true. Switch it off only on a device that writes 8 KiB atomically
 * @param maxAttempts most attempts of {@link Database#run} after conflicts; default 1,000
 * @param maxBackoff longest pause of {@link Database#run} before it tries again; default 10 ms. The
 *     database adapts the pauses to the rate of commits; without contention they are close to zero.
 *     With zero there is no pause, and no wait for the transaction that won the conflict. Then
 *     {@code maxAttempts} can be used up within a millisecond
 * @param durability durability of transactions whose options set none; default {@link
 *     Durability#DURABLE}
 * @param maxLazyDelay longest time, without the time of a force, until a lazy commit is durable;
 *     default 100 ms. Zero forces each lazy commit at once, in the background. With {@link #NEVER}
 *     a lazy commit waits for {@link Database#sync}, a durable commit or read, a checkpoint or the
 *     close, so an idle database does not use the disk
 * @param leakListener receives each transaction that was never ended, after its rollback; the
 *     default writes a warning to the {@link System.Logger} {@code org.revenantdb}
 * @param leakTraces whether the listener receives the stack that began the transaction; default
 *     false. It adds half a microsecond or more to each {@link Database#begin}
 * @param countersFile whether the database writes its statistics to a file of 4 KiB, which the
 *     command {@code stat} reads from another process; default true. The engine writes the file at
 *     most once a second and only if a number has changed, never forces it, and deletes it at the
 *     close. Switch it off if the number of file operations matters, as in crash tests
 * @param shortTransactionRows most rows of a transaction that it reverts itself when it is rolled
 *     back; default 256. A transaction that has written more is rolled back in constant time, and
 *     the cleaner reverts its rows. With 0 the cleaner reverts all rows
 * @param versionMemory most heap, in bytes, for row versions that have left their page and that an
 *     open snapshot needs; from 1 MiB to 2^53; default 64 MiB, or a sixteenth of the maximum heap
 *     if that is less. More versions go to files in the directory of the database, which the close
 *     deletes. Writers wait while the versions use a quarter more than this. If the files cannot be
 *     written, a statement that needs more memory throws a {@link StorageException} and changes
 *     nothing; other statements are not affected. A transaction with a savepoint has a sixteenth of
 *     this memory, at least 64 KiB, for the values that it has overwritten
 * @param lockTimeout longest time that a statement waits for open transactions that have written
 *     its rows; default zero: a conflict is thrown at once. A transaction can have a timeout of its
 *     own
 * @param cleanerThreads most threads that clean pages, from 1 to 16; default one for four
 *     processors, at least 1 and at most 4. The cleaner reverts rows of aborted transactions and
 *     frees space. While writers are active, all cleaner threads together use the budget of one
 * @param restartListener receives the progress of the open: when a phase begins and ends, and a few
 *     times a second between. A thread of the engine calls it and waits for it. An exception that
 *     it throws is logged once and has no other effect. The default does nothing
 * @param retryTimeout longest time after the first conflict in which {@link Database#run} begins
 *     another attempt; default 30 s. Zero allows one attempt. A transaction can have a limit of its
 *     own
 * @param archive the archive to which the log is copied while it is written, so that any moment can
 *     be restored; null, the default, for no archive. Without effect on a database that is opened
 *     read-only
 * @param adminSocket whether the command reads, checks and backs up the database while it is open,
 *     through a socket in its directory that only its owner can use; default false. Without effect
 *     on a database that is opened read-only
 */
public record DatabaseOptions(
    boolean create,
    boolean readOnly,
    long poolBytes,
    long maxRecoveryLog,
    int maxRecoveryPages,
    long maxLogSize,
    int logSegmentBytes,
    boolean doubleWrite,
    int maxAttempts,
    Durability durability,
    Duration maxLazyDelay,
    Consumer<LeakedTransaction> leakListener,
    boolean leakTraces,
    boolean countersFile,
    int shortTransactionRows,
    long versionMemory,
    Duration lockTimeout,
    int cleanerThreads,
    Consumer<RestartStatus> restartListener,
    Duration maxBackoff,
    Duration retryTimeout,
    @Nullable ArchiveOptions archive,
    boolean adminSocket) {

  /** For {@link #maxLazyDelay}: no time limit. */
  public static final Duration NEVER = ChronoUnit.FOREVER.getDuration();

  private static final String LAZY_DELAYS = "from PT0S to " + OptionCheck.YEAR + ", or NEVER";

  private static final String ARCHIVES = "a directory, or options";

  private static final Duration LONGEST_BACKOFF = Duration.ofMinutes(1);

  private static final int MIB = 1 << 20;

  /** Twice this value still fits in a long. */
  private static final long LARGEST_LOG = Long.MAX_VALUE / 4;

  /** Large enough that the worst case of one operation leaves room for others. */
  private static final int FEWEST_PAGES = 256;

  /** A transaction with more rows is never short. */
  private static final int MOST_SHORT_ROWS = 1 << 16;

  /** More threads would only wait for each other. */
  private static final int MOST_CLEANER_THREADS = 16;

  /** This value and a quarter of it still fit in a long. */
  private static final long MOST_VERSION_MEMORY = 1L << 53;

  private static final DatabaseOptions DEFAULTS =
      new DatabaseOptions(

          /* create= */ true,
          /* readOnly= */ false,
          /* poolBytes= */ BufferPoolOptions.defaultBytes(),
          /* maxRecoveryLog= */ 256L * MIB,
          /* maxRecoveryPages= */ Integer.MAX_VALUE,
          /* maxLogSize= */ 0,
          /* logSegmentBytes= */ 4 * MIB,
          /* doubleWrite= */ true,
          /* maxAttempts= */ 1_000,
          Durability.DURABLE,
          /* maxLazyDelay= */ Duration.ofMillis(100),
          LeakedTransaction::log,
          /* leakTraces= */ false,
          /* countersFile= */ true,
          /* shortTransactionRows= */ 256,
          defaultVersionMemory(),
          /* lockTimeout= */ Duration.ZERO,
          /* cleanerThreads= */ Math.clamp(Runtime.getRuntime().availableProcessors() / 4, 1, 4),
          /* restartListener= */ status -> {},
          /* maxBackoff= */ Duration.ofMillis(10),
          /* retryTimeout= */ Duration.ofSeconds(30),
          /* archive= */ null,
          /* adminSocket= */ false);

  /** Old snapshots use only a small part of a small heap. */
  private static long defaultVersionMemory() {
    return Math.clamp(Runtime.getRuntime().maxMemory() / 16, MIB, 64L * MIB);
  }

  /** Checks the options against each other. */
  public DatabaseOptions {
    if (logSegmentBytes < MIB || Integer.bitCount(logSegmentBytes) != 1) {
      throw OptionCheck.refused(
          "logSegmentBytes",
          "a power of two from " + MIB + " to " + SegmentLayout.LARGEST_SIZE,
          logSegmentBytes,
          "");
    }
    OptionCheck.inRange(
        maxRecoveryLog,
        "maxRecoveryLog",
        4L * logSegmentBytes,
        LARGEST_LOG,
        "four log segments are the least; to have larger segments, set maxRecoveryLog first");
    OptionCheck.inRange(maxRecoveryPages, "maxRecoveryPages", FEWEST_PAGES, Integer.MAX_VALUE, "");
    long smallestLog = LogOptions.smallestLogSize(maxRecoveryLog, logSegmentBytes);
    if (maxLogSize != 0 && maxLogSize < smallestLog) {
      throw OptionCheck.refused(
          "maxLogSize",
          "0, or from " + smallestLog + " to " + Long.MAX_VALUE,
          maxLogSize,
          "it must hold the maxRecoveryLog of "
              + maxRecoveryLog
              + " bytes in log segments, and four more; of two options that change, set first the"
              + " one that makes room for the other");
    }
    OptionCheck.inRange(
        poolBytes, "poolBytes", BufferPoolOptions.MIN_BYTES, BufferPoolOptions.MAX_BYTES, "");
    OptionCheck.present(durability, "durability", Durability.class);
    OptionCheck.present(maxLazyDelay, "maxLazyDelay", LAZY_DELAYS);
    if (maxLazyDelay.isNegative()
        || (maxLazyDelay.compareTo(OptionCheck.YEAR) > 0 && !maxLazyDelay.equals(NEVER))) {
      throw OptionCheck.refused("maxLazyDelay", LAZY_DELAYS, maxLazyDelay, "");
    }
    OptionCheck.present(leakListener, "leakListener", "a listener");
    OptionCheck.inRange(shortTransactionRows, "shortTransactionRows", 0, MOST_SHORT_ROWS, "");
    OptionCheck.inRange(versionMemory, "versionMemory", MIB, MOST_VERSION_MEMORY, "");
    checkLockTimeout(lockTimeout);
    OptionCheck.inRange(cleanerThreads, "cleanerThreads", 1, MOST_CLEANER_THREADS, "");
    OptionCheck.present(restartListener, "restartListener", "a listener");
    OptionCheck.inRange(maxBackoff, "maxBackoff", LONGEST_BACKOFF);
    checkRetryTimeout(retryTimeout);
    OptionCheck.inRange(maxAttempts, "maxAttempts", 1, Integer.MAX_VALUE, "");
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
   * Sets whether a database that does not exist is created.
   *
   * @param value whether to create it; default true. With false, an open of a directory without a
   *     database is refused, which protects against a mistyped path
   * @return other options
   */
  public DatabaseOptions withCreate(boolean value) {
    return with(copy -> copy.create = value);
  }

  /**
   * Sets whether the database is opened read-only.
   *
   * @param value whether the open changes no file, even after a crash; default false
   * @return other options
   */
  public DatabaseOptions withReadOnly(boolean value) {
    return with(copy -> copy.readOnly = value);
  }

  /**
   * Sets the memory for pages.
   *
   * @param value bytes outside of the heap, from 2 MiB to 8 TiB; default: an eighth of the memory
   *     of the machine or the container, from 64 MiB to 1 GiB
   * @return other options
   * @throws IllegalArgumentException if it is out of range
   */
  public DatabaseOptions withPoolBytes(long value) {
    return with(copy -> copy.poolBytes = value);
  }

  /**
   * Sets the most log that a restart has to read.
   *
   * @param value bytes, at least 4 segments; default 256 MiB
   * @return other options
   * @throws IllegalArgumentException if it is out of range
   */
  public DatabaseOptions withMaxRecoveryLog(long value) {
    return with(copy -> copy.maxRecoveryLog = value);
  }

  /**
   * Sets the most pages of the data file that a restart has to read.
   *
   * @param value pages, at least 256; the default, and the most, is seven eighths of the pool
   * @return other options
   * @throws IllegalArgumentException if it is out of range
   */
  public DatabaseOptions withMaxRecoveryPages(int value) {
    return with(copy -> copy.maxRecoveryPages = value);
  }

  /**
   * Sets how large the log directory may be.
   *
   * @param value bytes, or 0, the default, for twice {@code maxRecoveryLog}
   * @return other options
   * @throws IllegalArgumentException if it is out of range
   */
  public DatabaseOptions withMaxLogSize(long value) {
    return with(copy -> copy.maxLogSize = value);
  }

  /** How large the log directory may be; an old database may have larger segments. */
  long logBytes(int segmentBytes) {
    return Math.max(
        maxLogSize == 0 ? 2 * maxRecoveryLog : maxLogSize,
        LogOptions.smallestLogSize(maxRecoveryLog, segmentBytes));
  }

  /**
   * Sets the size of log segments of a database that is created.
   *
   * @param value bytes, a power of two from 1 MiB to 1 GiB; default 4 MiB
   * @return other options
   * @throws IllegalArgumentException if it is out of range
   */
  public DatabaseOptions withLogSegmentBytes(int value) {
    return with(copy -> copy.logSegmentBytes = value);
  }

  /**
   * Sets whether the double-write file protects pages against torn writes.
   *
   * @param value whether it does; default true. With false the device must write 8 KiB atomically
   * @return other options
   */
  public DatabaseOptions withDoubleWrite(boolean value) {
    return with(copy -> copy.doubleWrite = value);
  }

  /**
   * Sets the most attempts of {@link Database#run}.
   *
   * @param value at least 1; default 1,000
   * @return other options
   * @throws IllegalArgumentException if it is out of range
   */
  public DatabaseOptions withMaxAttempts(int value) {
    return with(copy -> copy.maxAttempts = value);
  }

  /**
   * Sets the durability of transactions whose {@link TransactionOptions} set none.
   *
   * @param value default {@link Durability#DURABLE}
   * @return other options
   */
  public DatabaseOptions withDurability(Durability value) {
    return with(copy -> copy.durability = value);
  }

  /**
   * Sets the longest time until a lazy commit is durable.
   *
   * @param value zero or more, or {@link #NEVER}; default 100 ms
   * @return other options
   * @throws IllegalArgumentException if it is out of range
   */
  public DatabaseOptions withMaxLazyDelay(Duration value) {
    return with(copy -> copy.maxLazyDelay = value);
  }

  boolean isLazyForcedOnRequestOnly() {
    return maxLazyDelay.equals(NEVER);
  }

  /**
   * Sets the listener that receives leaked transactions.
   *
   * @param value called on a thread of the runtime; must not block. The default writes a warning to
   *     the {@link System.Logger} {@code org.revenantdb}
   * @return other options
   */
  public DatabaseOptions withLeakListener(Consumer<LeakedTransaction> value) {
    return with(copy -> copy.leakListener = value);
  }

  /**
   * Sets whether a leaked transaction has the stack that began it.
   *
   * @param value true while you look for a leak; default false
   * @return other options
   */
  public DatabaseOptions withLeakTraces(boolean value) {
    return with(copy -> copy.leakTraces = value);
  }

  /**
   * Sets whether the database writes its statistics to a file.
   *
   * @param value whether it does; default true
   * @return other options
   */
  public DatabaseOptions withCountersFile(boolean value) {
    return with(copy -> copy.countersFile = value);
  }

  /**
   * Sets the most rows of a transaction that reverts them itself when it is rolled back.
   *
   * @param value rows, 0 to 65,536; default 256
   * @return other options
   * @throws IllegalArgumentException if it is out of range
   */
  public DatabaseOptions withShortTransactionRows(int value) {
    return with(copy -> copy.shortTransactionRows = value);
  }

  /**
   * Sets the memory for row versions that only open snapshots need. More versions go to files.
   *
   * @param value bytes of the heap, from 1 MiB; default 64 MiB, or a sixteenth of the maximum heap
   *     if that is less
   * @return other options
   * @throws IllegalArgumentException if it is out of range
   */
  public DatabaseOptions withVersionMemory(long value) {
    return with(copy -> copy.versionMemory = value);
  }

  /**
   * Sets the lock timeout of transactions that have none of their own; see {@link
   * TransactionOptions#withLockTimeout}.
   *
   * @param value from zero, which means no wait, to a year; default zero
   * @return other options
   * @throws IllegalArgumentException if it is out of range
   */
  public DatabaseOptions withLockTimeout(Duration value) {
    return with(copy -> copy.lockTimeout = value);
  }

  /**
   * Sets the most threads that clean pages.
   *
   * @param value 1 to 16; default one for four processors, at least 1 and at most 4
   * @return other options
   * @throws IllegalArgumentException if it is out of range
   */
  public DatabaseOptions withCleanerThreads(int value) {
    return with(copy -> copy.cleanerThreads = value);
  }

  /**
   * Sets the listener that receives the progress of a restart.
   *
   * @param value called on a thread of the engine; must neither block nor use the database. The
   *     default does nothing
   * @return other options
   */
  public DatabaseOptions withRestartListener(Consumer<RestartStatus> value) {
    return with(copy -> copy.restartListener = value);
  }

  /**
   * Sets the longest pause of {@link Database#run} before it tries again.
   *
   * @param value from zero, which means no pause, to a minute; default 10 ms
   * @return other options
   * @throws IllegalArgumentException if it is out of range
   */
  public DatabaseOptions withMaxBackoff(Duration value) {
    return with(copy -> copy.maxBackoff = value);
  }

  /**
   * Sets the time in which {@link Database#run} begins another attempt; see {@link
   * TransactionOptions#withRetryTimeout}.
   *
   * @param value from zero, which means one attempt, to a year; default 30 s
   * @return other options
   * @throws IllegalArgumentException if it is out of range
   */
  public DatabaseOptions withRetryTimeout(Duration value) {
    return with(copy -> copy.retryTimeout = value);
  }

  /**
   * Sets the archive of the log, with the defaults of {@link ArchiveOptions}.
   *
   * @param directory an archive of this database, or a directory that is empty or does not exist
   * @return other options
   */
  public DatabaseOptions withArchive(Path directory) {
    OptionCheck.present(directory, "archive", ARCHIVES);
    return withArchive(ArchiveOptions.to(directory));
  }

  /**
   * Sets the archive of the log.
   *
   * @param value the archive and its settings
   * @return other options
   */
  public DatabaseOptions withArchive(ArchiveOptions value) {
    OptionCheck.present(value, "archive", ARCHIVES);
    return with(copy -> copy.archive = value);
  }

  /**
   * Sets whether the command can read, check and back up the database while it is open.
   *
   * @param value whether there is a socket in the directory
   * @return the new options
   */
  public DatabaseOptions withAdminSocket(boolean value) {
    return with(copy -> copy.adminSocket = value);
  }

  static void checkRetryTimeout(Duration value) {
    OptionCheck.inRange(value, "retryTimeout", OptionCheck.YEAR);
  }

  static void checkLockTimeout(Duration value) {
    OptionCheck.inRange(value, "lockTimeout", OptionCheck.YEAR);
  }

  private DatabaseOptions with(Consumer<Copy> change) {
    Copy copy = new Copy(this);
    change.accept(copy);
    return copy.options();
  }

  /** A copy of the options, in which one can be changed. */
  private static final class Copy {
    boolean create;
    boolean readOnly;
    long poolBytes;
    long maxRecoveryLog;
    int maxRecoveryPages;
    long maxLogSize;
    int logSegmentBytes;
    boolean doubleWrite;
    int maxAttempts;
    Durability durability;
    Duration maxLazyDelay;
    Consumer<LeakedTransaction> leakListener;
    boolean leakTraces;
    boolean countersFile;
    int shortTransactionRows;
    long versionMemory;
    Duration lockTimeout;
    int cleanerThreads;
    Consumer<RestartStatus> restartListener;
    Duration maxBackoff;
    Duration retryTimeout;
    @Nullable ArchiveOptions archive;
    boolean adminSocket;

    Copy(DatabaseOptions options) {
      create = options.create;
      readOnly = options.readOnly;
      poolBytes = options.poolBytes;
      maxRecoveryLog = options.maxRecoveryLog;
      maxRecoveryPages = options.maxRecoveryPages;
      maxLogSize = options.maxLogSize;
      logSegmentBytes = options.logSegmentBytes;
      doubleWrite = options.doubleWrite;
      maxAttempts = options.maxAttempts;
      durability = options.durability;
      maxLazyDelay = options.maxLazyDelay;
      leakListener = options.leakListener;
      leakTraces = options.leakTraces;
      countersFile = options.countersFile;
      shortTransactionRows = options.shortTransactionRows;
      versionMemory = options.versionMemory;
      lockTimeout = options.lockTimeout;
      cleanerThreads = options.cleanerThreads;
      restartListener = options.restartListener;
      maxBackoff = options.maxBackoff;
      retryTimeout = options.retryTimeout;
      archive = options.archive;
      adminSocket = options.adminSocket;
    }

    DatabaseOptions options() {
      return new DatabaseOptions(
          create,
          readOnly,
          poolBytes,
          maxRecoveryLog,
          maxRecoveryPages,
          maxLogSize,
          logSegmentBytes,
          doubleWrite,
          maxAttempts,
          durability,
          maxLazyDelay,
          leakListener,
          leakTraces,
          countersFile,
          shortTransactionRows,
          versionMemory,
          lockTimeout,
          cleanerThreads,
          restartListener,
          maxBackoff,
          retryTimeout,
          archive,
          adminSocket);
    }
  }
}

package org.revenantdb.engine;

/**
 * What has become of attempts of {@link Database#run} that did not commit, since the database was
 * opened. How often and how long they paused then is {@link WaitClass#RETRY_PAUSE}.
 *
 * @param retries attempts that were made after another one had met a conflict
 * @param gaveUp transactions that ended with a conflict: after {@link DatabaseOptions#maxAttempts}
 *     attempts, or earlier, since there is no other after a lock timeout, after a deadlock with a
 *     transaction of the same thread, and in a thread that is interrupted
 * @param rowInUse attempts that failed because of {@link ConflictReason#ROW_IN_USE}
 * @param rowChanged the same, {@link ConflictReason#ROW_CHANGED}
 * @param notSerializable the same, {@link ConflictReason#NOT_SERIALIZABLE}
 * @param deadlock the same, {@link ConflictReason#DEADLOCK}
 * @param lockTimeout the same, {@link ConflictReason#LOCK_TIMEOUT}
 * @param tableInUse the same, {@link ConflictReason#TABLE_IN_USE}
 * @param tableChanged the same, {@link ConflictReason#TABLE_CHANGED}
 * @param ceilingNanos below which pauses are now, but for those who have tried many times; 0 while
 *     there is no contention
 */
public record RetryStatistics(
    long retries,
    long gaveUp,
    long rowInUse,
    long rowChanged,
    long notSerializable,
    long deadlock,
    long lockTimeout,
    long tableInUse,
    long tableChanged,
    long ceilingNanos) {}

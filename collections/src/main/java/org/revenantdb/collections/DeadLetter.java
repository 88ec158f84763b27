package org.revenantdb.collections;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * An item of a {@link WorkQueue} that was delivered too often, or that its codec cannot read.
 *
 * @param id its number in the queue
 * @param item the item, or null if its codec cannot read it
 * @param attempts how often it was delivered
 * @param since when it became a dead letter
 * @param reason why the last attempt failed
 * @param <T> type of the items
 */
public record DeadLetter<T>(
    long id, @Nullable T item, int attempts, Instant since, String reason) {}

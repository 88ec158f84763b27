package org.revenantdb.collections;

import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.revenantdb.collections.queue.QueueRows;
import org.revenantdb.engine.Transaction;
import org.revenantdb.engine.TransactionOptions;

/**
 * An item that a {@link WorkQueue} has delivered. No other consumer receives it until its
 * visibility time is over. {@link #acknowledge(Transaction)} removes it from the queue.
 *
 * <p>Threads: one at a time; {@link #extend}: any.
 *
 * @param <T> type of the items
 */
public final class Delivery<T> {
  /**
   * The delivery is a lazy commit, and an acknowledgement reads its row. No other thread learns the
   * result of this read before the commit, so it need not wait for a force of its own.
   */
  private static final TransactionOptions ACKNOWLEDGES =
      TransactionOptions.defaults().withDeferReadWaitsToCommit(true);

  private final WorkQueue<T> queue;
  private final QueueRows.Leased<T> leased;

  /**
   * The transaction that has acknowledged it; a second call in the same transaction does nothing.
   */
  private @Nullable Transaction acknowledgedIn;

  Delivery(WorkQueue<T> queue, QueueRows.Leased<T> leased) {
    this.queue = queue;
    this.leased = leased;
  }

  /**
   * The number of the item, which {@link WorkQueue#offer(Transaction, Object)} has returned.
   *
   * @return the number
   */
  public long id() {
    return leased.id();
  }

  /**
   * The item.
   *
   * @return the item
   */
  public T item() {
    return leased.item();
  }

  /**
   * How often the item was delivered, including this time.
   *
   * @return 1 for the first time
   */
  public int attempt() {
    return leased.attempt();
  }

  /**
   * Removes the item from the queue, as part of a transaction. If the work is done in the same
   * transaction, it is done exactly once, whatever crashes.
   *
   * @param transaction the transaction that does the work
   * @throws DeliveryLostException if the item was delivered again meanwhile; do not commit
   */
  @SuppressWarnings("ReferenceEquality") // which transaction it is
  public void acknowledge(Transaction transaction) {
    if (transaction == acknowledgedIn) {
      return;
    }
    if (!queue.rows().remove(transaction, leased)) {
      throw lost();
    }
    acknowledgedIn = transaction;
    queue.over(transaction, leased);
  }

  /**
   * Removes the item from the queue, in a transaction of its own. If the process dies between the
   * work and this call, the work is done again.
   *
   * @throws DeliveryLostException if the item was delivered again meanwhile
   */
  public void acknowledge() {
    queue.database().run(ACKNOWLEDGES, this::acknowledge);
  }

  /**
   * Returns the item to the queue after a failure. It is delivered again after a delay, or becomes
   * a dead letter if this was its last attempt. Does nothing if the item was delivered again
   * already.
   *
   * @param reason why, for a dead letter
   */
  public void retry(String reason) {
    Objects.requireNonNull(reason, "reason must not be null");
    queue.giveBack(leased, reason);
  }

  /**
   * Extends the visibility time, for work that takes longer. The working thread or another one can
   * call this while the work runs. It has no effect if the new end is before the present one.
   *
   * @param visibility from now on; not negative
   * @throws DeliveryLostException if the item was delivered again meanwhile
   */
  public void extend(Duration visibility) {
    if (visibility.isNegative()) {
      throw new IllegalArgumentException("visibility " + visibility + ": not negative");
    }
    if (!queue.extend(leased, visibility)) {
      throw lost();
    }
  }

  private DeliveryLostException lost() {
    return new DeliveryLostException(
        this,
        "queue "
            + queue.name()
            + ": item "
            + id()
            + " was not acknowledged in time (attempt "
            + attempt()
            + "), and is not this consumer's any more; roll back, and take longer visibility or"
            + " extend it if the work takes longer");
  }

  @Override
  public String toString() {
    return "Delivery[" + queue.name() + ", " + id() + ", attempt " + attempt() + "]";
  }
}

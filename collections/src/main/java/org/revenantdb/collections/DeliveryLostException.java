package org.revenantdb.collections;

import org.jspecify.annotations.Nullable;

/**
 * An item was acknowledged too late. Its visibility time was over, and it was delivered again or is
 * a dead letter now. The transaction that acknowledges must not commit, because another consumer
 * does the work.
 */
public final class DeliveryLostException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** The acknowledged delivery; null after a serialization. */
  private final transient @Nullable Delivery<?> delivery;

  DeliveryLostException(Delivery<?> delivery, String message) {
    super(message);
    this.delivery = delivery;
  }

  @SuppressWarnings("ReferenceEquality") // which delivery it is
  boolean isOf(Delivery<?> other) {
    return delivery == other;
  }
}

package org.revenantdb.collections;

/**
 * An item was acknowledged too late: its visibility time was over, and it was delivered again, or
 * has become a dead letter. The transaction that acknowledges must not commit, because another
 * consumer does the work.
 */
public final class DeliveryLostException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  DeliveryLostException(String message) {
    super(message);
  }
}

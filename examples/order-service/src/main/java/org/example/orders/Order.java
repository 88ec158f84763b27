package org.example.orders;

import java.time.Duration;
import java.time.Instant;

/** An order; {@code closed} is null until it is shipped. */
public record Order(String customer, String state, long cents, Instant closed) {
  static final Duration KEPT = Duration.ofDays(30);

  Order shipped(Instant when) {
    return new Order(customer, "shipped", cents, when);
  }

  /** Shipped orders are kept for some time. */
  Instant expires() {
    return closed == null ? null : closed.plus(KEPT);
  }
}

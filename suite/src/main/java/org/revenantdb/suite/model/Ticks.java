package org.revenantdb.suite.model;

import java.util.concurrent.atomic.AtomicLong;

/** The clock of a child: each tick is later than all earlier ones, of whatever thread and life. */
final class Ticks {

  private static final int LIFE_SHIFT = 40;

  private final AtomicLong last;

  Ticks(int life) {
    last = new AtomicLong((long) life << LIFE_SHIFT);
  }

  long next() {
    return last.incrementAndGet();
  }
}

package org.revenantdb.latch;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * For tests that must notice a forgotten waiter: else another would take over from it after a
 * second, and only the time would show it.
 */
final class NobodyTakesOver implements BeforeEachCallback, AfterEachCallback {
  @Override
  public void beforeEach(ExtensionContext context) {
    ParkingLot.global().lateNanos = TimeUnit.HOURS.toNanos(1);
  }

  @Override
  public void afterEach(ExtensionContext context) {
    ParkingLot.global().lateNanos = ParkingLot.LATE_NANOS;
  }
}

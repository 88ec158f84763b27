package org.revenantdb.testing;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.platform.testkit.engine.EngineTestKit;

class DrawnTest {
  private static final int CASES = 400;
  private static final AtomicInteger RUN = new AtomicInteger();
  private static final AtomicInteger BESIDE = new AtomicInteger();

  /** Run by a test kit only: it is no test of its own. */
  static final class Many {
    static IntStream cases() {
      return IntStream.range(0, CASES);
    }

    @ParameterizedTest
    @MethodSource("cases")
    @Drawn(oneIn = 4)
    void each(int number) {
      RUN.incrementAndGet();
    }

    @Test
    void other() {
      BESIDE.incrementAndGet();
    }
  }

  @Test
  void some_cases_are_drawn_and_other_tests_always_run() {
    EngineTestKit.engine("junit-jupiter").selectors(selectClass(Many.class)).execute();
    assertEquals(1, BESIDE.get());
    if (Boolean.getBoolean("revenant.long")) {
      assertEquals(CASES, RUN.get());
    } else {
      assertTrue(RUN.get() > 0 && RUN.get() < CASES, RUN.get() + " of " + CASES);
    }
  }
}

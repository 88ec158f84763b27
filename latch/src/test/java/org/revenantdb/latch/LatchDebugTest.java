package org.revenantdb.latch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;

/** The facade alone: each hook reaches the registry. What it finds is in HoldRegistryTest. */
class LatchDebugTest {
  private final Object latch = new Object();
  private final WaitStatistics statistics = new WaitStatistics("leaf");

  @Test
  void mode_isWhatThePropertySays() {
    assertEquals(Boolean.getBoolean("revenant.latch.debug"), LatchDebug.isOn());
  }

  @Test
  void hooks_reachTheRegistry() {
    LatchDebug.acquiring(latch, /* shared= */ false, /* waits= */ true, statistics);
    LatchDebug.acquired(latch, /* shared= */ false, statistics);
    assertFalse(mine().getFirst().shared());
    assertThrows(
        LatchUsageException.class,
        () -> LatchDebug.acquiring(latch, /* shared= */ true, /* waits= */ true, statistics));
    LatchDebug.acquiring(latch, /* shared= */ true, /* waits= */ false, statistics);
    LatchDebug.downgraded(latch);
    assertTrue(mine().getFirst().shared());
    LatchDebug.upgraded(latch);
    assertFalse(mine().getFirst().shared());
    LatchDebug.handOver(latch);
    LatchDebug.acquiring(latch, /* shared= */ true, /* waits= */ true, statistics);
    LatchDebug.released(latch, /* shared= */ false);
    assertEquals(List.of(), mine());
    assertEquals(List.of(), LatchDebug.abandoned());
  }

  private List<LatchDebug.Hold> mine() {
    String name = TrackedLatch.nameOf(latch, statistics);
    return LatchDebug.held().stream().filter(hold -> hold.latch().equals(name)).toList();
  }
}

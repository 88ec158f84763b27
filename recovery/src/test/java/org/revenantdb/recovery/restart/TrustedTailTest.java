package org.revenantdb.recovery.restart;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.revenantdb.recovery.file.ForceFailedException;
import org.revenantdb.recovery.log.DurabilityUnknownException;
import org.revenantdb.recovery.log.Log;
import org.revenantdb.recovery.log.LogStoppedException;
import org.revenantdb.recovery.testing.CrashDisk;

/** R6: log that a restart reads and acts upon is durable before the restart acts. */
class TrustedTailTest {
  /**
   * Schedule 1: a kill; the restart reads log that is only in the system's cache; a power cut. Log
   * that the restart has read, and may have written pages by, must still exist.
   */
  @Test
  void R6_log_that_a_restart_has_read_survives_a_power_cut_after_a_kill() {
    CrashDisk disk = new CrashDisk();
    Log log = LogFixture.create(disk);
    log.awaitDurable(LogFixture.change(log, 0, 1, LogFixture.bytes(100)));
    for (int page = 2; page <= 30; page++) {
      LogFixture.change(log, 0, page, LogFixture.bytes(400));
    }
    LastForceUndone undone = new LastForceUndone(disk);
    log.close();
    CrashDisk killed = undone.image();

    Restart first = LogFixture.analyse(killed, LogFixture.firstState());
    assertTrue(first.result().durableKnown() < first.result().endOfLog(), "there is such a tail");
    Log second = first.startLife(LogFixture.options());
    List<Integer> seen = LogFixture.pages(first);

    CrashDisk cut = killed.afterPowerCut(position -> false);
    assertEquals(seen, LogFixture.pages(LogFixture.analyse(cut, LogFixture.firstState())));
    second.close();
  }

  /** A disk just before its last force: everything is written, but only to the cache. */
  private static final class LastForceUndone {
    private CrashDisk image;

    LastForceUndone(CrashDisk disk) {
      disk.observe(() -> image = disk.afterKill());
    }

    CrashDisk image() {
      return image;
    }
  }

  /**
   * Schedule 2: a force fails, and the system marks its pages clean, so no later force writes them.
   * The next open still reads them from the cache.
   */
  @Test
  void R6_log_whose_force_failed_is_written_anew_before_it_is_trusted() {
    CrashDisk disk = new CrashDisk();
    Log log = LogFixture.create(disk);
    log.awaitDurable(LogFixture.change(log, 0, 1, LogFixture.bytes(100)));
    disk.failForcesAfter(0);
    long lsn = LogFixture.change(log, 0, 2, LogFixture.bytes(100));
    assertThrows(DurabilityUnknownException.class, () -> log.awaitDurable(lsn));
    assertThrows(LogStoppedException.class, log::close);
    disk.failForcesAfter(Integer.MAX_VALUE);

    Restart first = LogFixture.analyse(disk, LogFixture.firstState());
    Log second = first.startLife(LogFixture.options());
    List<Integer> seen = LogFixture.pages(first);
    assertEquals(List.of(1, 2), seen);

    CrashDisk cut = disk.afterPowerCut(position -> false);
    assertEquals(seen, LogFixture.pages(LogFixture.analyse(cut, LogFixture.firstState())));
    second.close();
  }

  /**
   * If a force fails while the tail is sealed, the open fails, and the next one finds no change.
   */
  @Test
  void R6_a_restart_whose_force_fails_has_changed_nothing() {
    CrashDisk disk = new CrashDisk();
    Log log = LogFixture.create(disk);
    LastForceUndone undone = new LastForceUndone(disk);
    log.awaitDurable(LogFixture.change(log, 0, 1, LogFixture.bytes(100)));
    CrashDisk killed = undone.image();
    for (int forces = 0; forces < 6; forces++) {
      CrashDisk attempt = killed.afterKill();
      attempt.failForcesAfter(forces);
      Restart restart = LogFixture.analyse(attempt, LogFixture.firstState());
      assertThrows(ForceFailedException.class, () -> restart.startLife(LogFixture.options()));
      attempt.failForcesAfter(Integer.MAX_VALUE);
      assertEquals(
          List.of(1), LogFixture.pages(LogFixture.analyse(attempt, LogFixture.firstState())));
    }
    log.close();
  }

  /** Every log write carries the durable LSN known when it was made; D is the highest one found. */
  @Test
  void R6_records_name_the_durable_lsn_that_was_known() {
    CrashDisk disk = new CrashDisk();
    Log log = LogFixture.create(disk);
    long first = LogFixture.change(log, 0, 1, LogFixture.bytes(100));
    log.awaitDurable(first);
    log.awaitDurable(LogFixture.change(log, 0, 2, LogFixture.bytes(100)));
    CrashDisk left = disk.afterKill();
    log.close();
    Restart restart = LogFixture.analyse(left, LogFixture.firstState());
    assertEquals(first, restart.result().durableKnown());
  }
}

package org.revenantdb.engine.catalog;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.revenantdb.engine.testing.Samples.SMALL;
import static org.revenantdb.engine.testing.Samples.bytes;
import static org.revenantdb.engine.testing.Samples.get;
import static org.revenantdb.engine.testing.Samples.put;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.TableOptions;
import org.revenantdb.recovery.testing.CrashDisk;

/**
 * Databases and tables come into being whole or not at all, wherever the process is killed or the
 * power cut.
 */
@Tag("slow")
class CreationTest {
  private static final String DIRECTORY = "/db";

  /** A disk before each of the changes that some work makes, as a kill or a power cut leaves it. */
  private static List<CrashDisk> crashes(CrashDisk disk, long seed, Runnable work) {
    List<CrashDisk> crashes = new ArrayList<>();
    Random random = new Random(seed);
    disk.observe(() -> {
      crashes.add(disk.afterKill());
      crashes.add(disk.afterPowerCut(random));
    });
    work.run();
    disk.observe(() -> {});
    return crashes;
  }

  private static void worksAfter(CrashDisk disk, String when) {
    try (Database db = Database.open(disk.path(DIRECTORY), SMALL)) {
      put(db, "t", "k", "v");
      assertTrue(db.check().isSound(), () -> when + db.check());
    } catch (RuntimeException refused) {
      throw new AssertionError(when, refused);
    }
    try (Database db = Database.open(disk.path(DIRECTORY), SMALL)) {
      assertTrue(db.recoveryReport().clean(), when);
      assertEquals("v", get(db, "t", "k"), when);
    }
  }

  @Test
  void creation_ofADatabase_thatIsKilledAnywhere_isBegunAgain() {
    long seed = Long.getLong("revenant.seed", System.nanoTime());
    System.out.println("CreationTest seed " + seed);
    CrashDisk disk = new CrashDisk();
    List<CrashDisk> crashes =
        crashes(disk, seed, () -> Database.open(disk.path(DIRECTORY), SMALL).close());
    assertTrue(crashes.size() > 40, "crashes: " + crashes.size());
    for (int i = 0; i < crashes.size(); i++) {
      worksAfter(crashes.get(i), "seed " + seed + ", crash " + i + " of " + crashes.size());
    }
  }

  @Test
  void creation_thatIsKilledTwice_isBegunAgain() {
    long seed = Long.getLong("revenant.seed", System.nanoTime());
    System.out.println("CreationTest seed " + seed);
    Random random = new Random(seed);
    CrashDisk disk = new CrashDisk();
    List<CrashDisk> first =
        crashes(disk, seed, () -> Database.open(disk.path(DIRECTORY), SMALL).close());
    for (int i = 0; i < 6; i++) {
      CrashDisk once = first.get(random.nextInt(first.size()));
      List<CrashDisk> second =
          crashes(once, seed + i, () -> Database.open(once.path(DIRECTORY), SMALL).close());
      for (int j = 0; j < 4; j++) {
        worksAfter(second.get(random.nextInt(second.size())), "seed " + seed);
      }
    }
  }

  @Test
  void creation_ofATable_isAllOrNothing_andDurableWhenItReturns() {
    creationOfATable(TableOptions.defaults());
  }

  @Test
  void creation_ofATableWithPartitions_isAllOrNothing_andDurableWhenItReturns() {
    creationOfATable(TableOptions.hashPartitioned(64));
  }

  private static void creationOfATable(TableOptions options) {
    long seed = Long.getLong("revenant.seed", System.nanoTime());
    System.out.println("CreationTest seed " + seed);
    CrashDisk disk = new CrashDisk();
    List<CrashDisk> crashes = new ArrayList<>();
    try (Database db = Database.open(disk.path(DIRECTORY), SMALL)) {
      put(db, "before", "k", "v");
      crashes.addAll(crashes(disk, seed, () -> db.getOrCreateTable("new", options)));
      crashes.add(disk.afterKill());
      crashes.add(disk.afterPowerCut(new Random(seed)));
    }
    for (int i = 0; i < crashes.size(); i++) {
      String when = "seed " + seed + ", crash " + i;
      boolean mustBeThere = i >= crashes.size() - 2;
      try (Database db = Database.open(crashes.get(i).path(DIRECTORY), SMALL)) {
        assertEquals("v", get(db, "before", "k"), when);
        boolean there = db.findTable("new") != null;
        assertTrue(there || !mustBeThere, when);
        db.run(tx -> tx.put(db.getOrCreateTable("new", options), bytes("k"), bytes("w")));
        assertEquals("w", get(db, "new", "k"), when);
        assertTrue(db.check().isSound(), () -> when + db.check());
      }
    }
  }
}

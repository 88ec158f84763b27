package org.revenantdb.engine.lifecycle;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.revenantdb.engine.BulkLoad;
import org.revenantdb.engine.CheckReport;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.Transaction;
import org.revenantdb.recovery.testing.CrashDisk;
import org.revenantdb.testing.Drawn;

/**
 * Kills and power cuts beside a bulk load and a checkpoint, whose pages are written once
 * (docs/protocols.md §58), and beside the redo that builds these pages.
 *
 * <p>{@code -Drevenant.seed=n} repeats a run as far as threads do.
 */
class RebuiltPagesCrashTest {
  private static final DatabaseOptions OPTIONS = DatabaseOptions.defaults().withPoolBytes(8L << 20);
  private static final int BEFORE = 300;
  private static final int LOADED = 700;

  /** One image is taken for so many operations; which ones depends on the seed. */
  private static final int EVERY = Boolean.getBoolean("revenant.long") ? 3 : 6;

  /**
   * So many images are taken before the force of pages of the load: one keeps every second sector.
   */
  private static final int CUTS_OF_NEW_PAGES = Boolean.getBoolean("revenant.long") ? 6 : 3;

  private final long seed =
      Long.getLong("revenant.seed", ThreadLocalRandom.current().nextInt(1 << 30));
  private final Random random = new Random(seed);
  private int restarts;
  private int restored;
  private int torn;

  private record Image(CrashDisk disk, String story, boolean mayBeNew, boolean mustBeNew) {}

  /** Takes images. */
  private final class Life implements CrashDisk.Observer {
    private final CrashDisk disk;
    private final int every;
    private final String story;
    private final List<Image> images = new ArrayList<>();
    private int operations;
    private volatile boolean writesNewPages;
    private volatile boolean mayBeNew;
    private volatile boolean mustBeNew;

    Life(CrashDisk disk, int every, String story) {
      this.disk = disk;
      this.every = every;
      this.story = story;
      operations = random.nextInt(every);
    }

    @Override
    public void beforeChange() {
      throw new AssertionError();
    }

    @Override
    public synchronized void beforeChange(String operation) {
      boolean isForce = operation.startsWith("force") && operation.contains("revenant.data");
      if (writesNewPages && isForce) {
        take(disk.afterPowerCut(sector -> sector % 2 == 0), "power cut", operation);
        for (int i = 1; i < CUTS_OF_NEW_PAGES; i++) {
          take(disk.afterPowerCut(random), "power cut", operation);
        }
      } else if (++operations % every == 0) {
        boolean kill = random.nextInt(4) == 0;
        take(
            kill ? disk.afterKill() : disk.afterPowerCut(random),
            kill ? "killed" : "power cut",
            operation);
      }
    }

    private void take(CrashDisk left, String how, String operation) {
      String what = story + how + " before " + operations + " " + operation;
      images.add(new Image(left, what, mayBeNew, mustBeNew));
    }
  }

  private static byte[] key(int number) {
    return ByteBuffer.allocate(8).putLong(number).array();
  }

  private static byte[] value(int number, int version) {
    byte[] value = new byte[300];
    new Random(number * 31L + version).nextBytes(value);
    return value;
  }

  @Test
  @Drawn(oneIn = 2)
  void R24_what_a_cut_leaves_of_pages_that_were_formatted_is_built_from_the_log() {
    System.out.println("RebuiltPagesCrashTest -Drevenant.seed=" + seed);
    do { // which thread writes the new pages, and when, is not up to this test
      cutEverywhere();
    } while (torn == 0);
    System.out.println(restarts + " restarts, " + restored + " pages restored, " + torn + " built");
  }

  private void cutEverywhere() {
    CrashDisk disk = new CrashDisk();
    Life life = new Life(disk, EVERY, "");
    try (Database db = Database.open(disk.path("/db"), OPTIONS)) {
      Table table = db.getOrCreateTable("t");
      put(db, table, 0);
      // Pages that were in use, and in the double-write file, are used anew by the load.
      load(db, table, /* finish= */ false);
      db.cleanNow();
      db.checkpoint();
      disk.observe(life);
      put(db, table, 1);
      life.mayBeNew = true;
      // From here on, since a checkpoint by itself may come before the one below.
      life.writesNewPages = true;
      load(db, table, /* finish= */ true);
      life.mustBeNew = true;
      db.checkpoint();
      life.writesNewPages = false;
      put(db, table, 1); // the pages of the load are changed, and written once more
      db.cleanNow();
      db.checkpoint();
      disk.observe(() -> {});
    }
    for (Image image : life.images) {
      Life restart = new Life(image.disk, 5 * EVERY, image.story + "; then ");
      restart.mayBeNew = image.mayBeNew;
      restart.mustBeNew = image.mustBeNew;
      image.disk.observe(restart);
      recover(image, restart);
      image.disk.observe(() -> {});
      for (Image deeper : restart.images) {
        recover(deeper, null);
      }
    }
  }

  private static void put(Database db, Table table, int version) {
    db.run(tx -> {
      for (int i = 0; i < BEFORE; i++) {
        tx.put(table, key(i), value(i, version));
      }
    });
  }

  private static void load(Database db, Table table, boolean finish) {
    try (BulkLoad load = db.bulkLoad(table)) {
      for (int i = BEFORE; i < BEFORE + LOADED; i++) {
        load.add(key(i), value(i, 0));
      }
      if (finish) {
        load.finish();
      }
    }
  }

  private void recover(Image image, @Nullable Life life) {
    restarts++;
    try (Database db = Database.open(image.disk.path("/db"), OPTIONS.withReadOnly(true))) {
      CheckReport report = db.check();
      assertEquals(List.of(), report.problems());
      torn += report.warnings().size();
    } catch (Throwable failure) {
      throw new AssertionError("read-only, -Drevenant.seed=" + seed + ", " + image.story, failure);
    }
    try (Database db = Database.open(image.disk.path("/db"), OPTIONS)) {
      restored += db.recoveryReport().pagesRestored();
      Table table = db.getOrCreateTable("t");
      boolean isNew;
      try (Transaction reader = db.begin()) {
        isNew = reader.get(table, key(BEFORE)) != null;
        assertTrue(isNew ? image.mayBeNew : !image.mustBeNew);
        for (int i = BEFORE; i < BEFORE + LOADED; i++) {
          byte[] found = reader.get(table, key(i));
          if (isNew) {
            assertEquals(ByteBuffer.wrap(value(i, 0)), ByteBuffer.wrap(found));
          } else {
            assertNull(found);
          }
        }
        ByteBuffer first = ByteBuffer.wrap(reader.get(table, key(0)));
        int version = first.equals(ByteBuffer.wrap(value(0, 0))) ? 0 : 1;
        for (int i = 0; i < BEFORE; i++) {
          assertEquals(
              ByteBuffer.wrap(value(i, version)), ByteBuffer.wrap(reader.get(table, key(i))));
        }
      }
      if (life != null) {
        life.mayBeNew = isNew; // what a restart has shown stays
        life.mustBeNew = isNew;
      }
      assertEquals(List.of(), db.check().problems());
      db.checkpoint();
      db.cleanNow();
      assertEquals(List.of(), db.check().problems());
    } catch (Throwable failure) {
      throw new AssertionError("-Drevenant.seed=" + seed + ", " + image.story, failure);
    }
  }
}

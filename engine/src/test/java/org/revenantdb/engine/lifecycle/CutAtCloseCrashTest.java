package org.revenantdb.engine.lifecycle;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.page.Page;
import org.revenantdb.engine.testing.Samples;
import org.revenantdb.recovery.format.ControlSlotLayout;
import org.revenantdb.recovery.testing.CrashDisk;

/**
 * A close cuts the free end of the data file off and deletes segments of the log: it is cut off
 * before each operation on a file, by kills and power cuts (docs/protocols.md §18, §45, §63).
 */
class CutAtCloseCrashTest {
  private static final DatabaseOptions OPTIONS = Samples.SMALL.withCountersFile(false);

  /** More than a close leaves. */
  private static final int FREE = 100;

  private static final int IN_ONE = 100;
  private static final int VALUE = 2_000;
  private static final String DATA = "/db/revenant.data";

  private final long seed =
      Long.getLong("revenant.seed", ThreadLocalRandom.current().nextInt(1 << 30));

  private static byte[] key(int row) {
    return String.format("%08d", row).getBytes();
  }

  private static void load(Database db, int from, int to) {
    Table table = db.getOrCreateTable("rows");
    for (int first = from; first < to; first += IN_ONE) {
      int begin = first;
      db.run(tx -> {
        for (int row = begin; row < begin + IN_ONE; row++) {
          tx.put(table, key(row), Samples.random(row, VALUE));
        }
      });
    }
  }

  /** Loads rows until the file has grown by so much ahead; returns how many. */
  private static int loadUntilFree(Database db, int least) {
    int rows = 0;
    while (rows < least || db.check().freePages() < FREE) {
      load(db, rows, rows + IN_ONE);
      rows += IN_ONE;
    }
    db.cleanNow();
    return rows;
  }

  private static void assertRows(Database db, int rows) {
    readRows(db, rows);
    assertEquals(List.of(), db.check().problems());
  }

  private static void readRows(Database db, int rows) {
    Table table = db.getOrCreateTable("rows");
    db.run(tx -> {
      for (int row = 0; row < rows; row++) {
        assertArrayEquals(Samples.random(row, VALUE), tx.get(table, key(row)));
      }
    });
  }

  private static int pages(CrashDisk disk) {
    return disk.content(DATA).length / Page.SIZE;
  }

  @Test
  void a_close_that_is_cut_off_at_any_operation_loses_nothing() {
    System.out.println("CutAtCloseCrashTest -Drevenant.seed=" + seed);
    Random random = new Random(seed);
    CrashDisk disk = new CrashDisk();
    List<CrashDisk> images = new ArrayList<>();
    AtomicBoolean cuts = new AtomicBoolean();
    int before;
    int rows;
    Database db = Database.open(disk.path("/db"), OPTIONS);
    try {
      rows = loadUntilFree(db, 1);
      before = pages(disk);
      disk.observeOperations(operation -> {
        images.add(random.nextInt(3) == 0 ? disk.afterKill() : disk.afterPowerCut(random));
        cuts.compareAndSet(false, operation.startsWith("truncate " + DATA));
      });
    } finally {
      db.close();
    }
    disk.observe(() -> {});
    images.add(disk.afterPowerCut(random));
    assertTrue(cuts.get(), "the file was not cut");
    assertTrue(pages(disk) < before, "of " + before + " pages " + pages(disk) + " are left");
    for (CrashDisk image : images) {
      goesOn(image, rows, random);
    }
  }

  /**
   * The newest control slot is written again by an open, and a power cut leaves garbage there. The
   * other slot then counts, and the close has deleted segments that records name.
   */
  @Test
  void an_open_that_is_cut_off_behind_a_clean_close_loses_nothing() {
    System.out.println("CutAtCloseCrashTest -Drevenant.seed=" + seed);
    Random random = new Random(seed);
    boolean anyDeleted = false;
    for (int rows = IN_ONE; rows <= 6 * IN_ONE; rows += IN_ONE) {
      CrashDisk disk = new CrashDisk();
      Set<String> deleted = new HashSet<>();
      try (Database db = Database.open(disk.path("/db"), OPTIONS)) {
        load(db, 0, rows);
        db.checkpoint();
        List<String> before = disk.files();
        disk.observeOperations(operation ->
            before.stream()
                .filter(file -> operation.equals("delete " + file))
                .forEach(deleted::add));
      }
      String last = disk.files().stream().filter(file -> file.endsWith(".log")).toList().getLast();
      anyDeleted |=
          deleted.stream().anyMatch(file -> file.endsWith(".log") && file.compareTo(last) > 0);
      List<CrashDisk> images = new ArrayList<>();
      disk.observeOperations(operation -> {
        images.add(disk.afterPowerCut(random));
        for (int slot : new int[] {ControlSlotLayout.FIRST_PAGE, ControlSlotLayout.SECOND_PAGE}) {
          if (operation.startsWith("write " + DATA + " at " + slot * Page.SIZE + ",")) {
            images.add(withGarbage(disk.afterKill(), slot));
          }
        }
      });
      Database.open(disk.path("/db"), OPTIONS).close();
      disk.observe(() -> {});
      for (CrashDisk image : images) {
        try (Database db = Database.open(image.path("/db"), OPTIONS)) {
          assertRows(db, rows);
        }
      }
    }
    assertTrue(anyDeleted, "no close has deleted a segment that was made ahead");
  }

  /** The cut is the last step of a close: docs/protocols.md §63. */
  @Test
  void a_close_whose_cut_fails_leaves_a_longer_file_and_a_clean_end() {
    CrashDisk disk = new CrashDisk();
    int rows = loadWithoutCut(disk);
    int before = pages(disk);
    try (Database db = Database.open(disk.path("/db"), OPTIONS)) {
      assertTrue(db.recoveryReport().clean());
      assertRows(db, rows);
    }
    assertTrue(pages(disk) < before, "the next close has not cut it");
  }

  /** Leaves a closed database that has grown ahead; returns how many rows it has. */
  private static int loadWithoutCut(CrashDisk disk) {
    AtomicBoolean cuts = new AtomicBoolean();
    int rows;
    int before;
    try (Database db = Database.open(disk.path("/db"), OPTIONS)) {
      rows = loadUntilFree(db, 1);
      before = pages(disk);
      disk.observeOperations(operation -> {
        if (operation.startsWith("truncate " + DATA)) {
          cuts.set(true);
          throw CutAtCloseCrashTest.<RuntimeException>asIs(new IOException("Input/output error"));
        }
      });
    }
    disk.observe(() -> {});
    assertTrue(cuts.get(), "the file was not cut");
    assertTrue(pages(disk) >= before);
    return rows;
  }

  /** The room that a close leaves is for the next session. It does not add up. */
  @Test
  void sessions_that_write_little_neither_enlarge_the_file_nor_cut_it() {
    CrashDisk disk = new CrashDisk();
    int rows;
    try (Database db = Database.open(disk.path("/db"), OPTIONS)) {
      rows = loadUntilFree(db, 3_000);
    }
    int size = pages(disk);
    List<String> changes = new ArrayList<>();
    disk.observeOperations(operation -> {
      if (operation.startsWith("truncate " + DATA) || isBehind(size, operation)) {
        changes.add(operation);
      }
    });
    for (int session = 0; session < 5; session++) {
      try (Database db = Database.open(disk.path("/db"), OPTIONS)) {
        int row = rows++;
        db.run(tx -> tx.put(db.getOrCreateTable("rows"), key(row), Samples.random(row, VALUE)));
        db.cleanNow();
      }
    }
    assertEquals(List.of(), changes);
    assertEquals(size, pages(disk));
  }

  /** Whether it writes to the data file behind so many pages. */
  private static boolean isBehind(int pages, String operation) {
    String begin = "write " + DATA + " at ";
    return operation.startsWith(begin)
        && Long.parseLong(operation.substring(begin.length(), operation.indexOf(',')))
            >= (long) pages * Page.SIZE;
  }

  @SuppressWarnings("unchecked")
  private static <E extends Throwable> E asIs(Throwable failure) throws E {
    throw (E) failure;
  }

  /** Damage that only the search for the used end meets. */
  @Test
  void a_close_that_cannot_read_a_map_of_extents_is_clean_and_does_not_cut() {
    CrashDisk disk = new CrashDisk();
    int rows = loadWithoutCut(disk);
    int before = pages(disk);
    byte[] bytes = disk.content(DATA);
    int[] maps =
        IntStream.range(ControlSlotLayout.SECOND_PAGE + 1, before)
            .filter(page -> bytes[page * Page.SIZE + Page.TYPE] == Page.GAM)
            .toArray();
    assertEquals(1, maps.length);
    flip(disk, maps[0]);
    try (Database db = Database.open(disk.path("/db"), OPTIONS)) {
      readRows(db, rows);
    }
    assertEquals(before, pages(disk));
    flip(disk, maps[0]);
    try (Database db = Database.open(disk.path("/db"), OPTIONS)) {
      assertTrue(db.recoveryReport().clean());
      assertRows(db, rows);
    }
    assertTrue(pages(disk) < before, "it has nothing to cut");
  }

  private static void flip(CrashDisk disk, int page) {
    disk.flip(DATA, page * Page.SIZE + Page.SIZE / 2, 0);
  }

  private static CrashDisk withGarbage(CrashDisk image, int page) {
    byte[] bytes = image.content(DATA);
    Arrays.fill(bytes, page * Page.SIZE, page * Page.SIZE + 512, (byte) 0x5a);
    image.content(DATA, bytes);
    return image;
  }

  /** Rows come until the file grows again; the power is cut, and all are there. */
  private static void goesOn(CrashDisk image, int rows, Random random) {
    CrashDisk cut;
    try (Database db = Database.open(image.path("/db"), OPTIONS)) {
      assertRows(db, rows);
      load(db, rows, 2 * rows);
      cut = random.nextBoolean() ? image.afterKill() : image.afterPowerCut(random);
    }
    for (CrashDisk left : List.of(cut, image)) {
      try (Database db = Database.open(left.path("/db"), OPTIONS)) {
        assertRows(db, 2 * rows);
      }
    }
  }
}

package org.revenantdb.recovery.file;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.revenantdb.recovery.format.DoubleWriteLayout;
import org.revenantdb.recovery.format.PageChecksum;
import org.revenantdb.recovery.format.PageHeaderLayout;
import org.revenantdb.recovery.testing.CrashDisk;
import org.revenantdb.recovery.testing.FaultyFileSystem;
import org.revenantdb.recovery.testing.IoEvent;
import org.revenantdb.recovery.testing.Tears;
import org.revenantdb.recovery.testing.TestPages;

/**
 * Torn writes in both copies, and rule R24: what may repair what.
 *
 * <p>The data file here has ten pages; "version" v of a page is {@link TestPages#page}.
 */
class DoubleWriteFileTest {
  private static final int PAGE = 8192;
  private static final int PAGES = 10;
  private static final byte[] ID = "sixteen bytes id".getBytes(StandardCharsets.US_ASCII);

  @TempDir Path temporary;

  private final FaultyFileSystem faulty = new FaultyFileSystem();
  private final IoStatistics statistics = new IoStatistics();
  private Path realData;
  private Path realDoubleWrite;

  @BeforeEach
  void create() throws IOException {
    realData = temporary.resolve("revenant.data");
    realDoubleWrite = temporary.resolve("revenant.dw");
    byte[] all = new byte[PAGES * PAGE];
    for (int id = 0; id < PAGES; id++) {
      put(all, id, TestPages.page(id, 1));
    }
    Files.write(realData, all);
    Files.deleteIfExists(realDoubleWrite);
    DoubleWriteFile.create(faulty.wrap(realDoubleWrite), ID, statistics).close();
  }

  private static void put(byte[] pages, int index, MemorySegment page) {
    MemorySegment.ofArray(pages).asSlice((long) index * PAGE, PAGE).copyFrom(page);
  }

  private StorageFile openData() {
    return StorageFile.open(faulty.wrap(realData), OpenMode.READ_WRITE, /* ownerOnly= */ true);
  }

  private DoubleWriteFile openDoubleWrite() {
    return DoubleWriteFile.open(faulty.wrap(realDoubleWrite), ID, statistics);
  }

  /** What a restart does. */
  private RestoreResult restart() {
    try (StorageFile data = openData();
        DoubleWriteFile doubleWrite = openDoubleWrite()) {
      return doubleWrite.restore(data);
    }
  }

  private static void writePages(StorageFile data, int[] ids, MemorySegment images) {
    for (int i = 0; i < ids.length; i++) {
      data.write(PageHeaderLayout.position(ids[i]), images.asSlice((long) i * PAGE, PAGE));
    }
  }

  /** A whole flush of pages in a version, as the page writer does it. */
  private static void flush(
      StorageFile data, DoubleWriteFile doubleWrite, int[] ids, long version) {
    MemorySegment images = TestPages.pages(ids, version);
    doubleWrite.writeBatch(ids.length, ids, images);
    writePages(data, ids, images);
    data.force();
    doubleWrite.confirm();
  }

  /** Restart, then whole flushes, then the process ends without a word. */
  private void flushes(long version, int[]... batches) {
    try (StorageFile data = openData();
        DoubleWriteFile doubleWrite = openDoubleWrite()) {
      doubleWrite.restore(data);
      for (int[] ids : batches) {
        flush(data, doubleWrite, ids, version);
      }
    }
  }

  private MemorySegment onDisk(int id) throws IOException {
    byte[] all = Files.readAllBytes(realData);
    return MemorySegment.ofArray(Arrays.copyOfRange(all, id * PAGE, (id + 1) * PAGE));
  }

  private boolean holds(int id, long version) throws IOException {
    return onDisk(id).mismatch(TestPages.page(id, version)) < 0;
  }

  private void flipBit(Path real, long at) throws IOException {
    byte[] bytes = Files.readAllBytes(real);
    bytes[(int) at] ^= 16;
    Files.write(real, bytes);
  }

  @Test
  void batch_isOneHeaderAndOneRunOfImagesThenAForce() {
    try (StorageFile data = openData();
        DoubleWriteFile doubleWrite = openDoubleWrite()) {
      doubleWrite.restore(data);
      faulty.clearEvents();
      doubleWrite.writeBatch(3, new int[] {3, 5, 9}, TestPages.pages(new int[] {3, 5, 9}, 2));
      assertEquals(
          "[WRITE revenant.dw 0+8192, WRITE revenant.dw 8192+24576, FORCE revenant.dw]",
          faulty.events().toString());
    }
  }

  @Test
  void batch_sealsTheImages() {
    try (StorageFile data = openData();
        DoubleWriteFile doubleWrite = openDoubleWrite()) {
      doubleWrite.restore(data);
      MemorySegment image = TestPages.page(4, 2);
      PageHeaderLayout.crc(image, 0);
      doubleWrite.writeBatch(1, new int[] {4}, image);
      assertTrue(PageChecksum.isGood(image, 4));
    }
  }

  @Test
  void batch_ofTheLargestSize_isRestored() throws IOException {
    int[] ids = new int[DoubleWriteFile.MAX_PAGES];
    Arrays.setAll(ids, i -> i + 3);
    try (StorageFile data = openData();
        DoubleWriteFile doubleWrite = openDoubleWrite()) {
      doubleWrite.restore(data);
      data.preallocate((long) PAGES * PAGE, (ids.length + 10L) * PAGE);
      doubleWrite.writeBatch(ids.length, ids, TestPages.pages(ids, 2));
    }
    // Pages 3 to 9 hold their former version, the others zeros: never written.
    RestoreResult result = restart();
    assertEquals(new RestoreResult(ids.length, ids.length - 7, List.of()), result);
    assertTrue(holds(3, 1));
    assertTrue(holds(ids.length + 2, 2));
    assertEquals(DoubleWriteLayout.fileSize(ids.length), Files.size(realDoubleWrite));
  }

  @Test
  void batch_wrongArguments() {
    try (StorageFile data = openData();
        DoubleWriteFile doubleWrite = openDoubleWrite()) {
      doubleWrite.restore(data);
      MemorySegment image = TestPages.page(4, 2);
      assertThrows(
          IllegalArgumentException.class, () -> doubleWrite.writeBatch(0, new int[0], image));
      assertThrows(
          IllegalArgumentException.class,
          () ->
              doubleWrite.writeBatch(
                  129, new int[129], MemorySegment.ofArray(new byte[129 * PAGE])));
      assertThrows(
          IllegalArgumentException.class, () -> doubleWrite.writeBatch(1, new int[] {5}, image));
      MemorySegment controlSlot = TestPages.page(1, 2);
      assertThrows(
          IllegalArgumentException.class,
          () -> doubleWrite.writeBatch(1, new int[] {1}, controlSlot));
    }
  }

  @Test
  void open_otherDatabase() {
    byte[] other = ID.clone();
    other[3]++;
    assertThrows(
        DamagedFileException.class,
        () -> DoubleWriteFile.open(faulty.wrap(realDoubleWrite), other, statistics));
  }

  @Test
  void open_otherVersion() throws IOException {
    byte[] bytes = Files.readAllBytes(realDoubleWrite);
    MemorySegment header = MemorySegment.ofArray(bytes).asSlice(0, PAGE);
    DoubleWriteLayout.version(header, 3);
    PageChecksum.seal(header);
    Files.write(realDoubleWrite, bytes);
    FormatVersionException e = assertThrows(FormatVersionException.class, this::openDoubleWrite);
    assertEquals(3, e.found());
  }

  @Test
  void open_missing() throws IOException {
    Files.delete(realDoubleWrite);
    assertThrows(MissingFileException.class, this::openDoubleWrite);
  }

  @Test
  void open_tornHeader_isNoBatch() throws IOException {
    flushes(2, new int[] {3, 4});
    flipBit(realDoubleWrite, 60);
    assertEquals(RestoreResult.NOTHING, restart());
    flushes(3, new int[] {3, 4});
    assertTrue(holds(4, 3));
  }

  @Test
  void open_shorterThanMadeOrLongerThanItCanBe_isDamage() throws IOException {
    byte[] whole = Files.readAllBytes(realDoubleWrite);
    int most = (int) DoubleWriteLayout.fileSize(DoubleWriteFile.MAX_PAGES);
    for (int length : new int[] {0, 1, PAGE, whole.length - 1, most + 1, 2 * most}) {
      Files.write(realDoubleWrite, Arrays.copyOf(whole, length));
      DamagedFileException e = assertThrows(DamagedFileException.class, this::openDoubleWrite);
      assertEquals(Math.min(length, most), e.offset());
    }
  }

  @Test
  void a_file_that_was_cut_below_the_batch_that_it_names_is_damage() throws IOException {
    flushes(2, new int[] {3, 4, 5, 6, 7, 8, 9});
    byte[] whole = Files.readAllBytes(realDoubleWrite);
    assertEquals(DoubleWriteLayout.fileSize(8), whole.length);
    Files.write(realDoubleWrite, Arrays.copyOf(whole, 8 * PAGE));
    openDoubleWrite().close();
    Files.write(realDoubleWrite, Arrays.copyOf(whole, 8 * PAGE - 1));
    DamagedFileException e = assertThrows(DamagedFileException.class, this::openDoubleWrite);
    assertEquals(DoubleWriteLayout.PAGES, e.offset());
  }

  @Test
  void the_file_grows_once_for_a_larger_batch_and_is_forced_before_it_is_written() {
    int[] ids = {3, 4, 5, 6, 7, 8, 9};
    try (StorageFile data = openData();
        DoubleWriteFile doubleWrite = openDoubleWrite()) {
      doubleWrite.restore(data);
      faulty.clearEvents();
      doubleWrite.writeBatch(ids.length, ids, TestPages.pages(ids, 2));
      doubleWrite.confirm();
      doubleWrite.writeBatch(ids.length, ids, TestPages.pages(ids, 3));
      assertEquals(
          "[WRITE revenant.dw 40960+32768, FORCE revenant.dw,"
              + " WRITE revenant.dw 0+8192, WRITE revenant.dw 8192+57344, FORCE revenant.dw,"
              + " WRITE revenant.dw 0+8192, WRITE revenant.dw 8192+57344, FORCE revenant.dw]",
          faulty.events().toString());
    }
  }

  @Test
  void a_full_disk_leaves_room_for_small_batches_and_the_file_grows_when_there_is_room()
      throws IOException {
    int[] ids = {3, 4, 5, 6, 7, 8, 9};
    try (StorageFile data = openData();
        DoubleWriteFile doubleWrite = openDoubleWrite()) {
      doubleWrite.restore(data);
      faulty.diskFullAfter(10_000);
      assertEquals(DoubleWriteLayout.FIRST_ROOM, doubleWrite.roomFor(ids.length));
      assertEquals(2, doubleWrite.roomFor(2));
      assertEquals(
          DoubleWriteLayout.fileSize(DoubleWriteLayout.FIRST_ROOM), Files.size(realDoubleWrite));
      assertThrows(
          DiskFullException.class,
          () -> doubleWrite.writeBatch(ids.length, ids, TestPages.pages(ids, 2)));
      faulty.diskFullAfter(Long.MAX_VALUE);
      assertEquals(ids.length, doubleWrite.roomFor(ids.length));
      flush(data, doubleWrite, ids, 3);
    }
    restart();
    assertTrue(holds(9, 3));
  }

  @Test
  void R24_a_power_cut_at_any_step_of_a_growth_leaves_the_batch_before_it_or_the_next()
      throws IOException {
    long seed = Long.getLong("revenant.seed", System.nanoTime());
    System.out.println("DoubleWriteFileTest growth, seed " + seed);
    int[] few = {3, 4, 6};
    int[] many = {3, 4, 5, 6, 7, 8, 9};
    int longer = 0;
    for (int round = 0; round < 300 || longer == 0; round++) { // some had grown
      Random random = new Random(seed + round);
      CrashDisk disk = new CrashDisk();
      IoStatistics io = new IoStatistics();
      DoubleWriteFile.create(disk.path("/dw"), ID, io).close();
      StorageFile.open(disk.path("/data"), OpenMode.CREATE_NEW, /* ownerOnly= */ true).close();
      disk.content("/data", Files.readAllBytes(realData));
      Directories.force(disk.path("/"), io);
      int[] steps = {round % 8}; // the first number of Random(n) is nearly that of Random(n + 1)
      CrashDisk[] left = new CrashDisk[1];
      try (StorageFile data =
              StorageFile.open(disk.path("/data"), OpenMode.READ_WRITE, /* ownerOnly= */ true);
          DoubleWriteFile doubleWrite = DoubleWriteFile.open(disk.path("/dw"), ID, io)) {
        doubleWrite.restore(data);
        doubleWrite.writeBatch(few.length, few, TestPages.pages(few, 2));
        writePages(data, few, TestPages.pages(few, 2));
        data.force();
        doubleWrite.confirm();
        disk.observe(() -> {
          if (steps[0]-- == 0) {
            left[0] =
                switch (random.nextInt(3)) {
                  case 0 -> disk.afterKill();
                  case 1 -> disk.afterPowerCut(random);
                  default -> disk.afterPowerCut(sector -> sector < PAGE); // the header alone
                };
          }
        });
        doubleWrite.writeBatch(many.length, many, TestPages.pages(many, 3));
      }
      if (left[0] == null) {
        left[0] = disk.afterPowerCut(random);
      }
      longer += left[0].content("/dw").length > 5 * PAGE ? 1 : 0;
      CrashDisk found = left[0];
      try (StorageFile data =
              StorageFile.open(found.path("/data"), OpenMode.READ_WRITE, /* ownerOnly= */ true);
          DoubleWriteFile doubleWrite = DoubleWriteFile.open(found.path("/dw"), ID, io)) {
        assertEquals(List.of(), doubleWrite.restore(data).beyondRepair(), "seed " + seed);
        flush(data, doubleWrite, many, 4);
      }
      assertEquals((long) PAGES * PAGE, found.content("/data").length);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {512, 4096})
  void R24_tornDataFile_isRestoredFromTheBatch(int sector) throws IOException {
    long seed = Long.getLong("revenant.seed", System.nanoTime());
    System.out.println("DoubleWriteFileTest torn data file, seed " + seed);
    int[] ids = {3, 4, 6};
    byte[] before = Files.readAllBytes(realData);
    byte[] after = before.clone();
    for (int id : ids) {
      put(after, id, TestPages.page(id, 2));
    }
    try (StorageFile data = openData();
        DoubleWriteFile doubleWrite = openDoubleWrite()) {
      doubleWrite.restore(data);
      doubleWrite.writeBatch(ids.length, ids, TestPages.pages(ids, 2));
    }
    int sectorsOfAPage = PAGE / sector;
    int restored = 0;
    for (BitSet tear : Tears.of(ids.length * sectorsOfAPage, 400, seed)) {
      byte[] torn = before.clone();
      for (int i = 0; i < ids.length; i++) {
        BitSet ofPage = tear.get(i * sectorsOfAPage, (i + 1) * sectorsOfAPage);
        byte[] page =
            Tears.apply(
                Arrays.copyOfRange(before, ids[i] * PAGE, (ids[i] + 1) * PAGE),
                Arrays.copyOfRange(after, ids[i] * PAGE, (ids[i] + 1) * PAGE),
                ofPage,
                sector);
        System.arraycopy(page, 0, torn, ids[i] * PAGE, PAGE);
      }
      Files.write(realData, torn);
      RestoreResult result = restart();
      assertEquals(List.of(), result.beyondRepair());
      int tornPages = 0;
      for (int i = 0; i < ids.length; i++) {
        int fresh = tear.get(i * sectorsOfAPage, (i + 1) * sectorsOfAPage).cardinality();
        tornPages += fresh > 0 && fresh < sectorsOfAPage ? 1 : 0;
        assertTrue(holds(ids[i], fresh == 0 ? 1 : 2), "page " + ids[i] + " seed " + seed);
      }
      assertEquals(tornPages, result.restored(), "seed " + seed);
      restored += result.restored();
      for (int id : new int[] {0, 1, 2, 5, 7, 8, 9}) {
        assertTrue(holds(id, 1));
      }
    }
    assertTrue(restored > 0);
  }

  @ParameterizedTest
  @ValueSource(ints = {512, 4096})
  void R24_tornBatch_changesNothing(int sector) throws IOException {
    long seed = Long.getLong("revenant.seed", System.nanoTime());
    System.out.println("DoubleWriteFileTest torn batch, seed " + seed);
    flushes(2, new int[] {3, 4, 6});
    byte[] before = Arrays.copyOf(Files.readAllBytes(realDoubleWrite), 4 * PAGE);
    byte[] data = Files.readAllBytes(realData);
    // The next batch has one page in common with the former one, at another place.
    int[] ids = {4, 7, 8};
    try (StorageFile file = openData();
        DoubleWriteFile doubleWrite = openDoubleWrite()) {
      doubleWrite.restore(file);
      doubleWrite.writeBatch(ids.length, ids, TestPages.pages(ids, 3));
    }
    byte[] after = Arrays.copyOf(Files.readAllBytes(realDoubleWrite), 4 * PAGE);
    for (BitSet tear : Tears.of(before.length / sector, 400, seed)) {
      byte[] torn = Tears.apply(before, after, tear, sector);
      Files.write(realDoubleWrite, Arrays.copyOf(torn, 5 * PAGE)); // preallocated
      RestoreResult result = restart();
      assertEquals(0, result.restored(), "seed " + seed);
      assertEquals(List.of(), result.beyondRepair(), "seed " + seed);
      assertEquals(-1, Arrays.mismatch(data, Files.readAllBytes(realData)), "seed " + seed);
    }
  }

  @Test
  void tornInBothCopies_isReportedAndNotAccepted() throws IOException {
    int[] ids = {3, 4, 6};
    for (int sector = 0; sector < PAGE / 512; sector++) {
      create();
      try (StorageFile data = openData();
          DoubleWriteFile doubleWrite = openDoubleWrite()) {
        doubleWrite.restore(data);
        MemorySegment images = TestPages.pages(ids, 2);
        doubleWrite.writeBatch(ids.length, ids, images);
        data.write(4L * PAGE, images.asSlice(PAGE, 4096));
      }
      flipBit(realDoubleWrite, DoubleWriteLayout.imagePosition(1) + sector * 512L + 100);
      MemorySegment torn = onDisk(4);
      assertEquals(new RestoreResult(3, 0, List.of(4)), restart());
      assertEquals(-1, onDisk(4).mismatch(torn), "the torn page is left for its reader to report");
      assertFalse(PageChecksum.isGood(onDisk(4), 4));
    }
  }

  @Test
  void flippedBitInThePage_isRepairedOnlyWhileTheBatchMayBeNeeded() throws IOException {
    flushes(2, new int[] {3, 4});
    flipBit(realData, 4 * PAGE + 1000);
    assertEquals(new RestoreResult(2, 1, List.of()), restart());
    assertTrue(holds(4, 2));
  }

  @Test
  void R24_imageOfAnEarlierBatch_repairsNothing() throws IOException {
    flushes(2, new int[] {3, 5}, new int[] {7});
    // Page 5's image still stands behind the only one of the last batch.
    flipBit(realData, 5 * PAGE + 1000);
    assertEquals(new RestoreResult(1, 0, List.of()), restart());
    assertFalse(PageChecksum.isGood(onDisk(5), 5));
  }

  @Test
  void R24_imageThatTheHeaderDoesNotList_repairsNothing() throws IOException {
    // The same page at the same place of two batches; of the second one only the header is there.
    flushes(2, new int[] {5});
    byte[] former = Files.readAllBytes(realDoubleWrite);
    flushes(3, new int[] {5});
    byte[] mixed = Files.readAllBytes(realDoubleWrite);
    System.arraycopy(former, PAGE, mixed, PAGE, PAGE);
    Files.write(realDoubleWrite, mixed);
    flipBit(realData, 5 * PAGE + 1000);
    assertEquals(new RestoreResult(1, 0, List.of(5)), restart());
    assertFalse(PageChecksum.isGood(onDisk(5), 5));
  }

  @Test
  void R24_batchKnownToBeForced_repairsNothing() throws IOException {
    flushes(2, new int[] {5});
    byte[] bytes = Files.readAllBytes(realDoubleWrite);
    MemorySegment header = MemorySegment.ofArray(bytes).asSlice(0, PAGE);
    DoubleWriteLayout.highestForced(header, DoubleWriteLayout.batch(header));
    PageChecksum.seal(header);
    Files.write(realDoubleWrite, bytes);
    flipBit(realData, 5 * PAGE + 1000);
    assertEquals(RestoreResult.NOTHING, restart());
    assertFalse(PageChecksum.isGood(onDisk(5), 5));
  }

  @Test
  void R24_headerNamesTheBatchesKnownToBeForced() throws IOException {
    flushes(2, new int[] {5}, new int[] {6}, new int[] {7});
    MemorySegment header = MemorySegment.ofArray(Files.readAllBytes(realDoubleWrite));
    assertEquals(DoubleWriteLayout.batch(header) - 1, DoubleWriteLayout.highestForced(header));
  }

  @Test
  void R24_afterSwitchingOff_nothingIsRepaired() throws IOException {
    try (StorageFile data = openData();
        DoubleWriteFile doubleWrite = openDoubleWrite()) {
      doubleWrite.restore(data);
      flush(data, doubleWrite, new int[] {5}, 2);
      doubleWrite.switchOff();
      assertEquals(IoEvent.Kind.FORCE, faulty.events().getLast().kind());
      // Switched off: the page is written alone, and torn.
      data.write(5L * PAGE, TestPages.page(5, 3).asSlice(0, 4096));
    }
    assertEquals(RestoreResult.NOTHING, restart());
    assertFalse(PageChecksum.isGood(onDisk(5), 5), "version 2 came back over version 3");
    assertFalse(openAndAskWhetherToRestore());
  }

  private boolean openAndAskWhetherToRestore() {
    try (DoubleWriteFile doubleWrite = openDoubleWrite()) {
      return doubleWrite.mayHaveToRestore();
    }
  }

  @Test
  void R24_orderOfCalls_isGuarded() {
    int[] ids = {5};
    try (StorageFile data = openData();
        DoubleWriteFile doubleWrite = openDoubleWrite()) {
      MemorySegment image = TestPages.page(5, 2);
      assertThrows(IllegalStateException.class, () -> doubleWrite.writeBatch(1, ids, image));
      assertThrows(IllegalStateException.class, doubleWrite::clear);
      doubleWrite.restore(data);
      assertThrows(IllegalStateException.class, doubleWrite::confirm);
      doubleWrite.writeBatch(1, ids, image);
      assertThrows(IllegalStateException.class, () -> doubleWrite.writeBatch(1, ids, image));
      assertThrows(IllegalStateException.class, doubleWrite::clear);
      assertThrows(IllegalStateException.class, () -> doubleWrite.restore(data));
      doubleWrite.confirm();
      doubleWrite.clear();
    }
  }

  @Test
  void R24_restartRestoresAndForcesBeforeTheFileIsUsedAgain() throws IOException {
    // Power cut in the data file; restart;
    // power cut in the next batch; restart: pages 3 to 5 whole.
    long seed = Long.getLong("revenant.seed", System.nanoTime());
    System.out.println("DoubleWriteFileTest two power cuts, seed " + seed);
    Random random = new Random(seed);
    int[] first = {3, 4, 5};
    int[] second = {7, 8, 9};
    int restored = 0;
    for (int round = 0; round < 40; round++) {
      create();
      faulty.trackForces();
      try (StorageFile data = openData();
          DoubleWriteFile doubleWrite = openDoubleWrite()) {
        doubleWrite.restore(data);
        MemorySegment images = TestPages.pages(first, 2);
        doubleWrite.writeBatch(first.length, first, images);
        writePages(data, first, images);
      }
      faulty.powerCut(random);
      try (StorageFile data = openData();
          DoubleWriteFile doubleWrite = openDoubleWrite()) {
        restored += doubleWrite.restore(data).restored();
        doubleWrite.writeBatch(second.length, second, TestPages.pages(second, 3));
      }
      faulty.powerCut(random);
      assertEquals(List.of(), restart().beyondRepair());
      for (int id : first) {
        assertTrue(holds(id, 1) || holds(id, 2), "page " + id + " seed " + seed);
      }
    }
    assertTrue(restored > 0);
  }

  @Test
  void R6_restartForcesWhatOnlyTheCacheHolds() throws IOException {
    // SIGKILL after the data file was written, before its force: the restart reads whole pages.
    long seed = Long.getLong("revenant.seed", System.nanoTime());
    System.out.println("DoubleWriteFileTest kill, then power cut, seed " + seed);
    killThenPowerCut(seed, /* forceFailed= */ false);
  }

  @Test
  void R6_restartWritesAgainWhatAFailedForceMayHaveLost() throws IOException {
    // The force failed and the system marked the pages clean: reading them proves nothing.
    long seed = Long.getLong("revenant.seed", System.nanoTime());
    System.out.println("DoubleWriteFileTest failed force, then power cut, seed " + seed);
    killThenPowerCut(seed, /* forceFailed= */ true);
  }

  /**
   * A power cut could make garbage of a page that is written, while its batch is in the cache
   * alone.
   */
  @Test
  void R6_a_good_page_that_the_batch_has_not_reached_is_not_written_by_a_restart()
      throws IOException {
    int[] ids = {3, 4, 5};
    flushes(1, ids);
    try (StorageFile data = openData();
        DoubleWriteFile doubleWrite = openDoubleWrite()) {
      doubleWrite.restore(data);
      MemorySegment images = TestPages.pages(ids, 2);
      doubleWrite.writeBatch(ids.length, ids, images);
      writePages(data, new int[] {3}, images); // killed behind the first page
    }
    faulty.clearEvents();
    try (StorageFile data = openData();
        DoubleWriteFile doubleWrite = openDoubleWrite()) {
      assertEquals(0, doubleWrite.restore(data).restored());
      assertEquals(1, faulty.count(IoEvent.Kind.WRITE, data.path().getFileName().toString()));
    }
    assertTrue(holds(3, 2) && holds(4, 1) && holds(5, 1));
    List<IoEvent.Kind> order = faulty.events().stream().map(IoEvent::kind).toList();
    assertTrue(
        order.indexOf(IoEvent.Kind.FORCE) < order.indexOf(IoEvent.Kind.WRITE),
        "the batch is forced before the page is written: " + order);
  }

  private void killThenPowerCut(long seed, boolean forceFailed) throws IOException {
    Random random = new Random(seed);
    int[] first = {3, 4, 5};
    int[] second = {7, 8, 9};
    for (int round = 0; round < 20; round++) {
      create();
      faulty.trackForces();
      try (StorageFile data = openData();
          DoubleWriteFile doubleWrite = openDoubleWrite()) {
        doubleWrite.restore(data);
        MemorySegment images = TestPages.pages(first, 2);
        doubleWrite.writeBatch(first.length, first, images);
        writePages(data, first, images);
        if (forceFailed) {
          faulty.failForces(true);
          assertThrows(ForceFailedException.class, data::force);
          faulty.failForces(false);
        }
      }
      try (StorageFile data = openData();
          DoubleWriteFile doubleWrite = openDoubleWrite()) {
        assertEquals(0, doubleWrite.restore(data).restored());
        doubleWrite.writeBatch(second.length, second, TestPages.pages(second, 3));
      }
      faulty.powerCut(random);
      restart();
      for (int id : first) {
        assertTrue(holds(id, 2), "page " + id + " seed " + seed);
      }
    }
  }

  /** The data file was cut (docs/protocols.md §18), and the last batch has a page from there. */
  @Test
  void R24_a_page_that_lies_behind_the_end_of_the_data_file_is_not_brought_back()
      throws IOException {
    flushes(2, new int[] {3, 9});
    try (StorageFile data = openData()) {
      data.truncate(8 * PAGE);
      data.write(3 * PAGE + 4096, MemorySegment.ofArray(new byte[100]));
    }
    RestoreResult result = restart();
    assertEquals(1, result.restored());
    assertEquals(List.of(), result.beyondRepair());
    assertEquals(8 * PAGE, Files.size(realData));
    assertEquals(-1, onDisk(3).mismatch(TestPages.page(3, 2)));
  }
}

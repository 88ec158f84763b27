package org.revenantdb.recovery.file;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.recovery.testing.FaultyFileSystem;
import org.revenantdb.recovery.testing.IoEvent;

class StorageFileTest {
  @TempDir Path temporary;

  private final FaultyFileSystem faulty = new FaultyFileSystem();
  private final IoStatistics statistics = new IoStatistics();
  private Path path;

  @BeforeEach
  void place() {
    path = faulty.wrap(temporary).resolve("file");
  }

  private StorageFile create() {
    return StorageFile.open(path, OpenMode.CREATE_NEW, true, statistics);
  }

  private static MemorySegment bytes(int length, long seed) {
    byte[] bytes = new byte[length];
    new Random(seed).nextBytes(bytes);
    return MemorySegment.ofArray(bytes);
  }

  @Test
  void write_thenRead_nativeAndHeap() {
    MemorySegment heap = bytes(700_000, 1);
    try (StorageFile file = create();
        Arena arena = Arena.ofConfined()) {
      file.write(5, heap);
      MemorySegment direct = arena.allocate(700_000);
      file.read(5, direct);
      assertEquals(-1, direct.mismatch(heap));

      file.write(700_005, direct);
      MemorySegment back = MemorySegment.ofArray(new byte[700_000]);
      file.read(700_005, back);
      assertEquals(-1, back.mismatch(heap));
      assertEquals(1_400_005, file.size());
    }
  }

  @Test
  void write_shortWrites_writesAll() {
    faulty.shortWrites(7);
    try (StorageFile file = create()) {
      MemorySegment source = bytes(1000, 2);
      file.write(3, source);
      MemorySegment back = MemorySegment.ofArray(new byte[1000]);
      file.read(3, back);
      assertEquals(-1, back.mismatch(source));
      assertEquals(1000, statistics.bytesWritten());
      assertEquals(1, statistics.writes());
    }
  }

  @Test
  void write_systemAcceptsNothing_endsWithAnError() {
    faulty.shortWrites(0);
    try (StorageFile file = create()) {
      StorageIOException e =
          assertThrows(StorageIOException.class, () -> file.write(0, bytes(10, 3)));
      assertTrue(e.getMessage().contains("accepts no more bytes"), e.getMessage());
    }
  }

  @Test
  void read_beyondTheEnd_namesFileAndPlace() {
    try (StorageFile file = create()) {
      file.write(0, bytes(100, 4));
      DamagedFileException e =
          assertThrows(
              DamagedFileException.class,
              () -> file.read(50, MemorySegment.ofArray(new byte[100])));
      assertEquals(path, e.file());
      assertEquals(100, e.offset());
      assertTrue(e.getMessage().startsWith(path + " at byte 100: "), e.getMessage());
      assertEquals(50, file.readUpTo(50, MemorySegment.ofArray(new byte[100])));
      assertEquals(0, file.readUpTo(500, MemorySegment.ofArray(new byte[100])));
    }
  }

  @Test
  void diskFull_isAnExceptionOfItsOwn() {
    faulty.diskFullAfter(600);
    try (StorageFile file = create()) {
      DiskFullException e =
          assertThrows(DiskFullException.class, () -> file.write(0, bytes(1000, 5)));
      assertEquals(600, e.offset());
      assertTrue(e.cure().contains("make room"), e.cure());
    }
  }

  @Test
  void quotaExceeded_isDiskFull() {
    faulty.hook(event -> {
      if (event.kind() == IoEvent.Kind.WRITE) {
        throw new IOException("Disk quota exceeded");
      }
    });
    try (StorageFile file = create()) {
      assertThrows(DiskFullException.class, () -> file.write(0, bytes(10, 6)));
    }
  }

  @Test
  void failedWrite_deviceWithoutRoom_isDiskFullInAnyLanguage() {
    IOException german = new IOException("Auf dem Geraet ist kein Speicherplatz mehr");
    assertInstanceOf(
        DiskFullException.class, IoFailures.of(path, 0, "writing", german, Long.MAX_VALUE));
    assertEquals(StorageIOException.class, IoFailures.of(path, 0, "writing", german, 1).getClass());
  }

  @Test
  void preallocate_diskFull_givesTheRoomBack() {
    try (StorageFile file = create()) {
      file.write(0, bytes(100, 7));
      faulty.diskFullAfter(300_000);
      assertThrows(DiskFullException.class, () -> file.preallocate(100, 1_000_000));
      assertEquals(100, file.size());
    }
  }

  @Test
  void preallocate_writesZeros() {
    try (StorageFile file = create()) {
      file.write(0, bytes(2000, 8));
      file.preallocate(1000, 600_001);
      assertEquals(600_001, file.size());
      byte[] back = new byte[599_001];
      file.read(1000, MemorySegment.ofArray(back));
      assertArrayEquals(new byte[599_001], back);
    }
  }

  @Test
  void R6_failedForce_isFinal() {
    try (StorageFile file = create()) {
      file.write(0, bytes(10, 9));
      faulty.failForces(true);
      ForceFailedException first = assertThrows(ForceFailedException.class, file::force);
      assertEquals(path, first.file());
      faulty.failForces(false);
      assertThrows(ForceFailedException.class, file::force);
      assertThrows(ForceFailedException.class, () -> file.write(0, bytes(10, 9)));
      assertThrows(ForceFailedException.class, () -> file.truncate(0));
      assertThrows(ForceFailedException.class, () -> file.preallocate(0, 10));
      assertEquals(0, statistics.forces());
    }
  }

  @Test
  void interrupt_isReportedAsTheReasonForTheClosedFile() {
    try (StorageFile file =
        StorageFile.open(temporary.resolve("real"), OpenMode.CREATE_NEW, true)) {
      Thread.currentThread().interrupt();
      StorageIOException e;
      try {
        e = assertThrows(StorageIOException.class, () -> file.write(0, bytes(10, 10)));
      } finally {
        assertTrue(Thread.interrupted(), "the interrupt status is kept");
      }
      assertTrue(e.getMessage().contains("interrupted"), e.getMessage());
      e = assertThrows(StorageIOException.class, () -> file.write(0, bytes(10, 10)));
      assertTrue(e.getMessage().contains("is closed"), e.getMessage());
    }
  }

  @Test
  void interruptedForce_isReportedAsAFailedForce() {
    try (StorageFile file =
        StorageFile.open(temporary.resolve("real"), OpenMode.CREATE_NEW, /* ownerOnly= */ true)) {
      file.write(0, bytes(10, 10));
      Thread.currentThread().interrupt();
      ForceFailedException e;
      try {
        e = assertThrows(ForceFailedException.class, file::force);
      } finally {
        assertTrue(Thread.interrupted(), "the interrupt status is kept");
      }
      assertTrue(e.getMessage().contains("interrupted"), e.getMessage());
    }
  }

  @Test
  void open_missing() {
    MissingFileException e =
        assertThrows(MissingFileException.class, () -> StorageFile.open(path, OpenMode.READ, true));
    assertEquals(path, e.file());
  }

  @Test
  void open_createTwice() {
    create().close();
    StorageIOException e = assertThrows(StorageIOException.class, this::create);
    assertTrue(e.getMessage().contains("exists already"), e.getMessage());
  }

  @Test
  void open_readOnlyDirectory() {
    create().close();
    faulty.readOnly(true);
    StorageFile.open(path, OpenMode.READ, true).close();
    assertThrows(
        ReadOnlyStorageException.class, () -> StorageFile.open(path, OpenMode.READ_WRITE, true));
    path = path.resolveSibling("other");
    assertThrows(ReadOnlyStorageException.class, this::create);
  }

  @Test
  void open_newFileIsForItsOwner() throws IOException {
    create().close();
    assertEquals(
        "rw-------",
        PosixFilePermissions.toString(Files.getPosixFilePermissions(temporary.resolve("file"))));
  }

  @Test
  void close_twice() {
    StorageFile file = create();
    file.close();
    file.close();
    assertThrows(StorageIOException.class, file::size);
  }

  @Test
  void statistics_count() {
    try (StorageFile file = create()) {
      file.write(0, bytes(10, 11));
      file.write(10, bytes(20, 11));
      file.read(0, MemorySegment.ofArray(new byte[15]));
      file.readUpTo(20, MemorySegment.ofArray(new byte[15]));
      file.force();
      Directories.force(path.getParent(), statistics);
    }
    assertEquals(2, statistics.writes());
    assertEquals(30, statistics.bytesWritten());
    assertEquals(2, statistics.reads());
    assertEquals(25, statistics.bytesRead());
    assertEquals(2, statistics.forces());
  }

  /** One of the file systems can move bytes between files, the other cannot. */
  @Test
  void a_range_is_copied_to_another_file_as_readers_see_it() throws IOException {
    MemorySegment all = bytes(1_000_000, 12);
    MemorySegment page = bytes(8_192, 13);
    for (Path folder : new Path[] {temporary, faulty.wrap(temporary)}) {
      for (boolean isShown : new boolean[] {false, true}) {
        try (StorageFile from = open(folder.resolve("from"));
            StorageFile to = open(folder.resolve("to"));
            Arena arena = Arena.ofConfined()) {
          from.write(0, all);
          MemorySegment expected = MemorySegment.ofArray(new byte[1_000_000]);
          MemorySegment.copy(all, 8_192, expected, 8_192, 900_000 - 8_192);
          if (isShown) {
            from.showInstead(Map.of(16_384L, page));
            MemorySegment.copy(page, 0, expected, 16_384, 8_192);
          }
          to.write(999_999, MemorySegment.ofArray(new byte[1]));
          from.copyTo(to, 8_192, 900_000, arena.allocate(64 << 10));
          MemorySegment found = MemorySegment.ofArray(new byte[1_000_000]);
          to.read(0, found);
          assertEquals(-1, found.mismatch(expected), folder + ", " + isShown);
          DamagedFileException told =
              assertThrows(
                  DamagedFileException.class,
                  () -> from.copyTo(to, 900_000, 1_000_001, arena.allocate(64 << 10)));
          assertEquals(1_000_000, told.offset());
        }
        Files.delete(temporary.resolve("from"));
        Files.delete(temporary.resolve("to"));
      }
    }
  }

  private StorageFile open(Path file) {
    return StorageFile.open(file, OpenMode.CREATE_NEW, true, statistics);
  }

  @Test
  void powerCut_keepsWhatWasForcedAndNothingWhole() throws IOException {
    long seed = Long.getLong("revenant.seed", System.nanoTime());
    System.out.println("seed " + seed);
    faulty.trackForces();
    MemorySegment before = MemorySegment.ofArray(new byte[64 * 512]);
    before.fill((byte) 1);
    MemorySegment after = MemorySegment.ofArray(new byte[64 * 512]);
    after.fill((byte) 2);
    try (StorageFile file = create()) {
      file.write(0, before);
      file.force();
      file.write(0, after);
    }
    faulty.powerCut(new Random(seed));
    MemorySegment left = MemorySegment.ofArray(Files.readAllBytes(temporary.resolve("file")));
    int kept = 0;
    for (int sector = 0; sector < 64; sector++) {
      byte first = left.get(ValueLayout.JAVA_BYTE, sector * 512L);
      kept += first == 1 ? 1 : 0;
      assertTrue(first == 1 || first == 2);
    }
    assertTrue(kept > 0 && kept < 64, "of 64 sectors " + kept + " are old, seed " + seed);
  }
}

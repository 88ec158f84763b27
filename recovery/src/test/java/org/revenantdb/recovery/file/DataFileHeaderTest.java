package org.revenantdb.recovery.file;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.function.Consumer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.recovery.format.ControlSlotLayout;
import org.revenantdb.recovery.format.FileHeaderLayout;
import org.revenantdb.recovery.format.PageChecksum;
import org.revenantdb.recovery.testing.FaultyFileSystem;

class DataFileHeaderTest {
  private static final byte[] ID = "sixteen bytes id".getBytes(StandardCharsets.US_ASCII);

  @TempDir Path temporary;

  private final FaultyFileSystem faulty = new FaultyFileSystem();
  private Path real;
  private byte[] whole;

  @BeforeEach
  void create() throws IOException {
    real = temporary.resolve("revenant.data");
    try (StorageFile data = open(OpenMode.CREATE_NEW)) {
      DataFileHeader.create(data, ID, 1 << 24, 1234567890123L);
    }
    whole = Files.readAllBytes(real);
  }

  private StorageFile open(OpenMode mode) {
    return StorageFile.open(faulty.wrap(real), mode, /* ownerOnly= */ true);
  }

  private DataFileHeader read(byte[] bytes) throws IOException {
    Files.write(real, bytes);
    try (StorageFile data = open(OpenMode.READ)) {
      return DataFileHeader.read(data);
    }
  }

  private byte[] changed(Consumer<MemorySegment> change) {
    byte[] bytes = whole.clone();
    change.accept(MemorySegment.ofArray(bytes));
    return bytes;
  }

  private byte[] changedAndSealed(Consumer<MemorySegment> change) {
    return changed(change.andThen(PageChecksum::seal));
  }

  @Test
  void create_thenRead() throws IOException {
    DataFileHeader header = read(whole);
    assertArrayEquals(ID, header.databaseId());
    assertEquals(1 << 24, header.segmentSize());
    assertEquals(1234567890123L, header.createdMillis());
  }

  @Test
  void create_idOfAnotherLength() throws IOException {
    try (StorageFile data = open(OpenMode.READ_WRITE)) {
      assertThrows(
          IllegalArgumentException.class, () -> DataFileHeader.create(data, new byte[8], 1, 1));
    }
  }

  @Test
  void read_somethingElse() {
    byte[] text = new byte[10_000];
    Arrays.fill(text, (byte) 'x');
    NotADatabaseException e = assertThrows(NotADatabaseException.class, () -> read(text));
    assertEquals(faulty.wrap(real), e.file());
    assertThrows(NotADatabaseException.class, () -> read(new byte[0]));
    assertThrows(NotADatabaseException.class, () -> read(new byte[8192]));
    assertThrows(NotADatabaseException.class, () -> read("hello".getBytes(StandardCharsets.UTF_8)));
  }

  @Test
  void read_anotherFileOfOurs() {
    assertThrows(
        NotADatabaseException.class,
        () ->
            read(changedAndSealed(p -> ControlSlotLayout.magic(p, ControlSlotLayout.MAGIC_VALUE))));
  }

  @Test
  void read_otherVersion_namesBoth() {
    byte[] newer =
        changedAndSealed(p -> p.set(java.lang.foreign.ValueLayout.JAVA_BYTE, 16, (byte) 99));
    FormatVersionException e = assertThrows(FormatVersionException.class, () -> read(newer));
    assertEquals(99, e.found());
    assertEquals(FileHeaderLayout.CURRENT_VERSION, e.supported());
    assertEquals(16, e.offset());
    assertTrue(e.getMessage().contains("format version 99"), e.getMessage());
    assertTrue(
        e.getMessage().contains("format version " + FileHeaderLayout.CURRENT_VERSION),
        e.getMessage());
    assertTrue(e.cure().contains("newer release"), e.cure());
  }

  @Test
  void read_otherVersionWithAnotherChecksum_isStillAnotherVersion() {
    byte[] newer = whole.clone();
    newer[16] = 99;
    Arrays.fill(newer, 100, 200, (byte) 9);
    assertThrows(FormatVersionException.class, () -> read(newer));
  }

  @Test
  void read_otherPageSize_namesBoth() {
    byte[] other = changedAndSealed(p -> FileHeaderLayout.pageSize(p, 4096));
    FormatVersionException e = assertThrows(FormatVersionException.class, () -> read(other));
    assertTrue(e.getMessage().contains("page size 4096"), e.getMessage());
    assertTrue(e.getMessage().contains("page size 8192"), e.getMessage());
  }

  @Test
  void read_reservedBytes() {
    byte[] bytes = changed(p -> {});
    bytes[44] = 1;
    PageChecksum.seal(MemorySegment.ofArray(bytes));
    assertThrows(DamagedFileException.class, () -> read(bytes));
    byte[] tail = changed(p -> {});
    tail[8000] = 1;
    PageChecksum.seal(MemorySegment.ofArray(tail));
    assertThrows(DamagedFileException.class, () -> read(tail));
  }

  @Test
  void read_flippedBit_isDamageAndNothingElse() {
    for (int bit = 0; bit < 8192 * 8; bit += bit < 64 * 8 ? 1 : 61) {
      byte[] damaged = whole.clone();
      damaged[bit / 8] ^= (byte) (1 << bit % 8);
      assertThrows(DamagedFileException.class, () -> read(damaged), "bit " + bit);
    }
  }

  @Test
  void read_cutShort_isDamage() {
    DamagedFileException e =
        assertThrows(DamagedFileException.class, () -> read(Arrays.copyOf(whole, 5000)));
    assertEquals(5000, e.offset());
  }
}

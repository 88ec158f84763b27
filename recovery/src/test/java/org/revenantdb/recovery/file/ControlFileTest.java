package org.revenantdb.recovery.file;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.revenantdb.recovery.testing.FaultyFileSystem;
import org.revenantdb.recovery.testing.IoEvent;
import org.revenantdb.recovery.testing.Tears;

class ControlFileTest {
  private static final int PAGE = 8192;

  @TempDir Path temporary;

  private final FaultyFileSystem faulty = new FaultyFileSystem();
  private Path real;
  private StorageFile data;

  @BeforeEach
  void create() {
    real = temporary.resolve("revenant.data");
    data = StorageFile.open(faulty.wrap(real), OpenMode.CREATE_NEW, /* ownerOnly= */ true);
  }

  @AfterEach
  void close() {
    data.close();
  }

  private static ControlState state(long n) {
    boolean clean = n % 2 == 0;
    long lsn = 64 * n;
    return new ControlState(
        0, lsn + 8, lsn, lsn + 16, lsn + 24, (int) n, clean, clean ? lsn + 24 : 0, n + 5);
  }

  private ControlState read() {
    return ControlFile.read(data).state();
  }

  private byte[] bytes() throws IOException {
    return Files.readAllBytes(real);
  }

  private void bytes(byte[] bytes) {
    data.write(0, MemorySegment.ofArray(bytes));
  }

  @Test
  void create_writesBothSlots() throws IOException {
    ControlFile.create(data, state(7));
    assertEquals(state(7), read().withSequence(0));
    byte[] whole = bytes();
    for (int slot = 1; slot <= 2; slot++) {
      byte[] damaged = whole.clone();
      damaged[slot * PAGE + 100] ^= 1;
      bytes(damaged);
      assertEquals(state(7), read().withSequence(0));
    }
  }

  @Test
  void write_thenRead_takesTheNewer() {
    ControlFile control = ControlFile.create(data, state(1));
    long former = control.state().sequence();
    for (int n = 2; n < 10; n++) {
      control.write(state(n));
      assertEquals(++former, control.state().sequence());
      assertEquals(state(n).withSequence(former), control.state());
      assertEquals(control.state(), read());
      if (n % 3 == 0) {
        control = ControlFile.read(data);
      }
    }
  }

  @Test
  void write_neverTouchesTheSlotThatCounts() {
    ControlFile control = ControlFile.create(data, state(1));
    faulty.clearEvents();
    control.write(state(2));
    control.write(state(3));
    ControlFile.read(data).write(state(4));
    List<IoEvent> events =
        faulty.events().stream().filter(e -> e.kind() != IoEvent.Kind.READ).toList();
    assertEquals(
        "[WRITE revenant.data 8192+8192, FORCE revenant.data,"
            + " WRITE revenant.data 16384+8192, FORCE revenant.data,"
            + " WRITE revenant.data 8192+8192, FORCE revenant.data]",
        events.toString());
  }

  @ParameterizedTest
  @ValueSource(ints = {512, 4096})
  void write_torn_leavesTheFormerOrTheNewState(int sector) throws IOException {
    long seed = Long.getLong("revenant.seed", System.nanoTime());
    System.out.println("ControlFileTest tears, seed " + seed);
    ControlFile control = ControlFile.create(data, state(1));
    control.write(state(2));
    byte[] before = bytes();
    ControlState former = control.state();
    control.write(state(3));
    byte[] after = bytes();
    int whole = 0;
    for (BitSet tear : Tears.of(before.length / sector, 300, seed)) {
      bytes(Tears.apply(before, after, tear, sector));
      ControlState found = read();
      assertTrue(found.equals(former) || found.equals(control.state()), "seed " + seed);
      whole += found.equals(control.state()) ? 1 : 0;
    }
    assertTrue(whole > 0);
  }

  @Test
  void read_flippedBit_fallsBackToTheOther() throws IOException {
    ControlFile control = ControlFile.create(data, state(1));
    ControlState former = control.state();
    control.write(state(2));
    byte[] whole = bytes();
    for (int bit = 0; bit < PAGE * 8; bit += bit < 80 * 8 ? 1 : 97) {
      byte[] damaged = whole.clone();
      damaged[PAGE + bit / 8] ^= (byte) (1 << bit % 8);
      bytes(damaged);
      assertEquals(former, read());
    }
  }

  @Test
  void read_bothSlotsDamaged() throws IOException {
    ControlFile.create(data, state(1));
    byte[] damaged = bytes();
    damaged[PAGE + 30] ^= 1;
    damaged[2 * PAGE + 30] ^= 1;
    bytes(damaged);
    DamagedFileException e = assertThrows(DamagedFileException.class, this::read);
    assertEquals(PAGE, e.offset());
  }

  @Test
  void read_slotsSwapped_isDamage() throws IOException {
    ControlFile.create(data, state(1)).write(state(2));
    byte[] whole = bytes();
    byte[] swapped = new byte[3 * PAGE];
    System.arraycopy(whole, PAGE, swapped, 2 * PAGE, PAGE);
    System.arraycopy(whole, 2 * PAGE, swapped, PAGE, PAGE);
    bytes(swapped);
    assertThrows(DamagedFileException.class, this::read);
  }

  @Test
  void read_fileWithoutSlots() {
    assertThrows(DamagedFileException.class, this::read);
  }

  @Test
  void writeBoth_leavesNoCleanCloseToFallBackTo() throws IOException {
    ControlFile control = ControlFile.create(data, state(1));
    control.write(state(2));
    assertTrue(control.state().clean());
    control.writeBoth(state(3));
    byte[] whole = bytes();
    for (int slot = 1; slot <= 2; slot++) {
      byte[] damaged = whole.clone();
      damaged[slot * PAGE + 20] ^= 1;
      bytes(damaged);
      assertFalse(read().clean());
      assertEquals(3, read().life());
    }
  }

  @Test
  void R6_write_forceFails_theFormerStateStands() {
    ControlFile control = ControlFile.create(data, state(1));
    ControlState former = control.state();
    faulty.failForces(true);
    assertThrows(ForceFailedException.class, () -> control.write(state(2)));
    assertEquals(former, control.state());
    faulty.failForces(false);
    assertThrows(ForceFailedException.class, () -> control.write(state(2)));
  }

  @Test
  void R6_rewrite_bringsToTheMediumWhatAFailedForceLost() throws IOException {
    long seed = Long.getLong("revenant.seed", System.nanoTime());
    System.out.println("ControlFileTest failed force, then power cut, seed " + seed);
    ControlFile.create(data, state(1)).write(state(2));
    data.close();
    faulty.trackForces();
    data = StorageFile.open(faulty.wrap(real), OpenMode.READ_WRITE, /* ownerOnly= */ true);
    ControlFile control = ControlFile.read(data);
    faulty.failForces(true);
    assertThrows(ForceFailedException.class, () -> control.write(state(3)));
    faulty.failForces(false);
    data.close();

    data = StorageFile.open(faulty.wrap(real), OpenMode.READ_WRITE, /* ownerOnly= */ true);
    ControlFile reopened = ControlFile.read(data);
    assertEquals(3, reopened.state().life(), "the cache shows the slot that is not on the medium");
    reopened.rewrite();
    data.close();
    faulty.powerCut(new Random(seed));

    data = StorageFile.open(faulty.wrap(real), OpenMode.READ_WRITE, /* ownerOnly= */ true);
    assertEquals(reopened.state(), read(), "seed " + seed);
  }

  @Test
  void image_reservedBytesAreZero() throws IOException {
    ControlFile.create(data, state(1));
    byte[] rest = Arrays.copyOfRange(bytes(), PAGE + 80, 2 * PAGE);
    assertArrayEquals(new byte[PAGE - 80], rest);
  }
}

package org.revenantdb.recovery.restart;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.recovery.file.DamagedFileException;
import org.revenantdb.recovery.file.FormatVersionException;
import org.revenantdb.recovery.file.IoStatistics;
import org.revenantdb.recovery.file.MissingFileException;

/** The states of transactions at a position, in a file (protocols.md §50). */
class KnownStatesTest {
  private static final long AT = 4096;
  private static final byte[] ID = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};

  @TempDir Path folder;
  private final KnownStates states =
      new KnownStates(
          AT,
          /* highest= */ 99,
          new long[] {3, 7},
          new long[] {1, 50},
          List.of(
              new PreparedTransaction(20, "one".getBytes(), new int[] {4, 5}),
              new PreparedTransaction(21, new byte[0], new int[0])));

  @BeforeEach
  void write() throws IOException {
    Files.write(KnownStates.file(folder, AT), states.bytes(ID));
  }

  private KnownStates read() {
    return KnownStates.read(folder, ID, AT, new IoStatistics());
  }

  private void change(int at) throws IOException {
    Path file = KnownStates.file(folder, AT);
    byte[] bytes = Files.readAllBytes(file);
    bytes[at] ^= 1;
    Files.write(file, bytes);
  }

  @Test
  void states_are_read_as_they_were_written() {
    KnownStates read = read();
    assertEquals(AT, read.at());
    assertEquals(99, read.highest());
    assertArrayEquals(new long[] {3, 7}, read.undecided());
    assertArrayEquals(new long[] {1, 50}, read.aborted());
    assertEquals(states.prepared(), read.prepared());
  }

  @Test
  void analysis_begins_with_them() {
    TransactionStates begun = new TransactionStates(read());
    assertTrue(begun.isImageRead());
    assertEquals(99, begun.highest());
    assertArrayEquals(new long[] {3, 7}, begun.undecided());
    assertArrayEquals(new long[] {1, 3, 7, 50}, begun.abortedAndUndecided());
    assertEquals(states.prepared(), begun.prepared());
  }

  @Test
  void those_of_a_result_are_its_aborted_ones_without_the_undecided() {
    KnownStates of =
        KnownStates.of(
            new AnalysisResult(
                8,
                8,
                AT,
                8,
                /* life= */ 2,
                new long[] {1, 3, 7, 50},
                new long[] {3, 7},
                states.prepared(),
                /* highestTransactionId= */ 99,
                0,
                0,
                /* cleanShutdown= */ false));
    assertArrayEquals(states.bytes(ID), of.bytes(ID));
  }

  @Test
  void a_changed_bit_is_damage_and_another_version_is_named() throws IOException {
    for (int at = 0; at < states.bytes(ID).length; at++) {
      if (at < 4 || at >= 8) {
        change(at);
        assertThrows(DamagedFileException.class, this::read, "byte " + at);
        change(at);
      }
    }
    byte[] bytes = states.bytes(ID);
    bytes[4] = 2;
    java.util.zip.CRC32C crc = new java.util.zip.CRC32C();
    crc.update(bytes, 4, bytes.length - 4);
    for (int i = 0; i < 4; i++) {
      bytes[i] = (byte) (crc.getValue() >>> (8 * i));
    }
    Files.write(KnownStates.file(folder, AT), bytes);
    assertThrows(FormatVersionException.class, this::read);
  }

  @Test
  void a_file_that_is_short_missing_or_of_another_database_is_refused() throws IOException {
    Path file = KnownStates.file(folder, AT);
    Files.write(file, new byte[10]);
    assertThrows(DamagedFileException.class, this::read);
    byte[] other = ID.clone();
    other[3] = 77;
    Files.write(file, states.bytes(other));
    assertThrows(DamagedFileException.class, this::read);
    Files.delete(file);
    MissingFileException missing = assertThrows(MissingFileException.class, this::read);
    assertTrue(missing.getMessage().contains("restore"), missing::getMessage);
  }
}

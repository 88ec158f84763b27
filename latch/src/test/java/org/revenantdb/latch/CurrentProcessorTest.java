package org.revenantdb.latch;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CurrentProcessorTest {
  /** Fields 3 to 38, each its own number but the state. */
  private static final String BEFORE =
      " S 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35"
          + " 36 37 38 ";

  @ParameterizedTest
  @ValueSource(
      strings = {"java", "", "a b", "a) b", "(x (", ")", "x) S 1 2 3 (y", "1 2 3", ") R 0 0 "})
  void processor_isFoundBehindAnyName(String name) {
    assertEquals(5, parse("4711 (" + name + ")" + BEFORE + "5 0 0\n"));
  }

  @Test
  void processor_isField39() {
    StringBuilder line = new StringBuilder("1 (2) S");
    for (int field = 4; field <= 52; field++) {
      line.append(' ').append(field);
    }
    assertEquals(39, parse(line.append('\n').toString()));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        ")",
        "4711",
        "4711 (java",
        "4711 (java)",
        "4711 (java) S 1 2 3\n",
        "() \n",
        "\u0000"
      })
  void garbage_isUnknown(String line) {
    assertEquals(-1, parse(line));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"5", "-1 0", "x 0", "5x 0", " 0", "2147483648 0", "99999999999999999999 0"})
  void nonsenseInTheField_isUnknown(String rest) {
    assertEquals(-1, parse("4711 (java)" + BEFORE + rest));
  }

  @Test
  void lastFieldOfTheLine_isWhole() {
    assertEquals(12, parse("4711 (java)" + BEFORE + "12\n"));
    assertEquals(-1, parse("4711 (java)" + BEFORE + "12"), "more digits may follow");
  }

  @Test
  void randomBytes_neverThrow() {
    long seed = Long.getLong("revenant.seed", new Random().nextLong());
    Random random = new Random(seed);
    byte[] alphabet = ") 0123456789\n(S".getBytes(StandardCharsets.US_ASCII);
    for (int round = 0; round < 20_000; round++) {
      byte[] line = new byte[random.nextInt(160)];
      for (int i = 0; i < line.length; i++) {
        line[i] = alphabet[random.nextInt(alphabet.length)];
      }
      int length = random.nextInt(line.length + 1);
      int processor =
          assertDoesNotThrow(() -> CurrentProcessor.parse(line, length), () -> "seed " + seed);
      assertTrue(processor >= -1, () -> "seed " + seed);
    }
  }

  @Test
  void thisThread_runsOnAProcessorOfThisMachine() {
    int processor = CurrentProcessor.get();
    if (Files.isReadable(Path.of("/proc/thread-self/stat"))) {
      assertTrue(processor >= 0, "Linux tells it");
    } else {
      assertEquals(-1, processor);
    }
  }

  @Test
  void virtualThread_hasNone() throws InterruptedException {
    AtomicInteger seen = new AtomicInteger();
    Thread.startVirtualThread(() -> seen.set(CurrentProcessor.get())).join();
    assertEquals(-1, seen.get());
  }

  private static int parse(String line) {
    byte[] bytes = line.getBytes(StandardCharsets.UTF_8);
    return CurrentProcessor.parse(bytes, bytes.length);
  }
}

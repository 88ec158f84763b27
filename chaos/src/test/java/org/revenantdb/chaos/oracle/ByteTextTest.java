package org.revenantdb.chaos.oracle;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;

class ByteTextTest {

  private static String shown(String text) {
    return Bytes.of(text).toString();
  }

  private static String shown(int... content) {
    byte[] bytes = new byte[content.length];
    for (int i = 0; i < content.length; i++) {
      bytes[i] = (byte) content[i];
    }
    return Bytes.of(bytes).toString();
  }

  @Test
  void text_standsInQuotes_asItIs() {
    assertEquals("\"\"", shown(""));
    assertEquals("\"a \\ or ü\"", shown("a \\ or ü"));
  }

  @Test
  void text_followedByZeros_canBeReadBesideTheTextAlone() {
    assertEquals("\"value 1\\0\\0\" (0x76616c756520310000)", shown("value 1\0\0"));
    assertEquals("\"41\\0×6\" (0x3431000000000000)", shown("41\0\0\0\0\0\0"));
  }

  @Test
  void text_cutInsideACharacter_keepsWhatIsBeforeIt() {
    byte[] whole = "Angröße".getBytes(StandardCharsets.UTF_8);
    assertEquals("\"Angr\\xc3\" (0x416e6772c3)", Bytes.of(Arrays.copyOf(whole, 5)).toString());
  }

  @Test
  void key_ofTextAndNumber_showsBoth() {
    assertEquals("\"rows/\\0\\0\\0\\x05\" (0x726f77732f00000005)", shown("rows/\0\0\0\u0005"));
  }

  @Test
  void numbers_areHexadecimal() {
    assertEquals("0x00ff", shown(0, -1));
    assertEquals("0x00000000", shown(0, 0, 0, 0));
    assertEquals("0x4100ff80", shown('A', 0, -1, 0x80));
  }

  @Test
  void longTexts_areShortened_andShowTheirEnd() {
    assertEquals("\"" + "x".repeat(60) + "…\" (61 bytes)", shown("x".repeat(61)));
    assertEquals(
        "\"" + "x".repeat(36) + "…" + "x".repeat(19) + "\\0×50\" (150 bytes)",
        shown("x".repeat(100) + "\0".repeat(50)));
  }

  @Test
  void anyBytes_areShownInOnePrintableLine() {
    long seed = 20_261_121;
    System.out.println("seed " + seed);
    Random random = new Random(seed);
    for (int i = 0; i < 2_000; i++) {
      byte[] content = new byte[random.nextInt(90)];
      random.nextBytes(content);
      for (int at = 0; at < content.length; at++) {
        content[at] = random.nextInt(4) > 0 ? (byte) ('a' + at % 26) : content[at];
      }
      String text = Bytes.of(content).toString();
      assertFalse(text.chars().anyMatch(Character::isISOControl), text);
      assertTrue(text.length() < 400, text);
    }
  }
}

package org.revenantdb.chaos.hooks;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** How the recorder understands paths and platforms. */
class PathsTest {

  @ParameterizedTest
  @CsvSource({
    "/a/b, /a/b",
    "/a//b/, /a/b",
    "/a/./b, /a/b",
    "/a/../b, /b",
    "/../a, /a",
    "/a/b/../../c, /c",
    "/a/.../b, /a/.../b",
    "/a/..b, /a/..b",
    "/, ''",
    "/a/b/.., /a"
  })
  void normalPath_hasNoDotsAndNoEmptyNames(String path, String normal) {
    byte[] bytes = path.getBytes(UTF_8);
    int length = Slot.normal(bytes, bytes.length);
    assertEquals(normal, new String(bytes, 0, length, UTF_8));
  }

  @Test
  void otherPlatform_isRefusedWithACure() {
    String os = System.getProperty("os.name");
    System.setProperty("os.name", "Mac OS X");
    try {
      assertTrue(AnyRecorder.missing().contains("needs Linux"), AnyRecorder.missing());
      assertTrue(AnyRecorder.missing().contains("files = PATH"), AnyRecorder.missing());
    } finally {
      System.setProperty("os.name", os);
    }
  }
}

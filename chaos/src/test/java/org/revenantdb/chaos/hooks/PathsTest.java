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
  void on_another_platform_the_agent_records_and_what_hooks_need_is_told() {
    String os = System.getProperty("os.name");
    System.setProperty("os.name", "Mac OS X");
    try {
      assertEquals(Recorders.AGENT, Recorders.chosen());
      assertTrue(AnyRecorder.missingHooks().contains("Mac OS X"), AnyRecorder.missingHooks());
    } finally {
      System.setProperty("os.name", os);
    }
  }

  @ParameterizedTest
  @CsvSource({"/a//b/./c/, /a/b/c", "/a/../../b, /b", "/, /", "c:/x/../y, /c:/y"})
  void a_path_of_the_agent_has_no_dots_and_no_empty_names(String path, String normal) {
    assertEquals(normal, RootPaths.normal(path));
  }
}

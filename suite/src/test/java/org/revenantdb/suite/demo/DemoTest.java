package org.revenantdb.suite.demo;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The demo with a part of the JDK; {@code ./revenant demo} uses all of it. */
class DemoTest {

  @TempDir private Path dir;

  @Test
  @Tag("slow")
  void some_modules_are_imported_killed_and_verified() throws Exception {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    DemoOptions options = new DemoOptions(7, 16 << 20, 2, 24, dir, /* keep= */ false);
    Demo demo = new Demo(options, new PrintStream(out, true, StandardCharsets.UTF_8));
    boolean held = demo.run();
    assertTrue(held, () -> out.toString(StandardCharsets.UTF_8));
    assertTrue(demo.json().toString().contains("\"passed\": 1"), () -> demo.json().toString());
    try (var left = Files.list(dir)) {
      assertTrue(left.findAny().isEmpty(), "the database is left behind");
    }
  }

  @Test
  void directory_that_is_not_empty_is_refused() throws Exception {
    Files.writeString(dir.resolve("mine"), "precious");
    DemoOptions options = new DemoOptions(7, 16 << 20, 1, 2, dir, /* keep= */ false);
    assertThrows(IOException.class, () -> new Demo(options, System.out));
  }
}

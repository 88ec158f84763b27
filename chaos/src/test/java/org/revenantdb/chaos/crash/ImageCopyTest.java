package org.revenantdb.chaos.crash;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A copy has every byte, including ranges of zeros. */
class ImageCopyTest {

  @TempDir private Path dir;

  @Test
  void copy_isEqual_withZerosAtItsBeginningWithinAndAtItsEnd() throws IOException {
    byte[] bytes = new byte[400_001];
    byte[] some = new byte[70_000];
    new Random(1).nextBytes(some);
    System.arraycopy(some, 0, bytes, 140_000, some.length);
    Path from = Files.createDirectories(dir.resolve("from/sub")).getParent();
    Files.write(from.resolve("sub/file"), bytes);
    Files.write(from.resolve("zeros"), new byte[200_000]);
    Files.createFile(from.resolve("empty"));
    long number = ImageCopy.of(from, dir.resolve("to"));
    assertEquals(number, ImageCopy.of(dir.resolve("to"), dir.resolve("again")));
    assertEquals(-1, Arrays.mismatch(bytes, Files.readAllBytes(dir.resolve("again/sub/file"))));
    assertEquals(200_000, Files.size(dir.resolve("again/zeros")));
    assertEquals(0, Files.size(dir.resolve("again/empty")));
    bytes[0] = 1;
    Files.write(from.resolve("sub/file"), bytes);
    assertNotEquals(number, ImageCopy.of(from, dir.resolve("to")));
  }
}

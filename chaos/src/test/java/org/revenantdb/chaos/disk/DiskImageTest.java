package org.revenantdb.chaos.disk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DiskImageTest {

  private final DiskImage image = new DiskImage();

  private static int enter(DiskImage image, int parent, String name, boolean directory) {
    int node = image.nextNode();
    image.create(node, directory);
    image.link(parent, name, node);
    return node;
  }

  private static int file(DiskImage image, int parent, String name, int value) {
    int node = enter(image, parent, name, /* directory= */ false);
    image.file(node).write(0, ByteBuffer.wrap(new byte[] {(byte) value}));
    return node;
  }

  @Test
  void fork_isIndependent() {
    int directory = enter(image, DiskImage.ROOT, "d", /* directory= */ true);
    int node = file(image, directory, "f", 1);
    DiskImage fork = image.fork();
    assertEquals(image.hash(), fork.hash());
    fork.file(node).write(0, ByteBuffer.wrap(new byte[] {2}));
    fork.link(DiskImage.ROOT, "g", node);
    image.unlink(directory, "f");
    image.create(image.nextNode(), /* directory= */ true);
    assertEquals(Set.of("d"), image.paths().keySet());
    assertEquals(Set.of("d", "d/f", "g"), fork.paths().keySet());
    assertEquals(1, image.file(node).bytes(0, 1)[0]);
    assertEquals(2, fork.file(node).bytes(0, 1)[0]);
    assertEquals(node + 1, fork.nextNode());
  }

  @Test
  void hash_dependsOnNamesAndBytes_notOnNodes() {
    file(image, DiskImage.ROOT, "a", 1);
    file(image, DiskImage.ROOT, "b", 2);
    DiskImage other = new DiskImage();
    file(other, DiskImage.ROOT, "b", 2);
    int nameless = enter(other, DiskImage.ROOT, "x", /* directory= */ false);
    other.unlink(DiskImage.ROOT, "x");
    file(other, DiskImage.ROOT, "a", 1);
    assertEquals(image.hash(), other.hash());
    other.remove(nameless);
    assertEquals(image.hash(), other.hash());
    DiskImage swapped = new DiskImage();
    file(swapped, DiskImage.ROOT, "a", 2);
    file(swapped, DiskImage.ROOT, "b", 1);
    assertNotEquals(image.hash(), swapped.hash());
  }

  @Test
  void hash_differs_forAnEmptyDirectory_anEmptyFile_andNothing() {
    DiskImage file = new DiskImage();
    enter(file, DiskImage.ROOT, "a", /* directory= */ false);
    DiskImage directory = new DiskImage();
    enter(directory, DiskImage.ROOT, "a", /* directory= */ true);
    assertNotEquals(file.hash(), directory.hash());
    assertNotEquals(image.hash(), directory.hash());
    assertNotEquals(image.hash(), file.hash());
  }

  @Test
  void link_replaces_andUnlinkKeepsTheNode() {
    int first = file(image, DiskImage.ROOT, "a", 1);
    int second = file(image, DiskImage.ROOT, "a", 2);
    assertEquals(second, image.lookup(DiskImage.ROOT, "a"));
    assertEquals(1, image.file(first).bytes(0, 1)[0]);
    image.unlink(DiskImage.ROOT, "a");
    assertNull(image.lookup(DiskImage.ROOT, "a"));
    image.remove(first);
    assertFalse(image.exists(first));
    assertThrows(IllegalArgumentException.class, () -> image.file(first));
    assertThrows(IllegalArgumentException.class, () -> image.create(second, false));
    assertThrows(IllegalArgumentException.class, () -> image.entries(second));
  }

  @Test
  void directory_ofAnyFileSystem_thereAndBack(@TempDir Path directory) throws IOException {
    Path from = Files.createDirectory(directory.resolve("from"));
    Files.createDirectories(from.resolve("d/empty"));
    byte[] large = new byte[200_001];
    large[0] = 1;
    large[200_000] = 2;
    Files.write(from.resolve("d/large"), large);
    Files.createFile(from.resolve("nothing"));
    DiskImage copy = DiskImage.of(from);
    assertEquals(Set.of("d", "d/empty", "d/large", "nothing"), copy.paths().keySet());
    Path to = Files.createDirectory(directory.resolve("to"));
    copy.writeTo(to);
    assertEquals(-1, Files.mismatch(from.resolve("d/large"), to.resolve("d/large")));
    assertEquals(copy.hash(), DiskImage.of(to).hash());
    try (MemoryFileSystem memory = MemoryFileSystem.of(copy.fork())) {
      assertEquals(copy.hash(), DiskImage.of(memory.root()).hash());
    }
  }
}

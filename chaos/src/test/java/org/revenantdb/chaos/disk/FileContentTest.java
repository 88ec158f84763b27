package org.revenantdb.chaos.disk;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class FileContentTest {

  private static final int BLOCK = FileContent.BLOCK;

  private static FileContent of(byte[] bytes) {
    FileContent content = new FileContent();
    content.write(0, ByteBuffer.wrap(bytes));
    return content;
  }

  private static byte[] filled(int length, int value) {
    byte[] bytes = new byte[length];
    Arrays.fill(bytes, (byte) value);
    return bytes;
  }

  private static byte[] all(FileContent content) {
    return content.bytes(0, (int) content.size());
  }

  @Test
  void read_atAndBehindTheEnd() {
    FileContent content = of(new byte[] {1, 2, 3});
    assertEquals(-1, content.read(3, ByteBuffer.allocate(1)));
    assertEquals(-1, content.read(1L << 40, ByteBuffer.allocate(1)));
    assertEquals(0, content.read(3, ByteBuffer.allocate(0)));
    assertEquals(2, content.read(1, ByteBuffer.allocate(9)));
    assertArrayEquals(new byte[] {3, 0, 0}, content.bytes(2, 3));
  }

  @Test
  void write_acrossBlocks_andBehindTheEnd() {
    FileContent content = new FileContent();
    content.write(BLOCK - 1, ByteBuffer.wrap(filled(BLOCK + 2, 7)));
    assertEquals(2 * BLOCK + 1, content.size());
    byte[] expected = new byte[2 * BLOCK + 1];
    Arrays.fill(expected, BLOCK - 1, expected.length, (byte) 7);
    assertArrayEquals(expected, all(content));
  }

  @Test
  void write_takesTheBuffer_fromItsPosition() {
    FileContent content = new FileContent();
    ByteBuffer source = ByteBuffer.wrap(new byte[] {9, 1, 2, 9}, 1, 2);
    content.write(1, source);
    assertEquals(0, source.remaining());
    assertArrayEquals(new byte[] {0, 1, 2}, all(content));
    content.write(100, ByteBuffer.allocate(0));
    assertEquals(3, content.size());
  }

  @Test
  void copy_isIndependent_whicheverSideWrites() {
    FileContent original = of(filled(3 * BLOCK, 1));
    FileContent copy = original.copy();
    original.write(0, ByteBuffer.wrap(filled(BLOCK + 1, 2)));
    copy.write(2 * BLOCK, ByteBuffer.wrap(filled(BLOCK, 3)));
    assertEquals(2, original.bytes(BLOCK, 1)[0]);
    assertEquals(1, original.bytes(2 * BLOCK, 1)[0]);
    assertEquals(1, copy.bytes(BLOCK, 1)[0]);
    assertEquals(3, copy.bytes(2 * BLOCK, 1)[0]);
  }

  @Test
  void copy_ofACopy_isIsolated_afterEachHasWritten() {
    FileContent first = of(filled(BLOCK, 1));
    FileContent second = first.copy();
    second.write(0, ByteBuffer.wrap(filled(1, 2)));
    FileContent third = second.copy();
    second.write(0, ByteBuffer.wrap(filled(1, 3)));
    third.zero(0, BLOCK);
    assertEquals(1, first.bytes(0, 1)[0]);
    assertEquals(3, second.bytes(0, 1)[0]);
    assertEquals(0, third.bytes(0, 1)[0]);
  }

  @Test
  void copy_cutOrCleared_leavesTheOriginal() {
    FileContent original = of(filled(2 * BLOCK + 5, 1));
    FileContent copy = original.copy();
    copy.setSize(10);
    copy.setSize(2 * BLOCK + 5);
    assertArrayEquals(filled(2 * BLOCK + 5, 1), all(original));
    assertEquals(0, copy.bytes(10, 1)[0]);
    assertEquals(1, copy.bytes(9, 1)[0]);
  }

  @Test
  void setSize_shrunkAndGrown_givesZeros() {
    for (int cut : new int[] {0, 1, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK}) {
      FileContent content = of(filled(3 * BLOCK - 7, 5));
      content.setSize(cut);
      content.setSize(3 * BLOCK - 7);
      byte[] expected = new byte[3 * BLOCK - 7];
      Arrays.fill(expected, 0, cut, (byte) 5);
      assertArrayEquals(expected, all(content), "cut at " + cut);
    }
  }

  @Test
  void setSize_shrunk_thenWrittenBehind_givesZerosBetween() {
    FileContent content = of(filled(100, 5));
    content.setSize(10);
    content.write(50, ByteBuffer.wrap(filled(1, 6)));
    assertArrayEquals(new byte[40], content.bytes(10, 40));
    assertEquals(51, content.size());
  }

  @Test
  void zero_neverEnlarges() {
    FileContent content = of(filled(10, 5));
    content.zero(8, 100);
    assertEquals(10, content.size());
    assertArrayEquals(new byte[] {5, 0, 0}, content.bytes(7, 3));
    content.zero(20, 30);
    assertEquals(10, content.size());
  }

  @Test
  void hash_ofAHole_isThatOfWrittenZeros() {
    FileContent hole = new FileContent();
    hole.setSize(3 * BLOCK);
    FileContent zeros = of(new byte[3 * BLOCK]);
    FileContent cleared = of(filled(3 * BLOCK, 1));
    cleared.hash();
    cleared.zero(0, 2 * BLOCK - 1);
    cleared.write(2 * BLOCK - 1, ByteBuffer.wrap(new byte[BLOCK + 1]));
    for (FileContent other : List.of(zeros, cleared)) {
      assertEquals(hole.hash(), other.hash());
      assertEquals(hole, other);
      assertEquals(hole.hashCode(), other.hashCode());
    }
  }

  @Test
  void hash_differs_bySizeByteAndPlace() {
    FileContent content = of(filled(2 * BLOCK, 1));
    FileContent longer = content.copy();
    longer.setSize(2 * BLOCK + 1);
    FileContent other = content.copy();
    other.write(5, ByteBuffer.wrap(filled(1, 2)));
    FileContent first = of(filled(BLOCK, 1));
    first.setSize(2 * BLOCK);
    FileContent second = new FileContent();
    second.write(BLOCK, ByteBuffer.wrap(filled(BLOCK, 1)));
    List<FileContent> all = List.of(content, longer, other, first, second, new FileContent());
    for (FileContent one : all) {
      for (FileContent two : all) {
        if (one != two) {
          assertNotEquals(one.hash(), two.hash());
          assertNotEquals(one, two);
        }
      }
    }
  }

  @Test
  void hash_isTheFormerOne_whenAWriteIsUndone() {
    FileContent content = of(filled(2 * BLOCK, 1));
    long before = content.hash();
    content.write(BLOCK, ByteBuffer.wrap(filled(1, 2)));
    assertNotEquals(before, content.hash());
    content.write(BLOCK, ByteBuffer.wrap(filled(1, 1)));
    assertEquals(before, content.hash());
  }

  /** Random operations on a few copies of each other, each compared with an array. */
  @Test
  void content_behavesLikeAnArray() {
    long seed = Long.getLong("revenant.disk.seed", System.nanoTime());
    System.out.println("FileContentTest: -Drevenant.disk.seed=" + seed);
    Random random = new Random(seed);
    List<FileContent> contents = new ArrayList<>(List.of(new FileContent()));
    List<byte[]> models = new ArrayList<>(List.of(new byte[0]));
    for (int step = 0; step < 20_000; step++) {
      int which = random.nextInt(contents.size());
      FileContent content = contents.get(which);
      byte[] model = models.get(which);
      int at = edge(random);
      int length = edge(random) / 2;
      switch (random.nextInt(7)) {
        case 0, 1 -> {
          byte[] data = filled(length, random.nextInt(3));
          content.write(at, ByteBuffer.wrap(data));
          if (length > 0) {
            model = Arrays.copyOf(model, Math.max(model.length, at + length));
            System.arraycopy(data, 0, model, at, length);
          }
        }
        case 2 -> {
          content.setSize(at);
          model = Arrays.copyOf(model, at);
        }
        case 3 -> {
          content.zero(at, at + length);
          for (int i = at; i < Math.min(at + length, model.length); i++) {
            model[i] = 0;
          }
        }
        case 4 -> {
          if (contents.size() < 4) {
            contents.add(content.copy());
            models.add(model.clone());
          } else {
            int other = random.nextInt(4);
            contents.set(other, content.copy());
            models.set(other, model.clone());
            which = random.nextInt(4);
            model = models.get(which);
          }
        }
        case 5 -> assertEquals(of(model, content.size()).hash(), content.hash(), "seed " + seed);
        default -> {
          byte[] expected = new byte[length];
          int there = Math.max(0, Math.min(length, model.length - at));
          System.arraycopy(model, Math.min(at, model.length), expected, 0, there);
          assertArrayEquals(expected, content.bytes(at, length), "seed " + seed);
        }
      }
      models.set(which, model);
      assertEquals(model.length, contents.get(which).size(), "seed " + seed + ", step " + step);
    }
    for (int i = 0; i < contents.size(); i++) {
      assertArrayEquals(models.get(i), all(contents.get(i)), "seed " + seed);
    }
  }

  private static FileContent of(byte[] bytes, long size) {
    FileContent content = of(bytes);
    content.setSize(size);
    return content;
  }

  /** A position in the first five blocks, often on the edge of a block. */
  private static int edge(Random random) {
    int block = random.nextInt(5) * BLOCK;
    return switch (random.nextInt(4)) {
      case 0 -> block;
      case 1 -> block + 1;
      case 2 -> block + BLOCK - 1;
      default -> block + random.nextInt(BLOCK);
    };
  }
}

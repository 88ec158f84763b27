package org.revenantdb.chaos.disk;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.attribute.FileTime;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Mappings of a file in memory. */
class CopiedMappingTest {

  private final FileContent content = new FileContent();
  private final Node node = new Node(1, content, FileTime.fromMillis(0), Set.of());

  private MemorySegment map(Arena arena) throws IOException {
    CopiedMapping.Made<MemorySegment> made =
        CopiedMapping.of(content, 0, 4, copy -> copy.map(MapMode.READ_ONLY, 0, 4, arena));
    node.mapped(made.mapping());
    return made.result();
  }

  @Test
  void mappings_whose_arena_is_closed_follow_the_file_no_longer() throws IOException {
    content.write(0, ByteBuffer.wrap(new byte[] {1, 2, 3, 4}));
    try (Arena lasting = Arena.ofConfined()) {
      MemorySegment seen = map(lasting);
      for (int i = 0; i < 100; i++) {
        try (Arena ofARead = Arena.ofConfined()) {
          assertEquals(2, map(ofARead).get(ValueLayout.JAVA_BYTE, 1));
        }
      }
      assertEquals(2, node.mappings()); // the last one is dropped at the next change
      content.write(1, ByteBuffer.wrap(new byte[] {9}));
      node.changed(1, 2);
      assertEquals(1, node.mappings());
      assertEquals(9, seen.get(ValueLayout.JAVA_BYTE, 1));
    }
  }
}

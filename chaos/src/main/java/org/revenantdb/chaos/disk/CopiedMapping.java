package org.revenantdb.chaos.disk;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.jspecify.annotations.Nullable;

/**
 * A part of a file in memory that is mapped for reading: a copy of it in a temporary file, which
 * the program has mapped, as a buffer or into its arena. Changes of the file are carried over, so
 * the program sees them as with a real file.
 *
 * <p>Threads: all methods are called under the write lock of the node.
 */
final class CopiedMapping {

  private final FileContent content;
  private final long from;
  private final MemorySegment copy;
  private final MemorySegment.@Nullable Scope scope;

  private CopiedMapping(
      FileContent content, long from, MemorySegment copy, MemorySegment.@Nullable Scope scope) {
    this.content = content;
    this.from = from;
    this.copy = copy;
    this.scope = scope;
  }

  /** A mapping, and what the program gets. */
  record Made<T>(CopiedMapping mapping, T result) {}

  /** Maps the copy for the program. */
  interface Mapper<T> {
    T map(FileChannel copy) throws IOException;
  }

  static <T> Made<T> of(FileContent content, long from, long size, Mapper<T> mapper)
      throws IOException {
    Path temporary = Files.createTempFile("mapped", null);
    try (FileChannel channel =
        FileChannel.open(temporary, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      MemorySegment copy = channel.map(MapMode.READ_WRITE, 0, size, Arena.ofAuto());
      T result = mapper.map(channel);
      MemorySegment.Scope scope = result instanceof MemorySegment memory ? memory.scope() : null;
      CopiedMapping mapping = new CopiedMapping(content, from, copy, scope);
      mapping.changed(from, from + size);
      return new Made<>(mapping, result);
    } finally {
      Files.delete(temporary); // its mappings stay
    }
  }

  /** Whether the program has closed its arena. Of a buffer nobody knows when it ends. */
  boolean isOver() {
    return scope != null && !scope.isAlive();
  }

  /** Carries bytes of the file over. What is behind its end becomes zeros. */
  void changed(long first, long end) {
    long begin = Math.max(first, from);
    long last = Math.min(end, from + copy.byteSize());
    long known = Math.min(last, content.size());
    if (begin < known) {
      byte[] bytes = content.bytes(begin, Math.toIntExact(known - begin));
      MemorySegment.copy(MemorySegment.ofArray(bytes), 0, copy, begin - from, bytes.length);
    }
    long zeros = Math.max(begin, known);
    if (zeros < last) {
      copy.asSlice(zeros - from, last - zeros).fill((byte) 0);
    }
  }
}

package org.revenantdb.chaos.hooks;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.revenantdb.chaos.hooks.Names.Node;

/**
 * The parts of files that the process has mapped for writing, each with a shadow: its content as
 * far as the tape has it. As {@link Mappings}, without functions of the operating system: all pages
 * are compared.
 *
 * <p>Threads: under the lock of the {@link Journal}.
 */
final class SharedPages {

  static final int PAGE = 4096;

  /** More than this is not compared before each operation. */
  private static final long MOST = 256L << 20;

  private final MemorySegment memory;
  private final Store store;
  private final List<Part> parts = new ArrayList<>();

  /** Receives a page that has changed. */
  interface Store {
    void page(Node file, long offset, MemorySegment bytes, int stack);
  }

  /** A mapping. Nothing behind the end of the file is touched: that would end the process. */
  private record Part(MemorySegment real, MemorySegment shadow, long offset, Node file, int stack) {

    long compared() {
      return Math.clamp(file.size() - offset, 0, real.byteSize());
    }

    long address() {
      return real.address();
    }

    boolean overlaps(long from, long size) {
      return from < address() + real.byteSize() && address() < from + size;
    }
  }

  /**
   * Creates an empty set.
   *
   * @param memory all of the process's memory
   */
  SharedPages(MemorySegment memory, Store store) {
    this.memory = memory;
    this.store = store;
  }

  /** Adds a mapping that nobody has stored into yet. Returns false if it is too large. */
  boolean add(long address, long length, long offset, Node file, int stack) {
    long sum = parts.stream().mapToLong(part -> part.real.byteSize()).sum();
    if (sum + length > MOST) {
      return false;
    }
    MemorySegment shadow = Arena.ofAuto().allocate(length);
    Part part = new Part(memory.asSlice(address, length), shadow, offset, file, stack);
    MemorySegment.copy(part.real, 0, part.shadow, 0, part.compared());
    parts.add(part);
    return true;
  }

  boolean overlaps(long from, long size) {
    return parts.stream().anyMatch(part -> part.overlaps(from, size));
  }

  /** Removes the mappings in a range. */
  void remove(long from, long size) {
    parts.removeIf(part -> part.overlaps(from, size));
  }

  /** Removes all mappings; whether there were some. */
  boolean clear() {
    boolean removed = !parts.isEmpty();
    parts.clear();
    return removed;
  }

  /** A range of a file that is mapped. */
  record Range(Node file, long from, long to) {}

  /** The ranges of files that a range of memory shows. */
  List<Range> ranges(long from, long size) {
    return parts.stream()
        .filter(part -> part.overlaps(from, size))
        .map(part -> {
          long begin = Math.max(from, part.address()) - part.address();
          long end = Math.min(from + size, part.address() + part.real.byteSize()) - part.address();
          return new Range(part.file, part.offset + begin, part.offset + end);
        })
        .toList();
  }

  /** Reports the changed pages of all mappings. */
  void compare() {
    for (Part part : parts) {
      long end = part.compared();
      for (long at = 0; at < end; ) {
        long different = MemorySegment.mismatch(part.real, at, end, part.shadow, at, end);
        if (different < 0) {
          break;
        }
        long page = (at + different) & -PAGE;
        long size = Math.min(PAGE, end - page);
        MemorySegment.copy(part.real, page, part.shadow, page, size);
        store.page(part.file, part.offset + page, part.shadow.asSlice(page, size), part.stack);
        at = page + size;
      }
    }
  }

  /** Notes bytes that the program wrote by a call: the mappings show them, too. */
  void written(Node file, long from, MemorySegment bytes) {
    for (Part part : parts) {
      long begin = Math.max(from, part.offset);
      long end = Math.min(from + bytes.byteSize(), part.offset + part.real.byteSize());
      if (part.file == file && begin < end) {
        MemorySegment.copy(bytes, begin - from, part.shadow, begin - part.offset, end - begin);
      }
    }
  }

  /** Notes that the bytes of a file from a place on became zeros. */
  void zeroed(Node file, long from) {
    for (Part part : parts) {
      long begin = Math.max(from, part.offset) - part.offset;
      if (part.file == file && begin < part.shadow.byteSize()) {
        part.shadow.asSlice(begin).fill((byte) 0);
      }
    }
  }
}

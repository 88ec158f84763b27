package org.revenantdb.chaos.hooks;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;

/**
 * The parts of files that the process has mapped for writing, each with a shadow: its content as
 * far as the tape has it.
 *
 * <p>Threads: under the lock of {@link Hooks}.
 */
final class Mappings {
  /*
   * A store into a mapping cannot be observed directly. So its pages are compared with the shadow,
   * and each page that differs is copied into the shadow and from there onto the tape, as one
   * write.
   *
   * Which pages   Only those in the process's page table (/proc/self/pagemap): a store needs the
   *               page there. At controls, all of them.
   * Not touched   Pages behind the end of the file, which would end the process.
   * Descriptors   The file is opened once more when it is mapped. That descriptor is not closed
   *               while the process lives, because closing any descriptor of a file drops the
   *               process's fcntl locks on it.
   */

  static final int PAGE = 4096;

  private static final int MOST = 512;
  private static final int CHUNK = 512;
  private static final int SEEK_DATA = 3;
  private static final int SEEK_HOLE = 4;
  private static final int PRIVATE_ANONYMOUS_NORESERVE = 0x4022;

  private final long[] address = new long[MOST];
  private final long[] length = new long[MOST];
  private final long[] offset = new long[MOST];
  private final long[] inode = new long[MOST];
  private final long[] shadow = new long[MOST];
  private final int[] file = new int[MOST];
  private final int[] stack = new int[MOST];
  private final long entries = Arena.global().allocate(CHUNK * 8L, 8).address();
  private final int pagemap;
  private int count;

  Mappings(Slot slot) throws Throwable {
    byte[] path = "/proc/self/pagemap".getBytes(StandardCharsets.US_ASCII);
    pagemap = slot.opened(path, path.length);
  }

  int count() {
    return count;
  }

  boolean overlaps(long from, long size) {
    for (int i = 0; i < count; i++) {
      if (from < address[i] + length[i] && address[i] < from + size) {
        return true;
      }
    }
    return false;
  }

  long inode(int i) {
    return inode[i];
  }

  /** The first byte of the file that a range of memory shows, or -1. */
  long fileFrom(int i, long from, long size) {
    long begin = Math.max(from, address[i]);
    return begin < Math.min(from + size, address[i] + length[i])
        ? offset[i] + begin - address[i]
        : -1;
  }

  long fileTo(int i, long from, long size) {
    return offset[i] + Math.min(from + size, address[i] + length[i]) - address[i];
  }

  /** Adds a mapping. Returns false if there are too many. */
  boolean add(Slot slot, long at, long size, long from, long ofInode, int descriptor, int ofStack)
      throws Throwable {
    if (count == MOST) {
      return false;
    }
    long shade =
        (long)
            Libc.handle(Call.MMAP)
                .invokeExact(slot.errno, 0L, size, 3L, (long) PRIVATE_ANONYMOUS_NORESERVE, -1L, 0L);
    if (shade == -1) {
      return false;
    }
    // Through /proc, so that its position is not that of the program's descriptor.
    int own = slot.reopened(descriptor);
    if (own < 0) {
      return false;
    }
    fill(own, from, size, shade);
    address[count] = at;
    length[count] = size;
    offset[count] = from;
    inode[count] = ofInode;
    shadow[count] = shade;
    file[count] = own;
    stack[count] = ofStack;
    count++;
    return true;
  }

  private static void fill(int own, long from, long size, long shade) throws Throwable {
    long at = from;
    while (at < from + size) {
      at = Libc.seek(own, at, SEEK_DATA);
      if (at < 0 || at >= from + size) {
        return;
      }
      long end = Math.min(Libc.seek(own, at, SEEK_HOLE), from + size);
      while (at < end) {
        long n = Libc.pread(own, shade + at - from, Math.min(end - at, 1 << 20), at);
        if (n <= 0) {
          return;
        }
        at += n;
      }
    }
  }

  /** Removes the mappings in a range. Returns false if one is only partly in it. */
  boolean remove(Slot slot, long from, long size) throws Throwable {
    for (int i = count - 1; i >= 0; i--) {
      if (from < address[i] + length[i] && address[i] < from + size) {
        if (address[i] < from || address[i] + length[i] > from + ((size + PAGE - 1) & -PAGE)) {
          return false;
        }
        var _ =
            (long)
                Libc.handle(Call.MUNMAP)
                    .invokeExact(slot.errno, shadow[i], length[i], 0L, 0L, 0L, 0L);
        count--;
        address[i] = address[count];
        length[i] = length[count];
        offset[i] = offset[count];
        inode[i] = inode[count];
        shadow[i] = shadow[count];
        file[i] = file[count];
        stack[i] = stack[count];
      }
    }
    return true;
  }

  /** The index of the mapping that begins at an address, or -1. */
  int at(long from) {
    for (int i = 0; i < count; i++) {
      if (address[i] == from) {
        return i;
      }
    }
    return -1;
  }

  long offset(int i) {
    return offset[i];
  }

  int file(int i) {
    return file[i];
  }

  int stack(int i) {
    return stack[i];
  }

  long length(int i) {
    return length[i];
  }

  /** Writes the changed pages of all mappings onto the tape. */
  void sync(Slot slot, boolean all) throws Throwable {
    for (int i = 0; i < count; i++) {
      if (Libc.fstat(file[i], slot.stat) != 0) {
        continue;
      }
      long end = Math.min(length[i], slot.size() - offset[i]);
      for (long from = 0; from < end; from += (long) CHUNK * PAGE) {
        int pages = (int) Math.min(CHUNK, (end - from + PAGE - 1) / PAGE);
        long read = all || pagemap < 0 ? 0 : readEntries(address[i] + from, pages);
        for (int page = 0; page < pages; page++) {
          // Without an entry the page is compared.
          if (page * 8L >= read || Libc.ALL.get(JAVA_LONG, entries + page * 8L) < 0) {
            long at = from + (long) page * PAGE;
            compare(slot, i, at, (int) Math.min(PAGE, end - at));
          }
        }
      }
    }
  }

  private long readEntries(long from, int pages) throws Throwable {
    return Libc.pread(pagemap, entries, pages * 8L, from / PAGE * 8);
  }

  private void compare(Slot slot, int i, long at, int size) {
    long real = address[i] + at;
    long known = shadow[i] + at;
    if (MemorySegment.mismatch(Libc.ALL, real, real + size, Libc.ALL, known, known + size) >= 0) {
      MemorySegment.copy(Libc.ALL, real, Libc.ALL, known, size);
      Hooks.storedPage(slot, inode[i], offset[i] + at, known, size, stack[i]);
    }
  }

  /** Notes bytes that the program wrote by a call: the mappings show them, too. */
  void written(long ofInode, long from, long data, long size) {
    for (int i = 0; i < count; i++) {
      long begin = Math.max(from, offset[i]);
      long end = Math.min(from + size, offset[i] + length[i]);
      if (inode[i] == ofInode && begin < end) {
        MemorySegment.copy(
            Libc.ALL, data + begin - from, Libc.ALL, shadow[i] + begin - offset[i], end - begin);
      }
    }
  }

  /** Notes that bytes of a file became zeros. */
  void zeroed(long ofInode, long from, long to) {
    for (int i = 0; i < count; i++) {
      long begin = Math.max(from, offset[i]);
      long end = Math.min(to, offset[i] + length[i]);
      if (inode[i] == ofInode && begin < end) {
        long at = shadow[i] + begin - offset[i];
        for (long b = 0; b < end - begin; b++) {
          Libc.ALL.set(JAVA_BYTE, at + b, (byte) 0);
        }
      }
    }
  }
}

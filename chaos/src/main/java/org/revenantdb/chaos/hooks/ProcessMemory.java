package org.revenantdb.chaos.hooks;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_CHAR;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import java.lang.foreign.MemorySegment;
import java.nio.charset.Charset;

/**
 * The memory of the process, in which calls have what they pass by address.
 *
 * <p>Threads: any.
 */
final class ProcessMemory {

  private static final boolean WINDOWS = System.getProperty("os.name").startsWith("Windows");

  private static final Charset NAMES =
      Charset.forName(System.getProperty("sun.jnu.encoding", "UTF-8"));

  /** An entry of a vector is an address and a length. */
  private static final int ENTRY = 16;

  private final MemorySegment all;

  ProcessMemory(MemorySegment all) {
    this.all = all;
  }

  MemorySegment slice(long address, long length) {
    return all.asSlice(address, length);
  }

  /** The bytes that the entries of a vector refer to. */
  MemorySegment gathered(long vector, long count) {
    long sum = 0;
    for (long i = 0; i < count; i++) {
      sum += all.get(JAVA_LONG_UNALIGNED, vector + ENTRY * i + 8);
    }
    byte[] bytes = new byte[Math.toIntExact(sum)];
    int at = 0;
    for (long i = 0; i < count; i++) {
      int length = (int) all.get(JAVA_LONG_UNALIGNED, vector + ENTRY * i + 8);
      long from = all.get(JAVA_LONG_UNALIGNED, vector + ENTRY * i);
      MemorySegment.copy(all, JAVA_BYTE, from, bytes, at, length);
      at += length;
    }
    return MemorySegment.ofArray(bytes);
  }

  /** The path at an address, as the functions of the operating system take it. */
  String path(long address) {
    if (WINDOWS) {
      StringBuilder text = new StringBuilder();
      for (long at = address; all.get(JAVA_CHAR, at) != 0; at += 2) {
        text.append(all.get(JAVA_CHAR, at));
      }
      return text.toString();
    }
    int length = 0;
    while (all.get(JAVA_BYTE, address + length) != 0) {
      length++;
    }
    byte[] bytes = new byte[length];
    MemorySegment.copy(all, JAVA_BYTE, address, bytes, 0, length);
    return new String(bytes, NAMES);
  }
}

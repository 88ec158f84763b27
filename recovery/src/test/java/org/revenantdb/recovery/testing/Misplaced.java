package org.revenantdb.recovery.testing;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;

/**
 * A place of a file to which nothing that is written gets: it is lost, or is found in another.
 *
 * @param fileName the last part of the file's path
 * @param from the first byte of the place
 * @param length how many bytes, 0 for no place at all
 * @param to where they go, or {@link FaultyFileSystem#NOWHERE}
 */
record Misplaced(String fileName, long from, long length, long to) {
  static final Misplaced NONE = new Misplaced("", 0, 0, FaultyFileSystem.NOWHERE);

  /** Writes all bytes, those for the place to where they go instead. */
  void write(Path file, FileChannel channel, byte[] bytes, long position) throws IOException {
    boolean here = length > 0 && file.getFileName().toString().equals(fileName);
    long end = position + bytes.length;
    int begin = here ? (int) (Math.clamp(from, position, end) - position) : bytes.length;
    int rest = here ? (int) (Math.clamp(from + length, position, end) - position) : bytes.length;
    put(channel, bytes, 0, begin, position);
    if (to != FaultyFileSystem.NOWHERE) {
      put(channel, bytes, begin, rest, to + Math.max(0, position - from));
    }
    put(channel, bytes, rest, bytes.length, position + rest);
  }

  private static void put(FileChannel channel, byte[] bytes, int begin, int end, long position)
      throws IOException {
    ByteBuffer part = ByteBuffer.wrap(bytes, begin, end - begin);
    while (part.hasRemaining()) {
      channel.write(part, position + part.position() - begin);
    }
  }
}

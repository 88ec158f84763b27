package org.revenantdb.jmh.recovery;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * The number of rows of each session whose commit was acknowledged, in a mapped file. The file
 * keeps what was stored, whatever signal ends the process.
 *
 * <p>Threads: each session stores its own number.
 */
final class Acknowledged {
  /*
   *   0                64                      64 * (session + 1)
   *   rows lost        rows of session 0       rows of each session, 8 bytes on a line of their own
   */
  private static final VarHandle NUMBER =
      MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.nativeOrder());

  private static final int LINE = 64;
  private static final int LOST = 0;

  private final MappedByteBuffer numbers;
  private final int sessions;

  private Acknowledged(MappedByteBuffer numbers, int sessions) {
    this.numbers = numbers;
    this.sessions = sessions;
  }

  /** Those of a database; they are in a file beside its directory. */
  static Acknowledged beside(Path directory, int sessions) {
    Path file = directory.resolveSibling("acknowledged");
    try (FileChannel channel =
        FileChannel.open(
            file, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      long length = (sessions + 1L) * LINE;
      return new Acknowledged(channel.map(FileChannel.MapMode.READ_WRITE, 0, length), sessions);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Stores the number of acknowledged rows of a session. */
  void store(int session, long rows) {
    NUMBER.setRelease(numbers, (session + 1) * LINE, rows);
  }

  long of(int session) {
    return (long) NUMBER.getAcquire(numbers, (session + 1) * LINE);
  }

  long all() {
    long all = 0;
    for (int session = 0; session < sessions; session++) {
      all += of(session);
    }
    return all;
  }

  /** Acknowledged rows that were not there any more, of all lives before. */
  long lost() {
    return (long) NUMBER.getAcquire(numbers, LOST);
  }

  void lose(long rows) {
    NUMBER.setRelease(numbers, LOST, rows);
  }
}

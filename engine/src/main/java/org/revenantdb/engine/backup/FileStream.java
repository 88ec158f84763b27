package org.revenantdb.engine.backup;

import java.io.InputStream;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import org.revenantdb.recovery.file.IoStatistics;
import org.revenantdb.recovery.file.OpenMode;
import org.revenantdb.recovery.file.StorageFile;

/**
 * A file as a stream. What fails is a {@code FileException} with the place.
 *
 * <p>Threads: one.
 */
final class FileStream extends InputStream {
  private final StorageFile file;
  private long position;

  FileStream(Path path) {
    file = StorageFile.open(path, OpenMode.READ, /* ownerOnly= */ true, new IoStatistics());
  }

  @Override
  public int read() {
    byte[] one = new byte[1];
    return read(one, 0, 1) < 0 ? -1 : Byte.toUnsignedInt(one[0]);
  }

  @Override
  public int read(byte[] to, int offset, int length) {
    int done = file.readUpTo(position, MemorySegment.ofArray(to).asSlice(offset, length));
    position += done;
    return done == 0 && length > 0 ? -1 : done;
  }

  @Override
  public void close() {
    file.close();
  }
}

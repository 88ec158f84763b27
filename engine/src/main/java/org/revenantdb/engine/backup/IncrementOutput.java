package org.revenantdb.engine.backup;

import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * An increment to a directory: a file with the stream.
 *
 * <p>Threads: that of the backup.
 */
final class IncrementOutput extends EntryOutput implements ToDirectory {
  private final Path directory;
  private @Nullable BackupTarget made;
  private long position;

  IncrementOutput(Path directory) {
    this.directory = directory;
  }

  @Override
  public Path directory() {
    return directory;
  }

  @Override
  public void make(BackupSource source, Runnable goOn) {
    made = BackupTarget.make(directory, source.directory(), source.names());
  }

  @Override
  public BackupTarget target() {
    return Objects.requireNonNull(made);
  }

  @Override
  byte[] take(byte[] entry, int length) {
    target().data().write(position, MemorySegment.ofArray(entry).asSlice(0, length));
    position += length;
    return entry;
  }

  @Override
  public void complete() {
    handOverEnd();
    target().forceIncrement();
    target().completeIncrement();
  }
}

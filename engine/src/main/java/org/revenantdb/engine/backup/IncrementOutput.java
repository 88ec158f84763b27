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
final class IncrementOutput extends EntryOutput {
  private final Path directory;
  private @Nullable BackupTarget made;
  private long position;

  IncrementOutput(Path directory) {
    this.directory = directory;
  }

  @Override
  public String name() {
    return directory.toString();
  }

  @Override
  public Path directory() {
    return directory;
  }

  @Override
  public void make(BackupSource source, Runnable goOn) {
    made = BackupTarget.make(directory, source.directory(), source.names());
  }

  private BackupTarget target() {
    return Objects.requireNonNull(made);
  }

  @Override
  byte[] take(byte[] entry, int length) {
    target().data().write(position, MemorySegment.ofArray(entry).asSlice(0, length));
    position += length;
    return entry;
  }

  @Override
  public void settle() {
    target().data().force();
  }

  @Override
  public void complete() {
    handOverEnd();
    target().forceIncrement();
    target().completeIncrement();
  }

  @Override
  public void remove(Throwable failed) {
    target().remove(failed);
  }

  @Override
  public boolean carry() {
    return false;
  }

  @Override
  public void flush() {}
}

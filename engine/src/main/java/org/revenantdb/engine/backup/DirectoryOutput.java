package org.revenantdb.engine.backup;

import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.page.Page;
import org.revenantdb.recovery.file.ControlState;
import org.revenantdb.recovery.log.LogCopy;

/** A backup to a directory, which is a database at the end. */
final class DirectoryOutput implements ToDirectory {
  private final Path directory;
  private @Nullable BackupTarget made;
  private @Nullable Start start;

  DirectoryOutput(Path directory) {
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
  public void begin(Start known, LogCopy log) {
    start = known;
    target().makeRest(known.id());
    log.begin(known.redoPoint(), target().rebuildLog(known.id(), known.segmentSize()));
  }

  @Override
  public void pages(int first, MemorySegment pages) {
    target().data().write((long) first * Page.SIZE, pages);
  }

  @Override
  public void changed(int[] ids, int count, MemorySegment pages) {
    throw new IllegalStateException("a directory of a database takes all pages");
  }

  @Override
  public void end(ControlState state, long logBytes) {
    Start known = Objects.requireNonNull(start);
    target().writeHeader(known.id(), known.segmentSize(), known.createdMillis(), state);
    target().force();
  }

  @Override
  public void complete() {
    target().complete();
  }
}

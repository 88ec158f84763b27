package org.revenantdb.engine.sort;

import java.util.Collection;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.revenantdb.gc.spill.SpillFiles;
import org.revenantdb.gc.spill.SpilledBlocks;

/**
 * The files of a sort (README.md, §61).
 *
 * <p>Threads: that of the sort, which makes, reads, writes and deletes files in steps.
 */
public final class SortFiles {
  private final SpillFiles files;
  private final ExternalSort.Steps steps;
  private final Left left = new Left();

  /**
   * The files that are not deleted yet. It does not know the sort, so that whoever ends a leaked
   * transaction can have it.
   */
  public static final class Left {
    private final Set<SpilledBlocks> all = ConcurrentHashMap.newKeySet();

    private Left() {}

    /**
     * Deletes all files. Called in a step, or when no step runs and none will. Without files it
     * allocates nothing. It does not fail.
     */
    @SuppressWarnings("EmptyCatch")
    public void deleteAll() {
      if (!all.isEmpty()) {
        try {
          all.forEach(this::delete);
        } catch (OutOfMemoryError stay) {
          // They are deleted with the others when the database is closed.
        }
      }
    }

    private void delete(SpilledBlocks file) {
      file.delete();
      all.remove(file);
    }
  }

  /** Makes an object without files. */
  public SortFiles(SpillFiles files, ExternalSort.Steps steps) {
    this.files = files;
    this.steps = steps;
  }

  SpilledBlocks create() {
    return steps.run(() -> {
      SpilledBlocks file = SpilledBlocks.create(files);
      left.all.add(file);
      return file;
    });
  }

  void append(SpilledBlocks file, byte[] blocks, int length) {
    steps.run(() -> {
      file.append(blocks, length);
      return file;
    });
  }

  void read(SpilledBlocks file, long position, byte[] into, int length) {
    steps.run(() -> {
      file.read(position, into, length);
      return file;
    });
  }

  void delete(Collection<SpilledBlocks> unused) {
    if (!unused.isEmpty()) {
      steps.run(() -> {
        unused.forEach(left::delete);
        return unused;
      });
    }
  }

  /** The number of files. */
  int count() {
    return left.all.size();
  }

  /** The files that are not deleted yet. */
  public Left left() {
    return left;
  }
}

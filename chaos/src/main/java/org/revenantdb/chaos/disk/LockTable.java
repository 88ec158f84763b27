package org.revenantdb.chaos.disk;

import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.util.ArrayList;
import java.util.List;

/**
 * The locks that programs hold on one file. All of them belong to this JVM, so two that overlap are
 * a mistake, and no thread ever waits.
 */
final class LockTable {

  private final List<FileLock> held = new ArrayList<>();

  synchronized void add(FileLock lock) {
    for (FileLock other : held) {
      if (other.overlaps(lock.position(), lock.size())) {
        throw new OverlappingFileLockException();
      }
    }
    held.add(lock);
  }

  synchronized void remove(FileLock lock) {
    held.remove(lock);
  }

  /** Releases the locks of a channel that is being closed. */
  synchronized void removeAll(OpenFile owner) {
    held.removeIf(lock -> lock instanceof MemoryFileLock ours && ours.isOf(owner));
  }
}

package org.revenantdb.chaos.disk;

import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.GroupPrincipal;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.UserPrincipal;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import org.jspecify.annotations.Nullable;

/** A file or directory while the file system is open: the state that an image does not contain. */
final class Node {
  /*
   * handles    open files on it; counted up under the lock of the names (either), down without
   * nameless   set under the write lock of the names when its last name goes, never taken back
   *
   * The node leaves the image with its last handle if it is nameless, or with its last name if it
   * has no handle. The thread that closes a handle counts down and then reads `nameless`. The
   * thread that removes the last name sets `nameless` and then reads the count. So at least one of
   * them sees that it is the last. Both may see it; removing twice does no harm.
   */

  /** The size of a small directory on Linux. */
  private static final long DIRECTORY_SIZE = 4096;

  final int number;
  final ReentrantReadWriteLock lock = new ReentrantReadWriteLock();
  final LockTable locks = new LockTable();
  final AtomicInteger handles = new AtomicInteger();
  volatile boolean nameless;
  volatile FileTime modified;
  volatile FileTime accessed;
  volatile FileTime created;
  volatile Set<PosixFilePermission> permissions;
  volatile UserPrincipal owner = MemoryPrincipal.OWNER;
  volatile GroupPrincipal group = MemoryPrincipal.GROUP;

  private final @Nullable FileContent content;

  /** Guarded by the write lock. */
  private final List<CopiedMapping> mappings = new ArrayList<>();

  /**
   * @param content null for a directory
   */
  Node(
      int number,
      @Nullable FileContent content,
      FileTime now,
      Set<PosixFilePermission> permissions) {
    this.number = number;
    this.content = content;
    this.permissions = permissions;
    modified = now;
    accessed = now;
    created = now;
  }

  boolean isDirectory() {
    return content == null;
  }

  /** The bytes, to be used under the {@link #lock}. */
  FileContent content() {
    if (content == null) {
      throw new IllegalStateException("a directory has no bytes");
    }
    return content;
  }

  /** Adds a mapping. The caller has the write lock. */
  void mapped(CopiedMapping mapping) {
    mappings.removeIf(CopiedMapping::isOver); // a store may map a part for each read
    mappings.add(mapping);
  }

  /** Notes that bytes have changed, or that the file ends before them. With the write lock. */
  void changed(long first, long end) {
    mappings.removeIf(CopiedMapping::isOver);
    for (CopiedMapping mapping : mappings) {
      mapping.changed(first, end);
    }
  }

  /** The number of mappings that follow the file. The caller has the write lock. */
  int mappings() {
    return mappings.size();
  }

  long size() {
    if (content == null) {
      return DIRECTORY_SIZE;
    }
    lock.readLock().lock();
    try {
      return content.size();
    } finally {
      lock.readLock().unlock();
    }
  }
}

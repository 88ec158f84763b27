package org.revenantdb.chaos.disk;

import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.GroupPrincipal;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.UserPrincipal;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import org.jspecify.annotations.Nullable;

/** A file or directory while the file system is open: what an image does not keep of it. */
final class Node {
  /*
   * handles    open files on it; counted up under the lock of the names (either), down without
   * nameless   set under the write lock of the names when its last name goes, never taken back
   *
   * Who takes it out of the image: the last handle if it is nameless, or whoever takes its last name if it has no
   * handle. The one counts down and then looks at `nameless`, the other sets it and then looks at the count, so at
   * least one of them sees that it is the last; both may, and removing twice does no harm.
   */

  /** What Linux says the size of a small directory is. */
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

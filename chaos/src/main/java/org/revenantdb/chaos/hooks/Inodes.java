package org.revenantdb.chaos.hooks;

import java.util.concurrent.atomic.AtomicLongArray;

/**
 * The inodes that were created in the directory under test.
 *
 * <p>Threads: one adds at a time, any may ask. Nothing is allocated.
 */
final class Inodes {

  private static final int TABLE = 1 << 17;

  private final AtomicLongArray table = new AtomicLongArray(TABLE);
  private int count;

  void add(long inode) {
    int at = place(inode);
    if (table.get(at) == 0) {
      if (++count > TABLE / 2) {
        throw new IllegalStateException("too many files were created");
      }
      table.set(at, inode);
    }
  }

  boolean contains(long inode) {
    return table.get(place(inode)) == inode;
  }

  int count() {
    return count;
  }

  void clear() {
    for (int i = 0; i < TABLE; i++) {
      table.set(i, 0);
    }
    count = 0;
  }

  private int place(long inode) {
    int at = (int) ((inode * 0x9E3779B97F4A7C15L) >>> 47);
    while (table.get(at) != 0 && table.get(at) != inode) {
      at = (at + 1) & (TABLE - 1);
    }
    return at;
  }
}

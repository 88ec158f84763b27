package org.revenantdb.jmh.baseline;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Deque;
import org.revenantdb.engine.change.MiniTransaction;
import org.revenantdb.engine.page.Page;
import org.revenantdb.engine.page.PageOps;
import org.revenantdb.engine.page.SharedValues;
import org.revenantdb.engine.page.SpaceMapPage;
import org.revenantdb.engine.space.Allocator;
import org.revenantdb.engine.space.MapChanges;
import org.revenantdb.engine.version.Storage;
import org.revenantdb.gc.SnapshotSet;

/**
 * As {@link FormerVersions}, and each version is logged as well: appended to pages of the database,
 * before its row changes.
 */
public final class OffRowVersions extends FormerVersions {
  /*
   * Source      "Constant Time Recovery in Azure SQL Database" (VLDB 2019) §3.2.2, §3.7. We differ:
   *             (1) a row has no locator of its version. Recovery would scan the pages, and the
   *             content of a version leads to its row. So neither the row nor its record grow. (2)
   *             readers use the versions in memory.
   *
   * As there    a version in full, with table, key and writer; no index; logged by a record of its
   *             own that belongs to no transaction; each writer has its own pages, so that writers
   *             do not meet; the next page is claimed ahead, while nothing is latched.
   *
   * Page        one that values share (SharedValues), each with its transaction as writer and
   *             superseder. So the engine's cleaner removes it when that transaction has ended and
   *             is durable and behind all snapshots.
   *
   * Life        current -> full: left, with the end of the log when the transaction ended that left
   *                     it
   *             -> durable and behind all snapshots: passed to the cleaner, which frees the page by
   *             one record, because all of it is unneeded. The paper uses the highest id on the
   *             page.
   *
   * Order       leaf, page of versions, space maps (protocols.md §4).
   */
  private static final int CREDIT = Allocator.CREDIT;
  private static final int FLAGS = Page.FLAG_VERSIONS | Page.FLAG_GHOST;
  private static final int NONE = 0;

  /** Table, flags, writer, and the length of the key. */
  private static final int HEADER = Integer.BYTES + 1 + Long.BYTES + Short.BYTES;

  private record Left(int page, long at) {}

  private final MiniTransaction mini;
  private final MapChanges maps;
  private final MemorySegment image = MemorySegment.ofArray(new byte[Page.SIZE]);

  /** Pages that are full, in order; those that were left in this transaction come after. */
  private final Deque<Left> left = new ArrayDeque<>();

  private final Deque<Integer> leftNow = new ArrayDeque<>();
  private int page = NONE;
  private int claimed = NONE;

  /**
   * Of a writer.
   *
   * @param storage of its database
   */
  public OffRowVersions(Storage storage) {
    super(storage);
    this.mini = new MiniTransaction(storage.pool(), storage.log());
    this.maps = storage.mapChanges();
  }

  @Override
  public void prepare() {
    if (claimed == NONE) {
      storage.space().acquire(CREDIT, Allocator.PAGES);
      try {
        claimed = storage.allocator().claim();
      } finally {
        storage.space().release(CREDIT, Allocator.PAGES);
      }
    }
  }

  @Override
  void keep(FormerVersion version) {
    byte[] bytes = bytes(version);
    if (page == NONE || !append(version.superseder, bytes)) {
      begin(version.superseder, bytes);
    }
  }

  private static byte[] bytes(FormerVersion version) {
    return ByteBuffer.allocate(HEADER + version.key.length + version.value.length)
        .putInt(version.table)
        .put((byte) version.flags)
        .putLong(version.writer)
        .putShort((short) version.key.length)
        .put(version.key)
        .put(version.value)
        .array();
  }

  /** Appends to the current page, if there is room. */
  private boolean append(long id, byte[] bytes) {
    int frame = storage.pool().fixExclusive(page);
    try {
      MemorySegment there = storage.pool().page(frame);
      int slot = SharedValues.count(there); // nothing is taken from it before it is full
      if (slot >= SharedValues.MAX_SLOTS || !SharedValues.hasRoom(there, slot, bytes.length)) {
        return false;
      }
      mini.begin(id);
      PageOps.putValue(mini.change(frame), slot, id, id, bytes);
      mini.end();
      mini.commit();
      return true;
    } finally {
      storage.pool().unfixExclusive(frame);
    }
  }

  /** Continues with the claimed page. */
  private void begin(long id, byte[] bytes) {
    int next = claimed;
    int frame = storage.pool().fixNew(next);
    try {
      SharedValues.build(image, FLAGS, id, id, bytes);
      maps.clear();
      // Full from the beginning for other writers, because it belongs to this one.
      maps.set(next, SpaceMapPage.inUse(FLAGS) | SharedValues.fullness(0));
      mini.begin(id);
      PageOps.image(mini.format(frame), image, SharedValues.headLength(), bytes.length);
      mini.end();
      maps.latchAndWrite(mini);
      mini.commit();
    } finally {
      maps.unlatch();
      storage.pool().unfixExclusive(frame);
    }
    claimed = NONE;
    if (page != NONE) {
      leftNow.add(page);
    }
    page = next;
  }

  @Override
  void ended(SnapshotSet snapshots) {
    if (!leftNow.isEmpty()) {
      long now = storage.log().tail();
      leftNow.forEach(full -> left.add(new Left(full, now)));
      leftNow.clear();
    }
    if (!left.isEmpty()) {
      long settled = storage.horizon().settled(snapshots);
      for (Left first = left.peek(); first != null && first.at <= settled; first = left.peek()) {
        storage.marks().mark(first.page);
        left.remove();
      }
    }
  }
}

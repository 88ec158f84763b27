package org.revenantdb.gc.version;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.NullMarked;
import org.revenantdb.gc.ActiveSnapshots;
import org.revenantdb.gc.Horizon;
import org.revenantdb.gc.SnapshotSet;
import org.revenantdb.gc.version.VolatileStore.Version;

/**
 * One row that is written to, in the steps of protocols.md §39, without pages and files. Its cell
 * is one reference, as if it were latched for each look. The production code keeps and prunes the
 * versions.
 */
@NullMarked
public final class OpenRow {
  private static final int ROW = 7;
  private static final int NOBODY = 0;
  private static final byte[] VALUE = {};
  private static final long UNCOMMITTED = Long.MAX_VALUE;

  private record Cell(long current, long predecessor) {}

  private final AtomicLong clock = new AtomicLong(1);
  private final ActiveSnapshots snapshots = new ActiveSnapshots();
  private final Horizon horizon = new Horizon(snapshots, clock::get, clock::get);
  private final Steam steam = new Steam(horizon);
  private final SnapshotSet atFirst = horizon.known();
  private final ConcurrentHashMap<Integer, Version> chains = new ConcurrentHashMap<>();
  private volatile Cell cell = new Cell(1, NOBODY);

  /** A row that was written at 1; no snapshot is open. */
  public OpenRow() {}

  /** Writes the row, and commits. */
  public void write() {
    Cell before = cell;
    push(before);
    change(before);
  }

  /** The same in the wrong order. */
  public void writeTooEarly() {
    Cell before = cell;
    change(before);
    push(before);
  }

  /** Like {@link #write}, but treats one set of open snapshots as valid for ever. */
  public void writeByMembersOnly() {
    Cell before = cell;
    if (atFirst.youngestIn(before.predecessor(), before.current()) >= 0) {
      push(before);
    }
    change(before);
  }

  private void push(Cell before) {
    if (before.predecessor() != NOBODY && steam.keeps(before.predecessor(), before.current())) {
      chains.compute(
          ROW,
          (row, chain) ->
              steam.added(new Version(before.predecessor(), before.current(), 0, VALUE, chain)));
    }
  }

  private void change(Cell before) {
    cell = new Cell(UNCOMMITTED, before.current());
    cell = new Cell(clock.incrementAndGet(), before.current());
  }

  /** Whether a snapshot that is opened now finds its version. */
  public boolean read() {
    int slot = snapshots.open(clock::get);
    try {
      return find(snapshots.snapshot(slot));
    } finally {
      snapshots.close(slot);
    }
  }

  private boolean find(long snapshot) {
    Cell now = cell;
    if (now.current() <= snapshot || now.predecessor() <= snapshot) {
      return true;
    }
    Version version = chains.get(ROW);
    while (version != null && version.committedAt() > snapshot) {
      version = version.older();
    }
    return version != null && version.supersededAt() > snapshot;
  }
}

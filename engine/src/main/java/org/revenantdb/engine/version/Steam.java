package org.revenantdb.engine.version;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.concurrent.atomic.LongAccumulator;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.txn.Horizon;
import org.revenantdb.engine.version.VolatileStore.Version;
import org.revenantdb.gc.SnapshotSet;

/**
 * Drops a row's older versions that no snapshot needs whenever one more comes, so that a row never
 * has more of them than there are snapshots.
 *
 * <p>Threads: any. Under a latch it reads the slots of the snapshots at the most.
 */
final class Steam implements GarbageStrategy {
  /*
   * Source      Böttcher, "Scalable Concurrency Control", thesis 2023, section 5.3.3, algorithm 1; rule R4.
   *             We differ: versions are whole, so there are no differences of in-between versions to be merged.
   * Protocol    docs/protocols.md §39.
   *
   * Invariants  S1 what is dropped was superseded at or before the bound of the set that has no member in its lifetime.
   *             S3 what is left has at most one version for each member, and those superseded after the bound; of a set
   *             of now there are none of these, but while a slot is being opened.
   */
  /** A pass looks at all rows when as many versions have come as this part of them. */
  private static final int ROWS_FOR_EACH_ADDED = 8;

  private final Horizon horizon;
  private final LongAccumulator excess = new LongAccumulator(Math::max, 0);

  /** One at a time looks at all rows. */
  private final ReentrantLock walking = new ReentrantLock();

  /** Snapshots for which the last walk has kept a version, in order. */
  private volatile long[] keptFor = {};

  /** Whether it has kept one of which it could not decide. */
  private volatile boolean leftUndecided;

  /** How many had come when it began. */
  private volatile long addedBeforeWalk;

  /** How many had come at the last pass. */
  private long addedBeforePass;

  /**
   * Beside these snapshots.
   *
   * @param horizon tells which are open
   */
  Steam(Horizon horizon) {
    this.horizon = horizon;
  }

  @Override
  public boolean keeps(long committedAt, long supersededAt) {
    SnapshotSet set = horizon.known();
    if (supersededAt > set.bound()) {
      set = horizon.recent();
    }
    return set.needs(committedAt, supersededAt);
  }

  @Override
  public @Nullable Version added(VolatileStore store, int table, byte[] key, Version versions) {
    return added(versions);
  }

  /** What a row keeps of its versions, of which the first one is new. */
  @Nullable Version added(Version versions) {
    SnapshotSet set = horizon.known();
    Version kept = prune(versions, set);
    if (Version.lengthOf(kept) > set.size()) {
      set = horizon.refresh();
      kept = prune(kept, set);
    }
    excess.accumulate(Version.lengthOf(kept) - set.size());
    return kept;
  }

  /**
   * What a set of snapshots needs of a row's versions.
   *
   * @param versions the newest first
   */
  static @Nullable Version prune(@Nullable Version versions, SnapshotSet set) {
    Need need = new Need(set);
    Version lastDropped = null;
    for (Version version = versions; version != null; version = version.older()) {
      if (!need.isNext(version)) {
        lastDropped = version;
      }
    }
    if (lastDropped == null) {
      return versions;
    }
    Deque<Version> kept = new ArrayDeque<>();
    need = new Need(set);
    int dropped = lastDropped.length();
    for (Version version = versions;
        version != null && version.length() > dropped;
        version = version.older()) {
      if (need.isNext(version)) {
        kept.push(version);
      }
    }
    Version rest = lastDropped.older();
    for (Version version : kept) {
      rest = version.before(rest);
    }
    return rest;
  }

  /** Which versions of a row are needed, asked for each of them, the newest first. */
  private static final class Need {
    private final SnapshotSet set;

    /** The youngest member for which no version was kept, if it is old enough. */
    private int member;

    Need(SnapshotSet set) {
      this.set = set;
      this.member = set.size() - 1;
    }

    boolean isNext(Version version) {
      if (version.supersededAt() > set.bound()) {
        return true; // R4
      }
      skip(version.supersededAt());
      boolean isNeeded = member >= 0 && set.member(member) >= version.committedAt();
      skip(version.committedAt()); // they have theirs
      return isNeeded;
    }

    /** Goes on to those before a timestamp. */
    private void skip(long from) {
      while (member >= 0 && set.member(member) >= from) {
        member--;
      }
    }
  }

  @Override
  public void pass(VolatileStore store, SnapshotSet snapshots) {
    walking.lock();
    try {
      long added = store.added();
      long since = added - addedBeforeWalk;
      boolean rests = added == addedBeforePass;
      addedBeforePass = added;
      boolean mayFind = since > 0 || leftUndecided;
      boolean isWorthIt = rests || since >= store.rows() / ROWS_FOR_EACH_ADDED;
      if (hasEnded(snapshots) || (mayFind && isWorthIt)) {
        walk(store, snapshots, added);
      }
    } finally {
      walking.unlock();
    }
  }

  private void walk(VolatileStore store, SnapshotSet snapshots, long added) {
    boolean[] keeps = new boolean[snapshots.size()];
    boolean[] undecided = {false};
    store.keep(version -> {
      if (version.supersededAt() > snapshots.bound()) {
        undecided[0] = true;
        return true;
      }
      int member = snapshots.lastBefore(version.supersededAt());
      if (member < 0 || snapshots.member(member) < version.committedAt()) {
        return false;
      }
      keeps[member] = true;
      return true;
    });
    long[] members = new long[keeps.length];
    int count = 0;
    for (int member = 0; member < keeps.length; member++) {
      if (keeps[member]) {
        members[count++] = snapshots.member(member);
      }
    }
    keptFor = Arrays.copyOf(members, count);
    leftUndecided = undecided[0];
    addedBeforeWalk = added;
  }

  /** Whether a snapshot is gone for which the last walk has kept something. */
  private boolean hasEnded(SnapshotSet snapshots) {
    for (long snapshot : keptFor) {
      int member = snapshots.lastBefore(snapshot + 1);
      if (member < 0 || snapshots.member(member) != snapshot) {
        return true;
      }
    }
    return false;
  }

  @Override
  public boolean wantsPass(VolatileStore store, SnapshotSet snapshots) {
    return leftUndecided || store.added() > addedBeforeWalk || hasEnded(snapshots);
  }

  @Override
  public long chainExcess() {
    return excess.get();
  }
}

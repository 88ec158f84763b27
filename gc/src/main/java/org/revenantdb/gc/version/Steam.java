package org.revenantdb.gc.version;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.atomic.LongAccumulator;
import org.jspecify.annotations.Nullable;
import org.revenantdb.gc.Horizon;
import org.revenantdb.gc.SnapshotSet;
import org.revenantdb.gc.version.VolatileStore.Version;
import org.revenantdb.latch.PatientLock;

/**
 * Drops a row's older versions that no snapshot needs whenever one more comes, so that a row never
 * has more of them than there were snapshots when it was last looked which are open.
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
   *             of now there are none of these.
   */
  /** A pass looks at all rows when as many versions may go as this part of them. */
  private static final int ROWS_FOR_EACH = 8;

  private final Horizon horizon;
  private final LongAccumulator excess = new LongAccumulator(Math::max, 0);

  /** One at a time looks at all rows. */
  private final PatientLock walking = new PatientLock();

  /** What the last walk has left. */
  private volatile Walk last = new Walk(new long[0], new long[0], 0, 0, 0);

  /** How many had come at the last pass. */
  private long addedBeforePass;

  /**
   * What a walk over all rows has left.
   *
   * @param snapshots for which it has kept versions, in order
   * @param kept how many for each
   * @param undecided how many that it could not decide about
   * @param added how many had come when it began
   * @param bound of its set
   */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  private record Walk(long[] snapshots, long[] kept, long undecided, long added, long bound) {
    /** How many versions it has kept for snapshots that have ended since. */
    long ofEnded(SnapshotSet now) {
      long ended = 0;
      for (int i = 0; i < snapshots.length; i++) {
        if (now.youngestIn(snapshots[i], snapshots[i] + 1) < 0) {
          ended += kept[i];
        }
      }
      return ended;
    }
  }

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
      if (snapshots.bound() < last.bound()) {
        return; // it decides less than the last one, and knows less of who has ended
      }
      long added = store.added();
      boolean rests = added == addedBeforePass || store.isOverBudget();
      addedBeforePass = added;
      long mayGo = mayGo(added, snapshots);
      if (mayGo > 0 && (rests || mayGo >= store.rows() / ROWS_FOR_EACH)) {
        walk(store, snapshots, added);
      }
    } finally {
      walking.unlock();
    }
  }

  /** How many versions the next walk may find needless, at most. */
  private long mayGo(long added, SnapshotSet snapshots) {
    Walk before = last;
    return added - before.added() + before.undecided() + before.ofEnded(snapshots);
  }

  private void walk(VolatileStore store, SnapshotSet snapshots, long added) {
    long[] kept = new long[snapshots.size()];
    long[] undecided = {0};
    store.keep(version -> {
      if (version.supersededAt() > snapshots.bound()) {
        undecided[0]++;
        return true;
      }
      int member = snapshots.youngestIn(version.committedAt(), version.supersededAt());
      if (member < 0) {
        return false;
      }
      kept[member]++;
      return true;
    });
    long[] members = new long[kept.length];
    for (int member = 0; member < members.length; member++) {
      members[member] = snapshots.member(member);
    }
    last = new Walk(members, kept, undecided[0], added, snapshots.bound());
  }

  @Override
  public boolean wantsPass(VolatileStore store, SnapshotSet snapshots) {
    return mayGo(store.added(), snapshots) > 0;
  }

  @Override
  public boolean isUnseen(
      VolatileStore store, int table, byte[] key, long committedAt, long deletedAt) {
    SnapshotSet set = horizon.known();
    return deletedAt <= set.oldestWriter()
        && !set.needs(committedAt, deletedAt)
        && !store.mayBeNeeded(table, key, set);
  }

  @Override
  public long keptFor(long oldest) {
    Walk before = last; // each version was counted for the youngest who needs it
    return before.snapshots.length > 0 && before.snapshots[0] == oldest ? before.kept[0] : 0;
  }

  @Override
  public long chainExcess() {
    return excess.get();
  }
}

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
 * Whenever an older version of a row arrives, drops those that no snapshot needs. So a row never
 * has more older versions than there were open snapshots when the set of snapshots was last
 * computed.
 *
 * <p>Threads: any. Under a latch it does no more than to read the slots of the snapshots.
 */
final class Steam implements GarbageStrategy {
  /*
   * Source      Böttcher, "Scalable Concurrency Control", thesis 2023, section 5.3.3, algorithm 1; rule R4.
   *             We differ: versions are whole, so there are no differences of in-between versions to be merged.
   * Protocol    docs/protocols.md §39.
   *
   * Invariants  S1 a dropped version was superseded at or before the bound of a set that has no member in the
   *             version's lifetime. S3 what is left is at most one version for each member, and the versions
   *             superseded after the bound. For a current set there are none of the latter.
   */
  /**
   * A pass walks over all rows if the number of versions that may go is at least this fraction of
   * the rows.
   */
  private static final int ROWS_FOR_EACH = 8;

  private final Horizon horizon;
  private final LongAccumulator excess = new LongAccumulator(Math::max, 0);

  /** One thread at a time walks over all rows. */
  private final PatientLock walking = new PatientLock();

  /** The result of the last walk. */
  private volatile Walk last = new Walk(new long[0], new long[0], 0, 0, 0);

  /** How many versions had arrived at the last pass. */
  private long addedBeforePass;

  /**
   * The result of a walk over all rows.
   *
   * @param snapshots the snapshots for which it has kept versions, in order
   * @param kept how many versions for each
   * @param undecided how many versions it could not decide about
   * @param added how many versions had arrived when it began
   * @param bound the bound of its set
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
   * Makes the strategy for a set of snapshots.
   *
   * @param horizon knows the open snapshots
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

  /** The versions that a row keeps; the first of the given ones is new. */
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
   * The versions of a row that a set of snapshots needs.
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

  /**
   * Decides whether a version of a row is needed. It is called for each version, the newest first.
   */
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
      skip(version.committedAt()); // these members have their version
      return isNeeded;
    }

    /** Skips to the members before a timestamp. */
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
        return; // it decides less than the last one, and knows fewer of the ended snapshots
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

  /** An upper bound of the versions that the next walk may find unneeded. */
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
    if (deletedAt > set.bound()) {
      set = horizon.recent();
    }
    return deletedAt <= set.oldestWriter()
        && !set.needs(committedAt, deletedAt)
        && !store.mayBeNeeded(table, key, set);
  }

  @Override
  public boolean letsRowsDepart() {
    return true;
  }

  @Override
  public long keptFor(long oldest) {
    Walk before = last; // each version was counted for the youngest snapshot that needs it
    return before.snapshots.length > 0 && before.snapshots[0] == oldest ? before.kept[0] : 0;
  }

  @Override
  public long chainExcess() {
    return excess.get();
  }
}

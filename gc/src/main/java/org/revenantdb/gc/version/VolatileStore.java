package org.revenantdb.gc.version;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAccumulator;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.revenantdb.gc.SnapshotSet;
import org.revenantdb.gc.VersionFlags;
import org.revenantdb.gc.spill.SpillFiles;
import org.revenantdb.gc.spill.SpilledVersion;
import org.revenantdb.gc.spill.VersionRuns;
import org.revenantdb.latch.Tally;
import org.revenantdb.latch.WaitMeter;

/**
 * Older versions of rows. They serve only snapshots: they are never logged, and end with the
 * process.
 *
 * <p>A row's leaf holds its current version and the committed one before it. Still older versions
 * that a snapshot needs are in this store, under table and key, never under a place (R27). They are
 * in memory, newest first, or, if memory is short, in a run on disk. A version is added before the
 * page changes, under the page's exclusive latch. A reader looks for it after it has released the
 * page's latch, since the search may need a file. It finds what its active snapshot sees even then.
 *
 * <p>Threads: any. {@link #push} neither waits nor accesses a file. A thread with a latch must not
 * call {@link #find}, {@link #findAll} or {@link #awaitRoom}.
 */
public final class VolatileStore implements AutoCloseable {
  /*
   * Protocol    docs/protocols.md §30.
   *
   * Identity    each version of a row has its own superseding commit (supersededAt), and the lifetimes of two needed
   *             versions do not overlap. So it does not matter where a version is found first.
   */
  /**
   * One version.
   *
   * @param committedAt its commit LSN, 0 when it is older than every snapshot
   * @param supersededAt the commit LSN of the version after it: snapshots at or above that do not
   *     need this one
   * @param flags as in a leaf cell
   * @param value its bytes in the cell
   * @param older an older version that was needed when this one was added
   * @param length the number of versions, from this one on
   */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  public record Version(
      long committedAt,
      long supersededAt,
      int flags,
      byte[] value,
      @Nullable Version older,
      int length) {
    /** Heap size without the value: the record and the array. */
    private static final int BYTES = 64;

    /** A version in front of older ones. */
    public Version(
        long committedAt, long supersededAt, int flags, byte[] value, @Nullable Version older) {
      this(committedAt, supersededAt, flags, value, older, lengthOf(older) + 1);
    }

    /** The same version in front of others. */
    Version before(@Nullable Version others) {
      return new Version(committedAt, supersededAt, flags, value, others);
    }

    static int lengthOf(@Nullable Version chain) {
      return chain == null ? 0 : chain.length;
    }

    private long bytes() {
      return bytes(value);
    }

    private static long bytes(byte[] value) {
      return BYTES + padded(value.length);
    }
  }

  @SuppressWarnings("ArrayRecordComponent") // equals and hashCode are its own
  private record Key(int table, byte[] bytes) {
    /** Heap size of a row without its versions: the record, the array, a node of the map. */
    private static final int BYTES = 88;

    static final Comparator<Key> ORDER =
        (one, other) -> {
          int order = Integer.compareUnsigned(one.table, other.table);
          return order != 0 ? order : Arrays.compareUnsigned(one.bytes, other.bytes);
        };

    long heapBytes() {
      return BYTES + padded(bytes.length);
    }

    @Override
    public boolean equals(@Nullable Object other) {
      return other instanceof Key that && table == that.table && Arrays.equals(bytes, that.bytes);
    }

    @Override
    public int hashCode() {
      return 31 * table + Arrays.hashCode(bytes);
    }
  }

  /**
   * A row and its versions of one moment. The newest one distinguishes them from later versions.
   */
  private record Chain(Key key, Version newest) {}

  private static long padded(int length) {
    return (length + 7L) & -8L;
  }

  /** This part of the budget is freed at a time. */
  private static final int SPILLED_SHARE = 4;

  /** This part of the budget may be taken by keys of departed rows. */
  private static final int DEPARTED_SHARE = 2;

  /** Bytes of keys of departed rows that a pass looks at, on average. */
  private static final int DEPARTED_A_PASS = 1 << 19;

  private final Map<Key, Version> chains = new ConcurrentHashMap<>();
  private final VersionMemory memory;
  private final VersionRuns runs;
  private final Supplier<SnapshotSet> snapshots;
  private final GarbageStrategy garbage;
  private final DepartedRows departed;
  private final UnseenDeletes unseenDeletes;
  private final Spiller spiller;

  /** What the last look at all keys of departed rows has left, and how long ago it was. */
  private volatile long departedHorizon;

  private volatile long departedBytes;
  private final AtomicInteger departedPasses = new AtomicInteger();
  private final Tally added = new Tally();
  private final Tally pruned = new Tally();
  private final Tally swept = new Tally();
  private final LongAccumulator longest = new LongAccumulator(Math::max, 0);
  private final Tally spilled = new Tally();
  private volatile SpillWatch watch = SpillWatch.NONE;

  /** Learns of versions that are written to a file. Throws nothing. */
  public interface SpillWatch {
    /** Nobody. */
    SpillWatch NONE =
        new SpillWatch() {
          @Override
          public @Nullable Object begins() {
            return null;
          }

          @Override
          public void ended(@Nullable Object begun, long versions) {}
        };

    /**
     * Called before they are written.
     *
     * @return what {@link #ended} receives
     */
    @Nullable Object begins();

    /**
     * Called when they are written.
     *
     * @param begun what {@link #begins} has returned
     * @param versions how many they are
     */
    void ended(@Nullable Object begun, long versions);
  }

  /**
   * An empty store.
   *
   * @param files the files for versions that exceed the memory
   * @param budget bytes of memory; writers wait if it is exceeded by more than a quarter
   * @param snapshots computes which versions are needed
   * @param garbage decides which versions are dropped from memory, and when
   * @param waits receives the waits of writers that are held back
   * @param stop stops the engine if the thread that frees memory dies
   */
  public VolatileStore(
      SpillFiles files,
      long budget,
      Supplier<SnapshotSet> snapshots,
      GarbageStrategy garbage,
      WaitMeter waits,
      Consumer<? super Throwable> stop) {
    this.garbage = garbage;
    this.memory = new VersionMemory(budget, waits);
    this.runs = new VersionRuns(files, budget, memory::take, memory::giveBack);
    this.departed = new DepartedRows(memory::take, memory::giveBack);
    this.unseenDeletes = new UnseenDeletes(departed);
    this.snapshots = snapshots;
    this.spiller = new Spiller(files, memory, this::spill, this::merge, stop);
  }

  /**
   * Reports spills from now on.
   *
   * @param who learns of them
   */
  public void watchSpills(SpillWatch who) {
    watch = who;
  }

  /**
   * Whether a version that is about to leave its page must be {@linkplain #push added}, because a
   * snapshot may need it.
   */
  public boolean keeps(long committedAt, long supersededAt) {
    return garbage.keeps(committedAt, supersededAt);
  }

  /**
   * Adds a version that is about to leave its page and that some snapshot may need.
   *
   * @throws org.revenantdb.recovery.file.FileException if memory is full of versions and they
   *     cannot be written to a file; nothing was added, and the page must not change
   */
  public void push(
      int table, byte[] key, long committedAt, long supersededAt, int flags, byte[] value) {
    if (memory.isRefused() && !snapshots.get().needs(committedAt, supersededAt)) {
      return; // no writer is refused because of a set that could not decide
    }
    memory.demandRoom();
    add(table, key, committedAt, supersededAt, flags, value);
  }

  private void add(
      int table, byte[] key, long committedAt, long supersededAt, int flags, byte[] value) {
    Key row = new Key(table, key);
    long bytes = Version.bytes(value) + row.heapBytes();
    memory.take(bytes); // first: memory that is in use must never count as none
    Pushed pushed = new Pushed(row, committedAt, supersededAt, flags, value);
    try {
      chains.compute(row, pushed);
    } catch (Throwable failure) {
      if (!pushed.isDone) { // else it may be in the map, which may fail in growing after that
        memory.take(-bytes);
      }
      throw failure;
    }
    added.increment(); // after the map: a version that is counted can be found
    if (pushed.freed > 0) {
      memory.giveBack(pushed.freed);
    }
  }

  /**
   * Puts a version in front of a row's versions, and drops those that are not kept. Does so only
   * once.
   */
  private final class Pushed implements BiFunction<Key, @Nullable Version, @Nullable Version> {
    private final Key row;
    private final long committedAt;
    private final long supersededAt;
    private final int flags;
    private final byte[] value;

    /** Memory that has been counted and is not in the map. */
    private long freed;

    /** Whether the map has its new content. */
    private boolean isDone;

    Pushed(Key row, long committedAt, long supersededAt, int flags, byte[] value) {
      this.row = row;
      this.committedAt = committedAt;
      this.supersededAt = supersededAt;
      this.flags = flags;
      this.value = value;
    }

    @Override
    public @Nullable Version apply(Key key, @Nullable Version before) {
      Version chain = new Version(committedAt, supersededAt, flags, value, before);
      Version rest = garbage.added(VolatileStore.this, row.table(), row.bytes(), chain);
      // The row was counted with its first version, and is removed with its last one.
      int rows = (before == null ? 0 : 1) + (rest == null ? 1 : 0);
      freed = rows * row.heapBytes();
      int length = Version.lengthOf(rest);
      if (length < chain.length()) {
        freed += bytes(chain) - bytes(rest);
        pruned.add(chain.length() - length);
      }
      longest.accumulate(length);
      isDone = true;
      return rest;
    }
  }

  /** Waits while there is no memory for more versions. Called before anything is latched. */
  public void awaitRoom() {
    if (memory.isOverBudget()) {
      spiller.wake();
      memory.awaitRoom();
    }
  }

  /**
   * The version that a snapshot sees, or null if there is none. A null is possible even if the leaf
   * has the row: it may have been deleted before the snapshot, its delete mark was cleaned away,
   * and the leaf now holds a later insert that the snapshot does not see.
   */
  public @Nullable Version find(int table, byte[] key, long snapshot) {
    return findAll(table, List.of(key), snapshot)[0];
  }

  /**
   * As {@link #find}, for several rows of a table, best in order; the answers are in the places of
   * the keys.
   */
  public @Nullable Version[] findAll(int table, List<byte[]> keys, long snapshot) {
    @Nullable Version[] found = new Version[keys.size()];
    if (isEmpty() || snapshot == Long.MAX_VALUE) {
      return found;
    }
    // First memory, then the runs: a version is in a run before it leaves memory.
    List<byte[]> rows = new ArrayList<>();
    for (int i = 0; i < found.length; i++) {
      found[i] = findInMemory(new Key(table, keys.get(i)), snapshot);
      if (found[i] == null) {
        rows.add(SpilledVersion.row(table, keys.get(i)));
      }
    }
    if (!rows.isEmpty() && !runs.isEmpty()) {
      @Nullable SpilledVersion[] inRuns = runs.find(rows, snapshot);
      int next = 0;
      for (int i = 0; i < found.length; i++) {
        if (found[i] == null) {
          found[i] = versionOf(inRuns[next]);
          next++;
        }
      }
    }
    return found;
  }

  private static @Nullable Version versionOf(@Nullable SpilledVersion spilled) {
    return spilled == null
        ? null
        : new Version(
            spilled.committedAt(), spilled.supersededAt(), spilled.flags(), spilled.value(), null);
  }

  private @Nullable Version findInMemory(Key row, long snapshot) {
    Version version = chains.get(row);
    while (version != null && version.committedAt() > snapshot) {
      version = version.older();
    }
    return version != null && version.supersededAt() > snapshot ? version : null;
  }

  /**
   * Whether a snapshot of a set, or a future one, may need an older version of a row. True if a
   * file may have one. Accesses no file.
   */
  boolean mayBeNeeded(int table, byte[] key, SnapshotSet set) {
    for (Version version = chains.get(new Key(table, key));
        version != null;
        version = version.older()) {
      if (set.needs(version.committedAt(), version.supersededAt())) {
        return true;
      }
    }
    // After memory: a version is in a run before it leaves memory.
    return !runs.isEmpty() && runs.mayHave(SpilledVersion.row(table, key));
  }

  /** The deleted rows that were removed before every snapshot was at or above their delete. */
  public UnseenDeletes unseenDeletes() {
    return unseenDeletes;
  }

  /**
   * If no snapshot sees a deleted row, records that it is about to be removed. The caller holds its
   * leaf latched exclusively.
   *
   * @return whether the row may be removed
   */
  public boolean mayTakeUnseen(int table, byte[] key, long committedAt, long deletedAt) {
    if (!garbage.isUnseen(this, table, key, committedAt, deletedAt)) {
      return false;
    }
    unseenDeletes.taken(table, key, deletedAt);
    return true;
  }

  /** The deleted rows that have left their leaves although a snapshot may see them. */
  public DepartedRows departed() {
    return departed;
  }

  /**
   * Records that a deleted row is about to leave its leaf, and keeps the version that was deleted
   * if a snapshot needs it. The caller holds the leaf latched exclusively.
   *
   * @param key is kept
   * @param committedAt the commit LSN of the version that was deleted
   * @param deletedAt the commit LSN of the delete, which is durable
   * @param flags of the version
   * @param value of the version; null if there is none
   * @return whether the row may leave; false if there is no memory for its key
   */
  public boolean mayDepart(
      int table, byte[] key, long committedAt, long deletedAt, int flags, byte @Nullable [] value) {
    if (!hasRoomForDeparted()) {
      return false;
    }
    // First the version, then the key: a reader that finds the key looks for the version.
    if (value != null && keeps(committedAt, deletedAt)) {
      add(table, key, committedAt, deletedAt, flags, value);
    }
    departed.add(table, key, deletedAt);
    return true;
  }

  /**
   * Whether rows may depart, as far as strategy and memory are concerned. Their versions have room
   * on their pages, so they never take what writers need when versions cannot be written to files.
   */
  public boolean hasRoomForDeparted() {
    return garbage.letsRowsDepart()
        && !memory.isOverBudget()
        && !memory.hasFailed()
        && departed.bytes() <= memory.budget() / DEPARTED_SHARE;
  }

  /** Has versions written to files if they take too much memory. The caller holds no latch. */
  public void spillIfNeeded() {
    if (memory.isOverBudget()) {
      spiller.wake();
    }
  }

  /** Drops versions that no snapshot of the set and no future snapshot needs. */
  public void prune(SnapshotSet needed) {
    garbage.pass(this, needed);
    forgetDeparted(needed);
    unseenDeletes.forget(needed.horizon());
    runs.drop(needed);
    if (memory.isOverBudget() || runs.wantsMerge(needed)) {
      spiller.wake();
    }
  }

  /**
   * Drops keys of departed rows that nobody needs. All keys are looked at when a quarter of them is
   * new; or when the horizon has risen, and so many passes were made that each has looked at a few
   * thousand.
   */
  private void forgetDeparted(SnapshotSet needed) {
    departed.forgetTables(needed.horizon());
    long size = departed.bytes();
    if (size == 0) {
      return;
    }
    boolean isGrown = size - departedBytes >= departedBytes / 4;
    boolean isDue = departedPasses.incrementAndGet() >= size / DEPARTED_A_PASS;
    if (isGrown || (isDue && needed.horizon() > departedHorizon)) {
      departed.forget(
          needed.horizon(), (table, key, deletedAt) -> isForgotten(table, key, deletedAt, needed));
      departedHorizon = Math.max(departedHorizon, needed.horizon());
      departedBytes = departed.bytes();
      departedPasses.set(0);
    }
  }

  /** Whether the key of a departed row goes; then the word of its delete is there. */
  private boolean isForgotten(int table, byte[] key, long deletedAt, SnapshotSet needed) {
    // As for a row that is taken from its leaf because no snapshot sees it.
    if (deletedAt > needed.bound()
        || deletedAt > needed.oldestWriter()
        || mayBeNeeded(table, key, needed)) {
      return false;
    }
    unseenDeletes.taken(table, key, deletedAt);
    return true;
  }

  /** A filter of versions. */
  @FunctionalInterface
  public interface Keeps {
    /** Whether a version stays in memory. */
    boolean keeps(Version version);
  }

  /** Drops the versions of all rows that are not kept. The caller holds no latch. */
  public void keep(Keeps keeps) {
    chains.forEach((key, chain) -> {
      if (!keepsAll(chain, keeps)) { // most rows keep everything, and need no lock for that
        swept.add(take(key, keeps));
      }
    });
  }

  /** Drops the versions of a row that are not kept. */
  public void keep(int table, byte[] key, Keeps keeps) {
    swept.add(take(new Key(table, key), keeps));
  }

  /** Removes versions of a row from memory; returns how many. */
  private int take(Key key, Keeps keeps) {
    long[] freed = {0};
    int[] count = {0};
    chains.computeIfPresent(
        key,
        (k, chain) -> {
          Version rest = rest(chain, keeps);
          count[0] = chain.length() - Version.lengthOf(rest);
          freed[0] = bytes(chain) - bytes(rest) + (rest == null ? key.heapBytes() : 0);
          return rest;
        });
    if (freed[0] > 0) {
      memory.giveBack(freed[0]);
    }
    return count[0];
  }

  private static boolean keepsAll(Version chain, Keeps keeps) {
    for (Version version = chain; version != null; version = version.older()) {
      if (!keeps.keeps(version)) {
        return false;
      }
    }
    return true;
  }

  private static @Nullable Version rest(Version chain, Keeps keeps) {
    List<Version> kept = new ArrayList<>();
    for (Version version = chain; version != null; version = version.older()) {
      if (keeps.keeps(version)) {
        kept.add(version);
      }
    }
    Version rest = null;
    for (int i = kept.size() - 1; i >= 0; i--) {
      rest = kept.get(i).before(rest);
    }
    return rest;
  }

  private static long bytes(@Nullable Version chain) {
    long bytes = 0;
    for (Version version = chain; version != null; version = version.older()) {
      bytes += version.bytes();
    }
    return bytes;
  }

  /**
   * Frees a part of the budget; called by the spiller. Returns false if there was nothing to free.
   */
  private boolean spill() {
    SnapshotSet needed = snapshots.get();
    prune(needed);
    if (!memory.isOverBudget()) {
      return true;
    }
    List<Chain> chosen = choose(memory.budget() / SPILLED_SHARE);
    if (chosen.isEmpty()) {
      return false;
    }
    Object begun = watch.begins();
    long count = chosen.stream().mapToLong(chain -> chain.newest().length()).sum();
    // One after the other: copies of all of them would be as large as the memory to be freed.
    runs.add(chosen.stream().flatMap(VolatileStore::spilled), count, needed);
    // Only now, else a reader would find them nowhere. Versions that arrived meanwhile are newer
    // and stay.
    for (Chain chain : chosen) {
      long newest = chain.newest().supersededAt();
      take(chain.key(), version -> version.supersededAt() > newest);
    }
    spilled.add(count);
    watch.ended(begun, count);
    return true;
  }

  private static Stream<Version> versions(Chain chain) {
    return Stream.iterate(chain.newest(), Objects::nonNull, Version::older);
  }

  private static Stream<SpilledVersion> spilled(Chain chain) {
    byte[] row = SpilledVersion.row(chain.key().table(), chain.key().bytes());
    return versions(chain)
        .map(version ->
            new SpilledVersion(
                row,
                version.committedAt(),
                version.supersededAt(),
                version.flags(),
                version.value()));
  }

  /** Rows whose versions together take that much memory, in order. */
  private List<Chain> choose(long bytes) {
    List<Chain> chosen = new ArrayList<>();
    long left = bytes;
    for (Map.Entry<Key, Version> entry : chains.entrySet()) {
      if (left <= 0) {
        break;
      }
      chosen.add(new Chain(entry.getKey(), entry.getValue()));
      left -= entry.getKey().heapBytes() + bytes(entry.getValue());
    }
    chosen.sort(Comparator.comparing(Chain::key, Key.ORDER));
    return chosen;
  }

  /**
   * Merges several runs into one; called by the spiller. Returns false if there was nothing to
   * merge.
   */
  private boolean merge(Runnable between) {
    return runs.merge(snapshots.get(), between);
  }

  /** Receives versions. */
  @FunctionalInterface
  public interface Visitor {
    /** Receives a version of a row. */
    void version(int table, byte[] key, Version version);
  }

  /**
   * Visits the large values of this moment that some snapshot of the set certainly needs.
   *
   * @param visitor receives those in memory at once; it may receive a value more than once
   * @return visits the others, on a thread of the engine, now or later; must be closed
   */
  public Later forEachLargeValue(SnapshotSet needed, Visitor visitor) {
    chains.forEach((key, chain) -> {
      for (Version version = chain; version != null; version = version.older()) {
        if (isLargeAndNeeded(
            version.committedAt(), version.supersededAt(), version.flags(), needed)) {
          visitor.version(key.table(), key.bytes(), version);
        }
      }
    });
    return new Later(runs.holdLargeValues(), needed, visitor); // first memory, then the runs
  }

  private static boolean isLargeAndNeeded(
      long committedAt, long supersededAt, int flags, SnapshotSet needed) {
    // Above the bound a snapshot is only possible. Here a snapshot must exist.
    return (flags & VersionFlags.OVERFLOW) != 0
        && needed.needs(committedAt, Math.min(supersededAt, needed.bound()));
  }

  /** The large values of versions in runs, as of one moment. */
  public static final class Later implements AutoCloseable {
    private final VersionRuns.Held runs;
    private final SnapshotSet needed;
    private final Visitor visitor;

    private Later(VersionRuns.Held runs, SnapshotSet needed, Visitor visitor) {
      this.runs = runs;
      this.needed = needed;
      this.visitor = visitor;
    }

    /** Passes them to the visitor; only once. */
    public void show() {
      runs.forEach(spilled -> {
        Version version = versionOf(spilled);
        if (version != null
            && isLargeAndNeeded(
                spilled.committedAt(), spilled.supersededAt(), spilled.flags(), needed)) {
          visitor.version(spilled.table(), spilled.key(), version);
        }
      });
    }

    @Override
    public void close() {
      runs.close();
    }
  }

  /** The budget of versions, in bytes of memory. */
  public long budget() {
    return memory.budget();
  }

  /**
   * Whether there are no versions anywhere, and no keys of departed rows.
   *
   * <p>One counter decides: it is incremented before a version is added, and decremented after one
   * was removed. The size of a concurrent map would not do. It is a sum of several numbers, which
   * can be 0 although there are rows, while other rows come and go.
   */
  public boolean isEmpty() {
    return memory.used() == 0;
  }

  /** How many rows have versions in memory. */
  public int rows() {
    return chains.size();
  }

  /** Bytes of memory that versions take, and the index of the runs. */
  public long memoryBytes() {
    return memory.used();
  }

  /** Runs on disk. */
  public int runs() {
    return runs.count();
  }

  /** Bytes on disk. */
  public long runBytes() {
    return runs.bytes();
  }

  /** The versions of a row that are in memory, for tests. */
  @Nullable Version newest(int table, byte[] key) {
    return chains.get(new Key(table, key));
  }

  /** How many versions have been added since the store was opened. */
  public long added() {
    return added.sum();
  }

  /** How many of them were dropped when another version of their row arrived. */
  public long pruned() {
    return pruned.sum();
  }

  /** How many were dropped by passes. */
  public long swept() {
    return swept.sum();
  }

  /** The largest number of versions that one row had in memory. */
  public long longestChain() {
    return longest.get();
  }

  /** The largest excess of a row's versions over the expected number. */
  public long chainExcess() {
    return garbage.chainExcess();
  }

  /**
   * How many versions in memory only the oldest snapshot needed when the cleaner last counted them.
   *
   * @param oldest that snapshot
   */
  public long keptFor(long oldest) {
    return garbage.keptFor(oldest);
  }

  /** Whether {@link #prune} may find something now. */
  public boolean wantsPrune(SnapshotSet needed) {
    return garbage.wantsPass(this, needed)
        || departed.mayForgetTables(needed.horizon())
        || runs.hasUnneeded(needed)
        || runs.wantsMerge(needed);
  }

  /** Whether versions are about to go to a file. */
  boolean isOverBudget() {
    return memory.isOverBudget();
  }

  /** How many versions have been written to runs. */
  public long spilled() {
    return spilled.sum();
  }

  /** Ends the spiller. No thread may use the store any more. */
  @Override
  public void close() {
    spiller.close();
  }
}

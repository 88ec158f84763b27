package org.revenantdb.engine.txn;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.revenantdb.gc.ActiveSnapshots;
import org.revenantdb.gc.SnapshotSet;
import org.revenantdb.recovery.restart.AbortedTransactions;

/**
 * R21: behind an old snapshot the ids that it does not tell apart become one value, and every
 * snapshot sees what it saw before (docs/protocols.md §38).
 */
@Tag("stress")
class CollapsedIdsTest {
  private static final int CHUNK = 4096;
  private static final int STEPS = Boolean.getBoolean("revenant.long") ? 120_000 : 50_000;

  /** The last id of a former life: the first chunk has ids of both. */
  private static final long FORMER = CHUNK + 10;

  private final AbortedTransactions aborted = new AbortedTransactions();
  private final TransactionTable table = new TransactionTable(aborted, FORMER);
  private final AtomicLong clock = new AtomicLong(100);
  private final ActiveSnapshots snapshots = new ActiveSnapshots();

  /** Commits until an id is the last of its chunk, each at the next moment; returns the ids. */
  private List<Long> commitToTheEndOfAChunk() {
    List<Long> ids = new ArrayList<>();
    do {
      ids.add(commit());
    } while ((ids.getLast() + 1) % CHUNK != 0);
    return ids;
  }

  private long commit() {
    long id = table.enter();
    commit(id);
    return id;
  }

  private long commit(long id) {
    table.committing(id);
    long lsn = clock.addAndGet(10);
    table.committed(id, lsn);
    return lsn;
  }

  private int open() {
    return snapshots.open(clock::get);
  }

  private void forget() {
    table.forget(snapshots.snapshots(clock::get), clock.get());
  }

  private boolean sees(long snapshot, long id) {
    long status = table.status(id);
    return TransactionTable.isCommitted(status) && status <= snapshot;
  }

  @Test
  void R21_ids_that_no_snapshot_tells_apart_become_one_value() {
    int old = open();
    List<Long> ids = commitToTheEndOfAChunk();
    ids.addAll(commitToTheEndOfAChunk());
    long highest = clock.get();
    commit();
    forget();
    assertEquals(2, table.size(), "the value of two chunks, and the chunk of now");
    for (long id : ids) {
      assertEquals(highest, table.status(id));
      assertFalse(sees(snapshots.snapshot(old), id));
      assertTrue(sees(clock.get(), id));
    }
    assertEquals(TransactionTable.COMMITTED_FOR_ALL, table.status(FORMER), "of a former life");
    assertEquals(TransactionTable.COMMITTED_FOR_ALL, table.status(CHUNK - 1), "the same");
    assertTrue(table.mayForget());
    snapshots.close(old);
    forget();
    assertEquals(1, table.size());
    assertFalse(table.mayForget());
    assertEquals(TransactionTable.COMMITTED_FOR_ALL, table.status(ids.getFirst()));
  }

  @Test
  void R21_behind_one_old_snapshot_the_table_does_not_grow() {
    open();
    for (int chunks = 0; chunks < 100; chunks++) {
      commitToTheEndOfAChunk();
      forget();
      assertTrue(table.size() <= 2, () -> table.size() + " after " + table.highestId() + " ids");
    }
  }

  /** Threads have blocks of ids; these have ended, or sleep, after the first of theirs. */
  @Test
  void R21_ids_that_nobody_gets_any_more_hold_no_chunk_up() throws Exception {
    open();
    for (int chunks = 0; chunks < 20; chunks++) {
      for (int threads = 0; threads < 10; threads++) {
        FutureTask<Long> one = new FutureTask<>(this::commit);
        Thread.ofPlatform().start(one);
        one.get();
      }
      commitToTheEndOfAChunk();
      commit(); // so that a block of the next one is given out
      forget();
      assertTrue(table.size() <= 2, () -> table.size() + " after " + table.highestId() + " ids");
    }
    assertArrayEquals(new long[0], table.writing());
    assertArrayEquals(new long[0], table.oldestActive(1));
  }

  @Test
  void R21_a_chunk_whose_ids_a_snapshot_tells_apart_keeps_them_until_it_closes() {
    int old = open();
    List<Long> first = commitToTheEndOfAChunk();
    long before = commit();
    int between = open();
    long after = commit();
    commitToTheEndOfAChunk();
    List<Long> third = commitToTheEndOfAChunk();
    forget();
    assertEquals(3, table.size());
    assertTrue(sees(snapshots.snapshot(between), first.getLast()));
    assertTrue(sees(snapshots.snapshot(between), before));
    assertFalse(sees(snapshots.snapshot(between), after));
    assertFalse(sees(snapshots.snapshot(between), third.getFirst()));
    assertFalse(sees(snapshots.snapshot(old), first.getFirst()));
    snapshots.close(between);
    forget();
    assertEquals(1, table.size(), "all of them in one");
    assertEquals(clock.get(), table.status(before));
    assertFalse(sees(snapshots.snapshot(old), before));
  }

  /** The chunks before and behind it are one value each: a snapshot lies between those. */
  @Test
  void R21_chunks_are_not_joined_where_a_snapshot_lies_between_them() {
    int old = open();
    List<Long> first = commitToTheEndOfAChunk();
    int between = open();
    List<Long> second = commitToTheEndOfAChunk();
    forget();
    assertEquals(2, table.size());
    assertTrue(sees(snapshots.snapshot(between), first.getFirst()));
    assertFalse(sees(snapshots.snapshot(between), second.getFirst()));
    assertFalse(sees(snapshots.snapshot(old), first.getFirst()));
  }

  /** The ids of the first chunk are committed last, behind a snapshot that sees the second. */
  @Test
  void R21_chunks_that_were_committed_in_the_other_order_are_not_joined_either() {
    int old = open();
    commitToTheEndOfAChunk();
    List<Long> late = new ArrayList<>();
    for (int i = 0; i < CHUNK; i++) {
      late.add(table.enter());
    }
    List<Long> early = commitToTheEndOfAChunk();
    int between = open();
    late.forEach(this::commit);
    forget();
    assertTrue(sees(snapshots.snapshot(between), early.getFirst()));
    assertFalse(sees(snapshots.snapshot(between), late.getFirst()));
    assertFalse(sees(snapshots.snapshot(old), early.getFirst()));
    snapshots.close(between);
    forget();
    assertEquals(1, table.size());
  }

  /** A commit on which a reader's answer depends has its own LSN until that is durable (R10). */
  @Test
  void R21_ids_whose_commits_are_not_durable_are_told_apart() {
    open();
    List<Long> ids = commitToTheEndOfAChunk();
    table.forget(snapshots.snapshots(clock::get), clock.get() - 1);
    assertEquals(110, table.status(ids.getFirst()));
    forget();
    assertEquals(clock.get(), table.status(ids.getFirst()));
  }

  /** The set was computed before a snapshot was opened that lies between two of the commits. */
  @Test
  void R21_a_stale_set_does_not_decide_what_was_committed_after_it() {
    open();
    SnapshotSet stale = snapshots.snapshots(clock::get);
    long before = commit();
    int later = open();
    long after = commit();
    commitToTheEndOfAChunk();
    table.forget(stale, clock.get());
    assertTrue(sees(snapshots.snapshot(later), before));
    assertFalse(sees(snapshots.snapshot(later), after));
  }

  @Test
  void R21_one_that_is_aborted_is_so_until_it_has_left_the_map() {
    open();
    long id = table.enter();
    aborted.add(id);
    table.aborted(id);
    long putBack = table.enter();
    table.aborted(putBack); // no row of it is left, so nobody asks
    commitToTheEndOfAChunk();
    forget();
    assertEquals(1, table.size());
    assertEquals(TransactionTable.ABORTED, table.status(id));
  }

  @Test
  void R21_one_that_is_active_keeps_its_own_chunk_and_no_other() {
    int old = open();
    commitToTheEndOfAChunk();
    long active = table.enter();
    commitToTheEndOfAChunk();
    List<Long> third = commitToTheEndOfAChunk();
    forget();
    assertEquals(3, table.size());
    assertEquals(TransactionTable.ACTIVE, table.status(active));
    assertArrayEquals(new long[] {active}, table.writing());
    assertArrayEquals(new long[] {active}, table.oldestActive(5));
    assertEquals(clock.get(), table.status(third.getFirst()));
    long lsn = commit(active);
    assertEquals(lsn, table.status(active));
    forget();
    assertEquals(1, table.size());
    assertFalse(sees(snapshots.snapshot(old), active));
  }

  /**
   * A prepared one is committed before a snapshot, the others of its chunk behind it. Its own word
   * goes when all see it; then it must not get the value of the others.
   */
  @Test
  void R21_one_that_was_prepared_is_not_given_the_value_of_later_ones() {
    int old = open();
    long id = table.enter();
    table.prepare(id);
    table.prepared(id);
    commit(id);
    int reader = open();
    commitToTheEndOfAChunk();
    snapshots.close(old);
    forget();
    assertTrue(sees(snapshots.snapshot(reader), id));
    forget(); // its word has gone
    assertTrue(sees(snapshots.snapshot(reader), id));
  }

  @Test
  void R21_one_that_is_prepared_and_undecided_keeps_its_chunk_while_others_are_not_for_all() {
    int old = open();
    long id = table.enter();
    table.prepare(id);
    table.prepared(id);
    commitToTheEndOfAChunk();
    commitToTheEndOfAChunk();
    forget();
    assertEquals(2, table.size());
    int reader = open();
    commit(id);
    forget();
    assertFalse(sees(snapshots.snapshot(reader), id));
    assertFalse(sees(snapshots.snapshot(old), id));
    assertTrue(sees(clock.get(), id));
  }

  /**
   * Against a model, with any order of commits, ends of snapshots, durable ends and stale looks:
   * every id is visible to the same snapshots as before, also by a value that a reader has kept.
   */
  @Test
  void R21_every_snapshot_sees_what_it_saw_whatever_is_collapsed() {
    long seed = Long.getLong("revenant.seed", new Random().nextLong());
    System.out.println("CollapsedIdsTest -Drevenant.seed=" + seed);
    Random random = new Random(seed);
    Map<Long, Long> commits = new HashMap<>(); // 0: aborted
    Map<Long, Long> kept = new HashMap<>();
    List<Long> active = new ArrayList<>();
    List<Long> prepared = new ArrayList<>();
    Set<Long> oncePrepared = new HashSet<>();
    List<Integer> open = new ArrayList<>();
    SnapshotSet set = snapshots.snapshots(clock::get);
    long durable = clock.get();
    long forgotten = 0;
    for (int step = 0; step < STEPS; step++) {
      active.add(table.enter());
      while (active.size() > 40 || (!active.isEmpty() && random.nextInt(3) == 0)) {
        long id = active.remove(random.nextInt(active.size()));
        int kind = random.nextInt(200);
        if (kind < 3) {
          aborted.add(id);
          table.aborted(id);
          commits.put(id, 0L);
        } else if (kind == 3) {
          table.prepare(id);
          table.prepared(id);
          prepared.add(id);
          oncePrepared.add(id);
        } else {
          commits.put(id, commit(id));
        }
      }
      if (!prepared.isEmpty() && random.nextInt(300) == 0) {
        long id = prepared.remove(random.nextInt(prepared.size()));
        commits.put(id, commit(id));
      }
      if (random.nextInt(9_000) == 0) {
        open.add(open());
      }
      if (!open.isEmpty() && random.nextInt(12_000) == 0) {
        snapshots.close(open.remove(random.nextInt(open.size())));
      }
      if (random.nextInt(1_000) == 0) {
        set = snapshots.snapshots(clock::get);
      }
      if (random.nextInt(500) == 0) {
        durable = Math.max(durable, clock.get() - random.nextInt(5_000));
      }
      if (random.nextInt(1_500) == 0) {
        table.forget(set, durable);
        forgotten = Math.max(forgotten, Math.min(set.horizon(), durable));
      }
      if (step % 10_000 == 0) {
        compare(commits, kept, open, durable, random);
      }
    }
    prepared.forEach(id -> commits.put(id, commit(id)));
    active.forEach(id -> commits.put(id, commit(id)));
    forget();
    compare(commits, kept, open, clock.get(), random);
    int most = mostParts(commits, oncePrepared, open, forgotten);
    assertTrue(table.size() <= most, () -> table.size() + " where " + most + " suffice");
  }

  /**
   * The parts of a table that has forgotten what it may: one for each chunk that an open snapshot
   * tells apart, one for neighbours that none does, and the chunk of now.
   *
   * @param forgotten commits up to here were visible to all when it forgot before
   */
  private int mostParts(
      Map<Long, Long> commits, Set<Long> oncePrepared, List<Integer> open, long forgotten) {
    long[] readers = open.stream().mapToLong(snapshots::snapshot).sorted().toArray();
    TreeMap<Long, Set<Long>> sides = new TreeMap<>(); // chunk -> snapshots below its commits
    Set<Long> isForAll = new HashSet<>(); // chunks; a prepared one has a word of its own
    commits.forEach((id, lsn) -> {
      long chunk = id / CHUNK;
      isForAll.add(chunk);
      Set<Long> ofChunk = sides.computeIfAbsent(chunk, none -> new HashSet<>());
      if (lsn > 0) {
        ofChunk.add(LongStream.of(readers).filter(reader -> reader < lsn).count());
      }
      if (lsn > 0 && lsn <= forgotten && oncePrepared.contains(id)) {
        ofChunk.add(-1L); // its word has gone: the chunk waits until the others are for all
      }
    });
    long horizon = readers.length == 0 ? clock.get() : readers[0];
    commits.forEach((id, lsn) -> {
      if (lsn > horizon && !oncePrepared.contains(id)) {
        isForAll.remove(id / CHUNK);
      }
    });
    sides.remove(table.highestId() / CHUNK);
    sides.replaceAll((chunk, side) -> isForAll.contains(chunk) ? Set.of(0L) : side);
    int parts = 1;
    Set<Long> last = Set.of(0L); // what is before the first is for all
    for (Set<Long> side : sides.values()) {
      parts += side.size() == 1 && side.equals(last) ? 0 : 1;
      last = side;
    }
    return parts;
  }

  private void compare(
      Map<Long, Long> commits,
      Map<Long, Long> kept,
      List<Integer> open,
      long durable,
      Random random) {
    List<Long> readers = new ArrayList<>(List.of(clock.get()));
    open.forEach(slot -> readers.add(snapshots.snapshot(slot)));
    new TreeMap<>(commits)
        .forEach((id, lsn) -> {
          long status = table.status(id);
          assertEquals(
              lsn == 0, status == TransactionTable.ABORTED, "whether it was aborted: " + id);
          if (lsn == 0) {
            return;
          }
          assertTrue(
              status == lsn || lsn <= durable, "who was told " + id + " waits for its commit");
          for (long reader : readers) {
            assertEquals(
                lsn <= reader, status <= reader, id + " at " + lsn + ", seen by " + reader);
            long before = kept.getOrDefault(id, lsn);
            assertEquals(lsn <= reader, before <= reader, id + " by a value of former times");
          }
          if (random.nextInt(20) == 0) {
            kept.put(id, status);
          }
        });
  }

  /** A reader looks up ids while their chunks lose their words. */
  @Test
  void R21_a_look_up_beside_the_collapse_sees_the_words_or_the_value() throws Exception {
    int old = open();
    long snapshot = snapshots.snapshot(old);
    AtomicBoolean ended = new AtomicBoolean();
    AtomicLong done = new AtomicLong(FORMER);
    AtomicLong looks = new AtomicLong();
    FutureTask<Void> reader =
        new FutureTask<>(() -> {
          while (!ended.get()) {
            long last = done.get();
            for (long id = Math.max(FORMER + 1, last - 3L * CHUNK); id <= last; id++) {
              long status = table.status(id);
              assertTrue(status > snapshot, () -> "the old snapshot would see " + status);
              looks.incrementAndGet();
            }
          }
          return null;
        });
    Thread.ofPlatform().daemon().start(reader);
    // Until it has looked, however late it gets a processor.
    for (int chunks = 0; chunks < 150 || (looks.get() == 0 && !reader.isDone()); chunks++) {
      List<Long> ids = commitToTheEndOfAChunk();
      done.set(ids.getLast());
      forget();
    }
    ended.set(true);
    reader.get();
  }
}

package org.revenantdb.latch;

import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Records which thread holds which latch, and finds holds that break the rules of use. It
 * implements {@link LatchDebug}, which documents the rules.
 *
 * <p>Threads: everything may be called by any thread. One lock guards everything: this class is for
 * finding mistakes, not for production.
 */
final class HoldRegistry {
  /*
   * Holds       A hold is entered under the thread that acquired it. The thread that releases the latch in that mode
   *             removes a hold: its own first; if it has none, one that was given away; else the oldest. So an
   *             exclusive hold, and a shared hold that is the only one, are always found. Of several shared holds the
   *             wrong one may be removed. Then the remaining ones are no longer certain, and an uncertain hold breaks
   *             no rule.
   *
   * Order       of the hooks: `released` is called before the latch is released, `acquired` after it was acquired. So
   *             the exclusive holds of a latch do not overlap in the registry, just as they do not overlap in the
   *             latch.
   *
   * Invariants  I1 a hold is in the list of its latch and in that of its thread, or in neither. I2 a latch without
   *             holds and edges is not in the map. I3 a broken rule changes nothing in the registry.
   *
   * Memory      Latches are held weakly. A hold of a collected latch goes to lost, and counts for no rule any more.
   *             A thread is held as long as its holds are.
   */

  /** At most this many holds of collected latches are remembered. */
  private static final int MAX_LOST = 1_000;

  private final PatientLock lock = new PatientLock();
  private final ReferenceQueue<Object> collected = new ReferenceQueue<>();
  private final Map<TrackedLatch, TrackedLatch> latches = new HashMap<>();
  private final Map<Thread, List<TrackedLatch.Held>> byThread = new HashMap<>();
  private final ObservedOrder order = new ObservedOrder();
  private final List<TrackedLatch.Held> lost = new ArrayList<>();

  /**
   * Checks the rules before a latch is acquired.
   *
   * @param waits whether the caller is ready to wait, even if only for a limited time
   */
  void acquiring(Object latch, boolean waits, @Nullable WaitStatistics statistics) {
    if (!waits) {
      return;
    }
    lock.lock();
    try {
      forgetCollected();
      List<TrackedLatch.Held> mine =
          byThread.getOrDefault(Thread.currentThread(), List.of()).stream()
              .filter(held -> held.certain)
              .toList();
      if (!mine.isEmpty()) {
        String name = TrackedLatch.nameOf(latch, statistics);
        OptionalInt rank = rankOf(statistics);
        checkRecursion(latch, name, mine);
        if (rank.isPresent()) {
          checkRank(name, rank.getAsInt(), mine);
        } else {
          checkOrder(latch, name, mine);
        }
      }
    } finally {
      lock.unlock();
    }
  }

  /** Enters a hold of the calling thread. */
  void acquired(Object latch, boolean shared, @Nullable WaitStatistics statistics) {
    Place place = new Place();
    lock.lock();
    try {
      forgetCollected();
      Thread thread = Thread.currentThread();
      String name = TrackedLatch.nameOf(latch, statistics);
      TrackedLatch tracked = track(latch, name);
      TrackedLatch.Held held =
          new TrackedLatch.Held(tracked, name, thread, shared, rankOf(statistics), place);
      tracked.holds.add(held);
      byThread.computeIfAbsent(thread, t -> new ArrayList<>()).add(held);
    } finally {
      lock.unlock();
    }
  }

  /** Removes a hold, whichever thread acquired it. */
  void released(Object latch, boolean shared) {
    lock.lock();
    try {
      forgetCollected();
      TrackedLatch tracked = latches.get(TrackedLatch.probe(latch));
      TrackedLatch.Held held = tracked == null ? null : toRelease(tracked, shared);
      if (held != null) {
        remove(held);
      }
    } finally {
      lock.unlock();
      Reference.reachabilityFence(latch); // else it might be collected just before it is found
    }
  }

  /** Changes the mode of a hold. */
  void changed(Object latch, boolean nowShared) {
    lock.lock();
    try {
      TrackedLatch tracked = latches.get(TrackedLatch.probe(latch));
      TrackedLatch.Held held = tracked == null ? null : toRelease(tracked, !nowShared);
      if (held != null) {
        held.shared = nowShared;
      }
    } finally {
      lock.unlock();
    }
  }

  /** The calling thread gives its hold away; another thread will release it. */
  void handedOver(Object latch) {
    lock.lock();
    try {
      for (TrackedLatch.Held held : byThread.getOrDefault(Thread.currentThread(), List.of())) {
        if (held.latch.refersTo(latch) && held.certain) {
          held.certain = false;
          return;
        }
      }
    } finally {
      lock.unlock();
    }
  }

  /** All holds, oldest first within a latch. */
  List<LatchDebug.Hold> held() {
    return holdsThat(held -> true);
  }

  /** The holds whose thread has ended, and those whose latch was collected. */
  List<LatchDebug.Hold> abandoned() {
    lock.lock();
    try {
      List<LatchDebug.Hold> result =
          new ArrayList<>(holdsThat(held -> held.thread.getState() == Thread.State.TERMINATED));
      for (TrackedLatch.Held held : lost) {
        result.add(describe(held, /* collected= */ true));
      }
      return List.copyOf(result);
    } finally {
      lock.unlock();
    }
  }

  /** For tests: how many latches are remembered. */
  int tracked() {
    lock.lock();
    try {
      forgetCollected();
      return latches.size();
    } finally {
      lock.unlock();
    }
  }

  /** For tests: the number of pairs in the observed order. */
  int observed() {
    lock.lock();
    try {
      forgetCollected();
      return order.edges();
    } finally {
      lock.unlock();
    }
  }

  private static void checkRecursion(Object latch, String name, List<TrackedLatch.Held> mine) {
    for (TrackedLatch.Held held : mine) {
      if (held.latch.refersTo(latch)) {
        throw violation(
            "%s is waited for by the thread that holds it %s: no mode is reentrant"
                .formatted(name, held.shared ? "shared" : "exclusively"),
            held);
      }
    }
  }

  private static void checkRank(String name, int rank, List<TrackedLatch.Held> mine) {
    for (TrackedLatch.Held held : mine) {
      if (held.rank.isPresent() && held.rank.getAsInt() > rank) {
        throw violation(
            "%s of rank %d is waited for while %s of rank %d is held: lower ranks come first"
                .formatted(name, rank, held.name, held.rank.getAsInt()),
            held);
      }
    }
  }

  private void checkOrder(Object latch, String name, List<TrackedLatch.Held> mine) {
    List<TrackedLatch.Held> unranked = mine.stream().filter(h -> h.rank.isEmpty()).toList();
    if (unranked.isEmpty()) {
      return;
    }
    Thread thread = Thread.currentThread();
    TrackedLatch known = latches.get(TrackedLatch.probe(latch));
    for (TrackedLatch.Held held : unranked) {
      List<ObservedOrder.Edge> contradiction =
          known == null ? null : order.contradiction(held.latch, known, thread);
      if (contradiction != null) {
        throw violation(
            "%s is waited for while %s is held; earlier they were acquired in the opposite order"
                .formatted(name, held.name),
            held,
            contradiction);
      }
    }
    Place place = new Place();
    TrackedLatch wanted = track(latch, name);
    for (TrackedLatch.Held held : unranked) {
      order.observe(held.latch, wanted, thread, place);
    }
    forgetIfPossible(wanted); // if the order is full
  }

  private static LatchUsageException violation(
      String what, TrackedLatch.Held held, List<ObservedOrder.Edge> before) {
    StringBuilder text = new StringBuilder(what);
    text.append("\nnow:\n").append(new Place());
    text.append(held.name).append(" was acquired:\n").append(held.place);
    for (ObservedOrder.Edge edge : before) {
      text.append("before, ").append(edge.names).append(":\n").append(edge.place);
    }
    return new LatchUsageException(text.toString().stripTrailing());
  }

  private static LatchUsageException violation(String what, TrackedLatch.Held held) {
    return violation(what, held, List.of());
  }

  private TrackedLatch track(Object latch, String name) {
    TrackedLatch known = latches.get(TrackedLatch.probe(latch));
    if (known != null) {
      return known;
    }
    TrackedLatch tracked = new TrackedLatch(latch, name, collected);
    latches.put(tracked, tracked);
    return tracked;
  }

  /** The calling thread's own hold; else one that was given away; else the oldest. */
  private static TrackedLatch.@Nullable Held toRelease(TrackedLatch latch, boolean shared) {
    List<TrackedLatch.Held> candidates =
        latch.holds.stream().filter(held -> held.shared == shared).toList();
    for (TrackedLatch.Held held : candidates) {
      if (held.thread.equals(Thread.currentThread())) {
        return held;
      }
    }
    for (TrackedLatch.Held held : candidates) {
      if (!held.certain) {
        return held;
      }
    }
    if (candidates.isEmpty()) {
      return null;
    }
    for (TrackedLatch.Held held : candidates) {
      held.certain = false;
    }
    return candidates.getFirst();
  }

  private void remove(TrackedLatch.Held held) {
    held.latch.holds.remove(held);
    removeFromThread(held);
    forgetIfPossible(held.latch);
  }

  private void removeFromThread(TrackedLatch.Held held) {
    List<TrackedLatch.Held> ofThread = byThread.get(held.thread);
    if (ofThread != null) {
      ofThread.remove(held);
      if (ofThread.isEmpty()) {
        byThread.remove(held.thread);
      }
    }
  }

  private void forgetIfPossible(TrackedLatch latch) {
    if (latch.isForgettable()) {
      latches.remove(latch);
    }
  }

  private void forgetCollected() {
    for (Reference<?> gone = collected.poll(); gone != null; gone = collected.poll()) {
      TrackedLatch latch = (TrackedLatch) gone;
      latches.remove(latch);
      for (TrackedLatch.Held held : latch.holds) {
        removeFromThread(held);
        if (lost.size() < MAX_LOST) {
          lost.add(held);
        }
      }
      order.remove(latch).forEach(this::forgetIfPossible);
    }
  }

  private List<LatchDebug.Hold> holdsThat(Predicate<TrackedLatch.Held> wanted) {
    lock.lock();
    try {
      forgetCollected();
      return latches.keySet().stream()
          .flatMap(latch -> latch.holds.stream())
          .filter(wanted)
          .map(held -> describe(held, /* collected= */ false))
          .toList();
    } finally {
      lock.unlock();
    }
  }

  private static LatchDebug.Hold describe(TrackedLatch.Held held, boolean collected) {
    return new LatchDebug.Hold(
        held.name,
        held.shared,
        held.thread,
        held.place.time,
        held.place.stack(),
        collected,
        held.certain);
  }

  private static OptionalInt rankOf(@Nullable WaitStatistics statistics) {
    return statistics == null ? OptionalInt.empty() : statistics.rank();
  }
}

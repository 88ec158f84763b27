package org.revenantdb.chaos.power;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.NavigableSet;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.revenantdb.chaos.disk.DiskImage;
import org.revenantdb.chaos.power.Losses.Loss;
import org.revenantdb.chaos.power.NameChange.Entry;
import org.revenantdb.chaos.profile.DiskRules.Names;
import org.revenantdb.chaos.trace.Operation;

/**
 * Changes of entries that are not yet durable, and the operations that make them durable.
 *
 * <p>Threads: one at a time.
 */
final class PendingNames {
  /*
   * AT_ONCE      nothing is ever pending.
   *
   * JOURNALED    `journal` is the place up to which everything in the journal's list is durable.
   *              `listed` has for each node the places of its changes in the list that a force of
   *              it covers: creation, sizes and, for a directory, entries. `named` has those that
   *              only a force with metadata covers: other names of the node itself. A force with
   *              `since` = s moves the journal to the last of them before s. `grown` has the sizes
   *              that are not in the list (their bytes come first), with the size before. A force
   *              covers all of them before s, a synchronous write only the one by which it can be
   *              read. A state has the changes before a cutoff, which lies behind `journal`.
   *
   * INDEPENDENT  A force of a directory covers the changes in it. A change that is there, or
   *              durable, includes the earlier ones of its entries. After a failed force the
   *              changes that it should have written are stuck: only a later change of the same
   *              entry includes them.
   */

  private final Names rules;
  private final List<NameChange> changes = new ArrayList<>();
  private final Set<NameChange> stuck = new HashSet<>();
  private final Map<Integer, NavigableSet<Long>> listed = new HashMap<>();
  private final Map<Integer, NavigableSet<Long>> named = new HashMap<>();
  private final Map<Integer, NavigableMap<Long, Long>> grown = new HashMap<>();
  private long journal = Long.MIN_VALUE;

  PendingNames(Names rules) {
    this.rules = rules;
  }

  /** The changes that can be lost, in order. */
  List<NameChange> changes() {
    return changes;
  }

  /** The place up to which the journal's list is durable. */
  long journal() {
    return journal;
  }

  /** Adds an operation on names. */
  void change(Operation operation, int node, boolean directory, DiskImage base) {
    List<NameChange> all =
        NameChange.of(operation, /* halves= */ rules == Names.INDEPENDENT && !directory);
    if (rules == Names.AT_ONCE) {
      all.forEach(change -> change.applyTo(base));
      return;
    }
    changes.addAll(all);
    for (NameChange change : all) {
      change.effects().forEach(effect -> note(listed, effect.entry().directory(), change.seq()));
    }
    note(operation instanceof Operation.Create ? listed : named, node, operation.seq());
  }

  /** Adds a change of a file's size, which is in the journal from then on. */
  void resized(int node, long seq) {
    note(listed, node, seq);
  }

  /** Adds a growth of a file, which is in the journal once the bytes are written. */
  void grown(int node, long seq, long sizeBefore) {
    if (rules == Names.JOURNALED) {
      grown.computeIfAbsent(node, _ -> new TreeMap<>()).put(seq, sizeBefore);
    }
  }

  private void note(Map<Integer, NavigableSet<Long>> places, int node, long seq) {
    if (rules == Names.JOURNALED) {
      places.computeIfAbsent(node, _ -> new TreeSet<>()).add(seq);
    }
  }

  /**
   * A force succeeded.
   *
   * @param needed for one write: the size that a file must have for it
   * @return whether names became durable
   */
  boolean force(Operation.Force force, long needed, DiskImage base) {
    int before = changes.size();
    if (rules == Names.JOURNALED) {
      advance(listed, force);
      advanceGrown(force, needed);
      if (force.metadata()) {
        advance(named, force);
      }
      changes.stream().filter(change -> change.seq() <= journal).forEach(c -> c.applyTo(base));
      changes.removeIf(change -> change.seq() <= journal);
    } else if (base.isDirectory(force.node())) {
      forceDirectory(force, base);
    }
    return changes.size() < before;
  }

  private void advance(Map<Integer, NavigableSet<Long>> places, Operation.Force force) {
    NavigableSet<Long> own = places.get(force.node());
    Long last = own == null ? null : own.lower(force.since());
    if (own != null && last != null) {
      journal = Math.max(journal, last);
      own.headSet(last, true).clear();
    }
  }

  private void advanceGrown(Operation.Force force, long needed) {
    NavigableMap<Long, Long> own = grown.getOrDefault(force.node(), new TreeMap<>());
    Long last =
        own.headMap(force.since(), false).descendingMap().entrySet().stream()
            .filter(entry -> !force.isOfOneWrite() || entry.getValue() < needed)
            .map(Map.Entry::getKey)
            .findFirst()
            .orElse(null);
    if (last != null) {
      journal = Math.max(journal, last);
      own.headMap(last, !force.isOfOneWrite()).clear(); // one write may still need it
    }
  }

  private void forceDirectory(Operation.Force force, DiskImage base) {
    Set<Entry> durable = new HashSet<>();
    Set<NameChange> covered = new HashSet<>();
    for (NameChange change : changes.reversed()) {
      boolean written =
          change.seq() < force.since() && change.isIn(force.node()) && !stuck.contains(change);
      if (written || change.effects().stream().anyMatch(e -> durable.contains(e.entry()))) {
        covered.add(change);
        change.effects().forEach(effect -> durable.add(effect.entry()));
      }
    }
    changes.stream().filter(covered::contains).forEach(change -> change.applyTo(base));
    changes.removeAll(covered);
    stuck.removeAll(covered);
  }

  /** A force of a directory failed. */
  void forceFailed(Operation.ForceFailed force) {
    if (rules == Names.INDEPENDENT) {
      changes.stream()
          .filter(change -> change.seq() < force.since() && change.isIn(force.node()))
          .forEach(stuck::add);
    }
  }

  /** The first place that is not in the journal, given the wanted losses. */
  long cutoff(Losses wanted) {
    if (rules != Names.JOURNALED) {
      return Long.MAX_VALUE;
    }
    for (NameChange change : changes) {
      if (isLost(change, wanted)) {
        return change.seq();
      }
    }
    return Long.MAX_VALUE;
  }

  /** The changes that are there, given the wanted losses. */
  List<NameChange> pick(Losses wanted, long cutoff) {
    List<NameChange> there = new ArrayList<>();
    Set<Entry> gone = new HashSet<>();
    for (NameChange change : changes) {
      if (change.seq() >= cutoff
          || (rules == Names.INDEPENDENT
              && (isLost(change, wanted)
                  || change.effects().stream().anyMatch(e -> gone.contains(e.entry()))))) {
        change.effects().forEach(effect -> gone.add(effect.entry()));
      } else {
        there.add(change);
      }
    }
    return there;
  }

  private static boolean isLost(NameChange change, Losses wanted) {
    Loss loss = wanted.of(change.seq());
    return loss != null && loss.lost(change.part());
  }
}

package org.revenantdb.chaos.power;

import java.util.ArrayDeque;
import java.util.BitSet;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.revenantdb.chaos.disk.DiskImage;
import org.revenantdb.chaos.power.Losses.Loss;
import org.revenantdb.chaos.power.NameChange.Effect;
import org.revenantdb.chaos.profile.DiskRules;
import org.revenantdb.chaos.trace.Operation;
import org.revenantdb.chaos.trace.Trace;

/**
 * A disk that follows a trace: its durable state and the pending operations, at a place that only
 * moves forwards.
 *
 * <p>Threads: one at a time; other threads may use its images at once.
 */
final class PendingDisk {

  private final Trace trace;
  private final DiskRules rules;
  private final Predicate<Operation.Force> dropped;
  private final NodePaths paths;

  /** The durable state; nodes that only pending names lead to have no name here. */
  private final DiskImage base;

  private final PendingNames names;
  private final SortedMap<Integer, PendingFile> files = new TreeMap<>();

  /** The sizes of files that no name leads to in any state; they can still be forced. */
  private final Map<Integer, Long> gone = new HashMap<>();

  private boolean litter;
  private int next;
  private long seq = Long.MIN_VALUE;

  PendingDisk(Trace trace, DiskRules rules, Predicate<Operation.Force> dropped, NodePaths paths) {
    this.trace = trace;
    this.rules = rules;
    this.dropped = dropped;
    this.paths = paths;
    this.base = trace.start().fork();
    this.names = new PendingNames(rules.names());
  }

  /** The present crash point. */
  long seq() {
    return seq;
  }

  /**
   * Applies all operations with a smaller place.
   *
   * @param crashPoint not before the present one
   */
  void advance(long crashPoint) {
    if (crashPoint < seq) {
      throw new IllegalArgumentException("from place " + seq + " back to " + crashPoint);
    }
    List<Operation> operations = trace.operations();
    while (next < operations.size() && operations.get(next).seq() < crashPoint) {
      happens(operations.get(next++));
    }
    seq = crashPoint;
    if (litter) {
      sweep();
      litter = false;
    }
  }

  private void happens(Operation operation) {
    switch (operation) {
      case Operation.Create op -> {
        base.create(op.node(), op.directory());
        name(op, op.node());
      }
      case Operation.Link op -> name(op, op.node());
      case Operation.Delete op -> name(op, op.node());
      case Operation.Rename op -> name(op, op.node());
      case Operation.Write op -> {
        long size = size(op.node());
        if (write(op)) {
          if (rules.size() == DiskRules.Size.BEFORE_DATA) {
            names.resized(op.node(), op.seq());
          } else {
            names.grown(op.node(), op.seq(), size);
          }
        }
      }
      case Operation.Truncate op -> {
        if (truncate(op)) {
          names.resized(op.node(), op.seq());
        }
      }
      case Operation.Force op -> {
        if (!dropped.test(op)) {
          force(op);
        }
      }
      case Operation.ForceFailed op -> {
        names.forceFailed(op);
        PendingFile file = files.get(op.node());
        if (file != null) {
          file.forceFailed(op.since());
        }
      }
    }
  }

  private void name(Operation operation, int node) {
    names.change(operation, node, base.isDirectory(node), base);
    litter |= rules.names() == DiskRules.Names.AT_ONCE;
  }

  /** Returns whether the size changed. */
  private boolean write(Operation.Write op) {
    Long size = gone.get(op.node());
    if (size == null) {
      return file(op.node()).write(op);
    }
    gone.put(op.node(), Math.max(size, op.end()));
    return op.data().length > 0 && op.end() > size;
  }

  /** Returns whether the size changed. */
  private boolean truncate(Operation.Truncate op) {
    Long size = gone.get(op.node());
    if (size == null) {
      return file(op.node()).truncate(op);
    }
    gone.put(op.node(), Math.min(size, op.size()));
    return op.size() < size;
  }

  /** The size that readers see. */
  private long size(int node) {
    Long size = gone.get(node);
    return size == null ? file(node).current().size() : size;
  }

  private PendingFile file(int node) {
    return files.computeIfAbsent(node, _ -> new PendingFile(rules, base.file(node)));
  }

  private void force(Operation.Force force) {
    PendingFile file = files.get(force.node());
    long needed = 0;
    if (force.isOfOneWrite()) {
      if (!(operationAt(force.only()) instanceof Operation.Write write)) {
        return; // it was reported to the program, but not carried out
      }
      needed = PendingFile.needed(write.end(), size(write.node()), rules.unit());
    }
    if (file != null) {
      if (force.isOfOneWrite()) {
        file.forceWrite(force.only(), force.metadata());
      } else {
        file.force(force.since(), force.metadata());
      }
      base.replace(force.node(), file.base());
      if (file.isEmpty()) {
        files.remove(force.node());
      }
    }
    litter |= names.force(force, needed, base);
  }

  private @Nullable Operation operationAt(long place) {
    List<Operation> operations = trace.operations();
    int low = 0;
    int high = next;
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (operations.get(middle).seq() < place) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low < next && operations.get(low).seq() == place ? operations.get(low) : null;
  }

  /** Removes the nodes that no name leads to in any state from here on. */
  private void sweep() {
    Map<Integer, Set<Integer>> children = new HashMap<>();
    for (NameChange change : names.changes()) {
      for (Effect effect : change.effects()) {
        if (effect.node() != Operation.NO_NODE) {
          children
              .computeIfAbsent(effect.entry().directory(), _ -> new HashSet<>())
              .add(effect.node());
        }
      }
    }
    Set<Integer> reached = reachable(base, children);
    for (int node : base.nodes()) {
      if (!reached.contains(node)) {
        PendingFile file = files.remove(node);
        if (!base.isDirectory(node)) {
          gone.put(node, (file == null ? base.file(node) : file.current()).size());
        }
        base.remove(node);
      }
    }
  }

  private static Set<Integer> reachable(DiskImage image, Map<Integer, Set<Integer>> more) {
    Set<Integer> reached = new HashSet<>(Set.of(DiskImage.ROOT));
    Deque<Integer> open = new ArrayDeque<>(reached);
    while (!open.isEmpty()) {
      int node = open.pop();
      if (image.isDirectory(node)) {
        for (int child : image.entries(node).values()) {
          if (reached.add(child)) {
            open.push(child);
          }
        }
        for (int child : more.getOrDefault(node, Set.of())) {
          if (reached.add(child)) {
            open.push(child);
          }
        }
      }
    }
    return reached;
  }

  /**
   * Computes the hash of what all states from here share, so that each state hashes only its own
   * part.
   */
  void hash() {
    for (int node : base.nodes()) {
      if (!base.isDirectory(node)) {
        base.file(node).hash();
      }
    }
    files.values().forEach(file -> file.current().hash());
  }

  /** The operations that can be lost here, in order, without parts that are decided. */
  SortedMap<Long, Pending> pending() {
    SortedMap<Long, Pending> result = new TreeMap<>();
    for (NameChange change : names.changes()) {
      result.merge(
          change.seq(),
          new Pending(change.operation(), Operation.NO_NODE, change.part() + 1),
          (one, other) -> one.parts() > other.parts() ? one : other);
    }
    files.forEach((node, file) -> {
      for (FileChange change : file.changes) {
        int parts = change.isTruncation() ? 2 : change.units() + 1;
        if (!isDecided(change)) {
          result.put(change.seq, new Pending(change.operation, node, parts));
        }
      }
    });
    return result;
  }

  /** A truncation that is in the journal. */
  private boolean isDecided(FileChange change) {
    return change.isTruncation()
        && rules.size() != DiskRules.Size.ANY
        && FilePick.listed(change, rules)
        && change.seq <= names.journal();
  }

  /**
   * An operation that can be lost.
   *
   * @param operation the operation
   * @param file its file if it changes bytes, else no node
   * @param parts the number of its parts
   */
  record Pending(Operation operation, int file, int parts) {}

  /** Builds the state that is nearest to the wanted losses. */
  CrashState state(Losses wanted) {
    long cutoff = cutoff(wanted);
    DiskImage image = base.fork();
    List<NameChange> there = names.pick(wanted, cutoff);
    there.forEach(change -> change.applyTo(image));
    SortedMap<Long, Loss> losses = new TreeMap<>();
    addLostNames(there, losses);
    Set<Integer> reached = reachable(image, Map.of());
    for (int node : image.nodes()) {
      PendingFile file = files.get(node);
      if (!reached.contains(node)) {
        // The bytes of a file without a name are not part of the state, nor of its story.
        image.remove(node);
      } else if (file != null) {
        FilePick pick = new FilePick(file, wanted, cutoff);
        image.replace(node, pick.content());
        pick.addTo(losses);
      }
    }
    int pending =
        names.changes().size() + files.values().stream().mapToInt(f -> f.changes.size()).sum();
    Operation last = next == 0 ? null : trace.operations().get(next - 1);
    Scene scene = new Scene(paths, rules.unit(), seq, last, pending);
    return new CrashState(seq, image, new Losses(losses, scene));
  }

  private void addLostNames(List<NameChange> there, SortedMap<Long, Loss> losses) {
    Set<NameChange> kept = new HashSet<>(there);
    Map<Long, BitSet> lost = new TreeMap<>();
    Map<Long, Integer> parts = new HashMap<>();
    for (NameChange change : names.changes()) {
      parts.merge(change.seq(), 1, Integer::sum);
      if (!kept.contains(change)) {
        BitSet bits = lost.computeIfAbsent(change.seq(), _ -> new BitSet());
        bits.set(change.part());
        losses.put(change.seq(), new Loss(change.operation(), bits));
      }
    }
    lost.forEach((place, bits) -> {
      if (bits.cardinality() == parts.getOrDefault(place, 0)) {
        losses.computeIfPresent(place, (_, loss) -> new Loss(loss.operation(), null));
      }
    });
  }

  /** The first place that is not in the journal: that of the first lost change in its list. */
  private long cutoff(Losses wanted) {
    if (rules.names() != DiskRules.Names.JOURNALED) {
      return Long.MAX_VALUE;
    }
    long cutoff = names.cutoff(wanted);
    for (PendingFile file : files.values()) {
      for (FileChange change : file.changes) {
        if (change.seq < cutoff
            && change.seq > names.journal()
            && !change.sizeDurable
            && FilePick.listed(change, rules)) {
          @Nullable Loss loss = wanted.of(change.seq);
          cutoff = loss != null && loss.lost(0) ? change.seq : cutoff;
        }
      }
    }
    return cutoff;
  }
}

package org.revenantdb.chaos.power;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.revenantdb.chaos.disk.FileContent;
import org.revenantdb.chaos.profile.DiskRules;
import org.revenantdb.chaos.profile.DiskRules.Size;
import org.revenantdb.chaos.trace.Operation;

/**
 * One file between its durable state and what readers see: its pending writes and truncations.
 *
 * <p>Threads: one at a time.
 */
final class PendingFile {
  /*
   * base     the durable state
   * changes  pending changes, in order; `base` and all of them make `current`
   *
   * A version of a unit is identified by the place of the change after which the file held it, BASE
   * for the version of the base.
   *
   * A force removes a prefix of `changes` (those before its `since`). Two kinds stay behind (`left`
   * below): writes that are stuck since a force failed, and under ANY and without metadata the
   * truncations after which nothing grew. Covered changes behind them must not wait. So the content
   * of their units at that place goes into the base, including stuck bytes, and the stuck write
   * loses these units (`FileChange.settle`). The size never stays behind with a stuck write,
   * because it is not a page.
   *
   * A synchronous write removes itself, and of the changes before it only what it needs
   * (`forceWrite`): its units with their whole content at that place, and a size by which they can
   * be read. `needed` is the least such size: to the end of its last unit, or of the file.
   * `crossing` is the change that brought the file over that size. The sizes before it are durable
   * then, and of its own size as much as is needed (`sizeReached`). Under BEFORE_DATA all sizes are
   * in the journal before their bytes, so all of them are included. Truncations are included if V1
   * and V2 of FilePick require it; under ANY and without metadata only those before `crossing`.
   */

  /** The version of a unit or a size that is durable. */
  static final long BASE = -1;

  final DiskRules rules;
  final List<FileChange> changes = new ArrayList<>();
  final List<FileChange> truncations = new ArrayList<>();

  /** The pending writes that touch a unit, in order. */
  final Map<Integer, List<FileChange>> byUnit = new HashMap<>();

  private FileContent base;
  private FileContent current;

  PendingFile(DiskRules rules, FileContent base) {
    this.rules = rules;
    this.base = base;
    this.current = base.copy();
  }

  /** The durable content; replaced by a force. */
  FileContent base() {
    return base;
  }

  /** The content that readers see. */
  FileContent current() {
    return current;
  }

  boolean isEmpty() {
    return changes.isEmpty();
  }

  /**
   * Adds a write.
   *
   * @return whether the file's size changed
   */
  boolean write(Operation.Write write) {
    if (write.data().length == 0) {
      return false;
    }
    FileChange change = FileChange.of(write, current.size(), rules.unit());
    current.write(write.offset(), ByteBuffer.wrap(write.data()));
    changes.add(change);
    for (int unit = change.firstUnit; unit <= change.lastUnit; unit++) {
      byUnit.computeIfAbsent(unit, _ -> new ArrayList<>()).add(change);
    }
    return change.grows();
  }

  /**
   * Adds a truncation.
   *
   * @return whether the file's size changed
   */
  boolean truncate(Operation.Truncate cut) {
    if (cut.size() >= current.size()) {
      return false;
    }
    FileChange change = FileChange.of(cut, current.size(), rules.unit());
    current.setSize(cut.size());
    changes.add(change);
    truncations.add(change);
    return true;
  }

  /** A force with this `since` failed: the writes that it should have written are stuck. */
  void forceFailed(long since) {
    for (FileChange change : changes) {
      if (change.seq < since && !change.isTruncation()) {
        change.stuck = true;
      }
    }
  }

  /** A force with this `since` succeeded. */
  void force(long since, boolean metadata) {
    List<FileChange> covered = changes.stream().filter(change -> change.seq < since).toList();
    if (covered.isEmpty()) {
      return;
    }
    markDurable(covered, metadata || rules.size() != Size.ANY);
    boolean all = covered.stream().allMatch(change -> change.durable);
    if (all && covered.size() == changes.size()) {
      base = current;
      current = base.copy();
    } else if (!all || !covered.stream().allMatch(FileChange::isUntouched)) {
      settleAround(covered);
    } else {
      covered.forEach(change -> apply(change, base));
    }
    forgetDurable();
  }

  private void forgetDurable() {
    changes.removeIf(change -> change.durable || change.isSettled());
    truncations.removeIf(change -> change.durable);
    byUnit.forEach(
        (unit, list) -> list.removeIf(change -> change.durable || !change.touches(unit)));
    byUnit.values().removeIf(List::isEmpty);
  }

  /**
   * The synchronous write at a place has returned.
   *
   * @param metadata whether metadata was asked for, too
   */
  void forceWrite(long place, boolean metadata) {
    List<FileChange> before = changes.stream().filter(change -> change.seq <= place).toList();
    if (before.isEmpty() || before.getLast().seq != place) {
      return;
    }
    FileChange write = before.getLast();
    long needed = needed(write.to, write.sizeAfter, rules.unit());
    FileChange crossing = null;
    FileChange last = null;
    for (FileChange change : before) {
      if (change.resizes() && change.sizeBefore < needed) {
        crossing = change;
        last = change;
      } else if (change.resizes() && comesAlong(change, metadata)) {
        last = change;
      }
    }
    FileContent after = base.copy();
    long size = base.size();
    Map<Integer, Long> settled = new TreeMap<>();
    // V2 requires only what was above every durable size until now.
    Set<FileChange> waited = new HashSet<>(before);
    waited.removeIf(change -> change.sizeDurable || change.stuck || !change.grows());
    for (FileChange change : before) {
      if (last == null || change.seq > last.seq) {
        break;
      }
      if (change == last && change == crossing && needed < change.sizeAfter) {
        if (rules.size() != Size.BEFORE_DATA && !change.sizeDurable) {
          change.sizeReached = Math.max(change.sizeReached, needed);
          size = change.sizeReached;
          break;
        }
      }
      if (change.isTruncation()) {
        settleTruncation(change, before, waited, settled);
        after.setSize(Math.min(after.size(), change.sizeAfter));
      }
      if (change.resizes() && !change.sizeDurable) {
        size = change.sizeAfter;
        change.sizeDurable = true;
      }
    }
    write.durable = true;
    settle(before, write.firstUnit, write.lastUnit, write.seq, settled);
    after.setSize(size);
    settled.forEach((unit, version) -> put(after, unit, content(unit, version), after.size()));
    base = after;
    forgetDurable();
  }

  /**
   * Returns the least size by which a write can be read after it was forced alone.
   *
   * @param end of the write
   * @param size of the file after it
   */
  static long needed(long end, long size, int unit) {
    return Math.min(size, Math.ceilDiv(end, (long) unit) * unit);
  }

  /** Whether a size becomes durable with a later synchronous write that does not need it. */
  private boolean comesAlong(FileChange change, boolean metadata) {
    return rules.size() == Size.BEFORE_DATA
        || (change.isTruncation() && (metadata || rules.size() != Size.ANY));
  }

  private void settleTruncation(
      FileChange cut, List<FileChange> before, Set<FileChange> waited, Map<Integer, Long> settled) {
    if (rules.size() == Size.AFTER_DATA) {
      for (FileChange write : before) {
        if (write.seq > cut.seq) {
          break;
        }
        int last = waited.contains(write) ? write.lastUnit : -1;
        for (int unit = write.firstAppendedUnit(rules.unit()); unit <= last; unit++) {
          long start = (long) unit * rules.unit();
          if (start < cut.sizeAfter && start >= write.sizeReached && write.touches(unit)) {
            settle(before, unit, unit, write.seq, settled);
          }
        }
      }
    }
    cut.durable = true;
    before.stream()
        .filter(earlier -> earlier.seq < cut.seq)
        .forEach(earlier -> earlier.settle(cut.firstUnit, cut.lastUnit));
    settled.keySet().removeIf(unit -> unit > cut.firstUnit);
    settled.put(cut.firstUnit, cut.seq);
  }

  /** Makes the version that a write gave to some units durable. */
  private static void settle(
      List<FileChange> before, int first, int last, long version, Map<Integer, Long> settled) {
    before.stream()
        .filter(earlier -> earlier.seq <= version)
        .forEach(earlier -> earlier.settle(first, last));
    for (int unit = first; unit <= last; unit++) {
      settled.merge(unit, version, Math::max);
    }
  }

  /**
   * Marks all but the stuck ones. If smaller sizes are not covered, the last truncations are not
   * marked either.
   */
  private static void markDurable(List<FileChange> covered, boolean shrunkenToo) {
    boolean grown = shrunkenToo;
    for (FileChange change : covered.reversed()) {
      grown |= change.grows();
      change.durable = change.isTruncation() ? grown : !change.stuck;
    }
  }

  /** Makes covered changes durable although earlier ones stay pending. */
  private void settleAround(List<FileChange> covered) {
    Map<Integer, byte[]> settled = new TreeMap<>();
    FileContent after = base.copy();
    long size = base.size();
    boolean shrinking = false;
    for (FileChange change : covered) {
      shrinking |= change.isTruncation() && !change.durable;
      if (!shrinking && change.resizes() && !change.sizeDurable) {
        size = change.sizeAfter;
        change.sizeDurable = true;
      }
      if (change.durable && change.isTruncation()) {
        after.setSize(Math.min(after.size(), change.sizeAfter));
        settled.keySet().removeIf(unit -> unit > change.firstUnit);
        settled.put(change.firstUnit, content(change.firstUnit, change.seq));
      } else if (change.durable) {
        for (int unit = change.firstUnit; unit <= change.lastUnit; unit++) {
          settled.put(unit, content(unit, change.seq));
        }
      }
      if (change.durable) {
        covered.stream()
            .filter(earlier -> earlier.seq < change.seq && !earlier.durable)
            .forEach(earlier -> earlier.settle(change.firstUnit, change.lastUnit));
      }
    }
    after.setSize(size);
    settled.forEach((unit, bytes) -> put(after, unit, bytes, after.size()));
    base = after;
  }

  private static void apply(FileChange change, FileContent content) {
    byte[] data = change.data;
    if (data == null) {
      content.setSize(change.sizeAfter);
    } else {
      content.write(change.from, ByteBuffer.wrap(data));
    }
  }

  /** The last version of a unit. Only for files without truncations. */
  long newest(int unit) {
    List<FileChange> writes = byUnit.get(unit);
    return writes == null ? BASE : writes.getLast().seq;
  }

  /** The content of a unit after a change, as far as the base still shows it. */
  byte[] content(int unit, long version) {
    long start = (long) unit * rules.unit();
    List<FileChange> writes = byUnit.getOrDefault(unit, List.of());
    if (truncations.isEmpty() && newest(unit) == version) {
      return current.bytes(start, rules.unit());
    }
    byte[] bytes = base.bytes(start, rules.unit());
    if (version == BASE) {
      return bytes;
    }
    int cut = 0;
    for (FileChange write : writes) {
      if (write.seq > version) {
        break;
      }
      while (cut < truncations.size() && truncations.get(cut).seq < write.seq) {
        truncations.get(cut++).applyTo(bytes, start);
      }
      write.applyTo(bytes, start);
    }
    while (cut < truncations.size() && truncations.get(cut).seq <= version) {
      truncations.get(cut++).applyTo(bytes, start);
    }
    return bytes;
  }

  /** Writes a unit, up to the end of the file. */
  static void put(FileContent target, int unit, byte[] bytes, long size) {
    long start = (long) unit * bytes.length;
    int length = (int) Math.min(bytes.length, size - start);
    if (length > 0) {
      target.write(start, ByteBuffer.wrap(bytes, 0, length));
    }
  }
}

package org.revenantdb.chaos.power;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.revenantdb.chaos.disk.FileContent;
import org.revenantdb.chaos.power.DiskRules.Size;
import org.revenantdb.chaos.trace.Operation;

/**
 * One file between what is durable of it and what readers see: its pending writes and truncations.
 *
 * <p>Threads: one at a time.
 */
final class PendingFile {
  /*
   * base     what is durable, whatever happens
   * changes  what is not, in order; `base` and all of them make `current`
   *
   * A version of a unit is named by the place of the change after which the file held it, BASE for the base's.
   *
   * A force takes away a prefix of `changes` (those before its `since`). Two things stay behind (`left` below): writes that are
   * stuck since a force failed, and under ANY and without metadata the truncations after which nothing grew. Covered changes
   * behind them must not wait, so their units go into the base with what the file held there, stuck bytes included, and the
   * stuck write loses these units (`FileChange.settle`). The size never stays behind with a stuck write: it is no page.
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

  /** What is durable; replaced by a force. */
  FileContent base() {
    return base;
  }

  /** What readers see. */
  FileContent current() {
    return current;
  }

  boolean isEmpty() {
    return changes.isEmpty();
  }

  /**
   * Takes note of a write.
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
   * Takes note of a truncation.
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

  /** A force failed that was called then: what it should have written is stuck. */
  void forceFailed(long since) {
    for (FileChange change : changes) {
      if (change.seq < since && !change.isTruncation()) {
        change.stuck = true;
      }
    }
  }

  /** A force succeeded that was called then. */
  void force(long since, boolean metadata) {
    List<FileChange> covered = changes.stream().filter(change -> change.seq < since).toList();
    if (covered.isEmpty()) {
      return;
    }
    markDurable(covered, metadata || rules.size() != Size.ANY);
    if (!covered.stream().allMatch(change -> change.durable)) {
      settleAround(covered);
    } else if (covered.size() == changes.size()) {
      base = current;
      current = base.copy();
    } else {
      covered.forEach(change -> apply(change, base));
    }
    changes.removeIf(change -> change.durable || change.isSettled());
    truncations.removeIf(change -> change.durable);
    byUnit.forEach(
        (unit, list) -> list.removeIf(change -> change.durable || !change.touches(unit)));
    byUnit.values().removeIf(List::isEmpty);
  }

  /** Marks all but the stuck ones and, if shrunken sizes are not covered, the last truncations. */
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

  /** The last version of a unit; only where there are no truncations. */
  long newest(int unit) {
    List<FileChange> writes = byUnit.get(unit);
    return writes == null ? BASE : writes.getLast().seq;
  }

  /**
   * What the file held in a unit after a change, as far as that can still be told from the base.
   */
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

  /** Writes a unit as far as the file goes. */
  static void put(FileContent target, int unit, byte[] bytes, long size) {
    long start = (long) unit * bytes.length;
    int length = (int) Math.min(bytes.length, size - start);
    if (length > 0) {
      target.write(start, ByteBuffer.wrap(bytes, 0, length));
    }
  }
}

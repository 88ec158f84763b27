package org.revenantdb.engine.version;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.btree.Tree;
import org.revenantdb.gc.spill.SpillFiles;
import org.revenantdb.gc.spill.SpilledStack;
import org.revenantdb.gc.spill.SpilledVersion;

/**
 * The versions that one transaction has overwritten while it had a savepoint, in order (R14,
 * protocols.md §28). For one thread at a time.
 *
 * <p>The last versions are in memory. If there are too many, the older half goes to a file. It is
 * read back when memory has no more versions.
 */
final class Overwritten {
  /**
   * A version of the transaction itself, or the first write of a row: then the row has the former
   * version, and the value is null.
   */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  record Version(Tree tree, byte[] key, int flags, byte @Nullable [] value) {
    /** Heap size without the bytes: the record, two arrays, a place in the list. */
    private static final int BYTES = 72;

    private long bytes() {
      return (long) BYTES + key.length + (value == null ? 0 : value.length);
    }
  }

  private static final byte[] NO_VALUE = {};

  private final long limit;
  private final SpilledStack older;
  private final ArrayList<Version> versions = new ArrayList<>();

  /** Trees of the versions in the file, by table. */
  private final Map<Integer, Tree> trees = new HashMap<>();

  /** The memory of the versions in memory. */
  private long bytes;

  private @Nullable Version next;
  private boolean keeps;
  private boolean hasKept;

  /**
   * Makes an empty object that keeps nothing yet.
   *
   * @param limit approximate bytes of memory
   */
  Overwritten(SpillFiles files, long limit) {
    this.limit = limit;
    this.older = new SpilledStack(files);
  }

  /** Whether anything is kept. */
  boolean keeps() {
    return keeps;
  }

  /** Whether the transaction ever had a savepoint. */
  boolean hasKept() {
    return hasKept;
  }

  /** Returns how many versions are kept. From now on all overwritten versions are kept. */
  int mark() {
    keeps = true;
    hasKept = true;
    return size();
  }

  private int size() {
    return older.size() + versions.size();
  }

  /**
   * Makes room in memory for one more version; called with nothing latched.
   *
   * @throws org.revenantdb.recovery.file.FileException if there is no room on disk; nothing has
   *     changed
   */
  void makeRoom() {
    if (bytes <= limit) {
      return;
    }
    List<Version> half = versions.subList(0, (versions.size() + 1) / 2);
    List<SpilledVersion> spilled = new ArrayList<>(half.size());
    for (Version version : half) {
      byte[] value = version.value();
      spilled.add(
          new SpilledVersion(
              SpilledVersion.row(version.tree().table(), version.key()),
              /* committedAt= */ 0,
              /* supersededAt= */ 0,
              value == null ? SpilledVersion.FIRST : version.flags(),
              value == null ? NO_VALUE : value));
      trees.put(version.tree().table(), version.tree());
    }
    older.push(spilled);
    bytes -= half.stream().mapToLong(Version::bytes).sum();
    half.clear();
  }

  /** Prepares the version for {@link #add}, so that {@code add} cannot fail. */
  void prepare(Tree tree, byte[] key, int flags, byte @Nullable [] value) {
    if (keeps) {
      next = new Version(tree, key.clone(), flags, value);
      versions.ensureCapacity(versions.size() + 1);
    }
  }

  /** Drops the prepared version: it has not been overwritten. */
  void discard() {
    next = null;
  }

  /** Adds the prepared version: it has been overwritten. */
  void add() {
    Version ready = next;
    if (ready != null) {
      versions.add(ready);
      bytes += ready.bytes();
      next = null;
    }
  }

  /**
   * The last version above a mark; null if there is none. Called with nothing latched.
   *
   * @throws org.revenantdb.recovery.file.FileException if it cannot be read; nothing has changed
   */
  @Nullable Version last(int mark) {
    if (size() <= mark) {
      return null;
    }
    if (versions.isEmpty()) {
      for (SpilledVersion spilled : older.pop()) {
        Version version = versionOf(spilled);
        versions.add(version);
        bytes += version.bytes();
      }
    }
    return versions.getLast();
  }

  private Version versionOf(SpilledVersion spilled) {
    Tree tree = Objects.requireNonNull(trees.get(spilled.table()));
    return spilled.flags() == SpilledVersion.FIRST
        ? new Version(tree, spilled.key(), 0, null)
        : new Version(tree, spilled.key(), spilled.flags(), spilled.value());
  }

  /** Removes the last version: it is back in its row. */
  void removeLast() {
    bytes -= versions.removeLast().bytes();
  }

  void end() {
    clear();
    hasKept = false;
  }

  /** Nothing is kept any more. */
  void clear() {
    keeps = false;
    next = null;
    versions.clear();
    bytes = 0;
    older.clear();
    trees.clear();
  }
}

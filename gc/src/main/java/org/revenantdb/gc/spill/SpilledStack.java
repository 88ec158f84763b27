package org.revenantdb.gc.spill;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.revenantdb.recovery.file.FileException;

/**
 * A stack in a spill file: the group of entries that was pushed last is returned first.
 *
 * <p>For one thread at a time; threads of the engine do the work. Failure: a {@link FileException},
 * and the stack is unchanged.
 */
public final class SpilledStack {
  private record Piece(long position, long end, int entries) {}

  private final SpillFiles files;
  private final ArrayDeque<Piece> pieces = new ArrayDeque<>();
  private @Nullable SpillFile file;
  private int size;

  /** An empty stack, without a file. */
  public SpilledStack(SpillFiles files) {
    this.files = files;
  }

  /** How many entries it has. */
  public int size() {
    return size;
  }

  /** Puts entries on top. */
  public void push(List<SpilledVersion> entries) {
    pieces.addLast(files.call(() -> write(entries)));
    size += entries.size();
  }

  private Piece write(List<SpilledVersion> entries) {
    SpillFile there = file;
    if (there == null) {
      there = files.create(SpillFiles.Kind.OVERWRITTEN);
      file = there;
    }
    long position = there.end();
    try {
      BlockWriter blocks = new BlockWriter(there);
      for (SpilledVersion entry : entries) {
        blocks.add(entry);
        if (blocks.isFull()) {
          blocks.endBlock();
        }
      }
      blocks.finish();
    } catch (Throwable failure) {
      there.cut(position);
      throw failure;
    }
    return new Piece(position, there.end(), entries.size());
  }

  /**
   * Removes and returns the entries that were pushed last, in the order of that push; empty if
   * there are none.
   */
  public List<SpilledVersion> pop() {
    SpillFile there = file;
    Piece last = pieces.peekLast();
    if (there == null || last == null) {
      return List.of();
    }
    List<SpilledVersion> entries =
        files.call(() -> {
          List<SpilledVersion> read = new ArrayList<>(last.entries());
          EntryCursor cursor = new EntryCursor(there.read(last.position(), last.end()));
          while (cursor.next()) {
            read.add(cursor.version());
          }
          return read;
        });
    pieces.removeLast();
    size -= last.entries();
    there.cut(last.position());
    return entries;
  }

  /** Removes all entries. */
  @SuppressWarnings("EmptyCatch")
  public void clear() {
    SpillFile there = file;
    if (there == null) {
      return;
    }
    file = null;
    pieces.clear();
    size = 0;
    try {
      files.call(() -> {
        files.delete(there);
        return there;
      });
    } catch (OutOfMemoryError noThread) {
      // It is deleted with the others when the database is closed.
    }
  }
}

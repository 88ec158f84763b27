package org.revenantdb.gc.spill;

import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.NullMarked;

/**
 * One version of a row on its way from memory to a run and to a merged run, in the steps of
 * protocols.md §30, without files. A run records that it was deleted.
 */
@NullMarked
public final class OpenRuns {
  private static final int ROW = 7;

  private static final class Run {
    final Holders holders = new Holders();

    /** Plain, like the content of a file: the hold of the run orders accesses to it. */
    boolean deleted;

    void letGo() {
      if (holders.letGo()) {
        deleted = true;
      }
    }
  }

  private final ConcurrentHashMap<Integer, Integer> memory = new ConcurrentHashMap<>();
  private volatile List<Run> runs = List.of();

  /** The version is in memory. */
  public OpenRuns() {
    memory.put(ROW, ROW);
  }

  /** Step two of a spill. */
  public void publish() {
    runs = List.of(new Run());
  }

  /** Step three. */
  public void letMemoryGo() {
    memory.computeIfPresent(ROW, (row, version) -> null);
  }

  /** Replaces the run by another one, and deletes the file of the first. */
  public void merge() {
    Run input = runs.getFirst();
    publish();
    input.letGo();
  }

  /** The same in the wrong order. */
  public void mergeTooLate() {
    Run input = runs.getFirst();
    runs = List.of();
    input.letGo();
    publish();
  }

  /** Like {@link #merge}, but deletes the file even if a reader holds it. */
  public void mergeAndDelete() {
    Run input = runs.getFirst();
    publish();
    input.deleted = true;
  }

  /** Looks the version up as a reader does. */
  public boolean find() {
    if (memory.get(ROW) != null) {
      return true;
    }
    while (true) {
      boolean again = false;
      for (Run run : runs) {
        if (run.holders.tryHold()) {
          boolean found = !run.deleted;
          run.letGo();
          return found;
        }
        again = true;
      }
      if (!again) {
        return false;
      }
    }
  }
}

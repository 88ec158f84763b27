package org.revenantdb.gc.spill;

import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.NullMarked;

/**
 * One version of a row on its way from memory to a run and to a merged one, in the steps of
 * protocols.md §30, without files: a run that is deleted says so.
 */
@NullMarked
public final class OpenRuns {
  private static final int ROW = 7;

  private static final class Run {
    final Holders holders = new Holders();

    /** Plain, as a file is: what orders it is that the run is held. */
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

  /** There is another run in the place of the one that there was, whose file goes. */
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

  /** As {@link #merge}, by one who does not care whether somebody reads. */
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

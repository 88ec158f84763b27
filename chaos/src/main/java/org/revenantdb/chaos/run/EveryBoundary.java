package org.revenantdb.chaos.run;

import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.TreeSet;
import org.revenantdb.chaos.power.CrashState;
import org.revenantdb.chaos.power.Losses;
import org.revenantdb.chaos.power.PowerCut;
import org.revenantdb.chaos.profile.PlatformProfile;

/**
 * The states that the death of a process leaves, from a recording: everything that was done before
 * some boundary between two operations, and nothing after it.
 *
 * <p>A boundary is tried before each operation and behind each promise. If there are more
 * boundaries than states, they are spread evenly, and {@link #told} says so. A boundary between two
 * pages that one look at mapped memory found is none: all stores before a death are kept, in the
 * order of the program, and pages in the order of their addresses may be a state in which the
 * program never was. {@link Recording#seen} tells how many promises have no boundary behind them.
 *
 * <p>Threads: one at a time.
 */
public final class EveryBoundary implements Iterator<CrashState> {

  private final PowerCut cut;
  private final List<Long> places;
  private final int count;
  private int next;

  /**
   * Prepares the states.
   *
   * @param recording a usable recording
   * @param states the maximum number
   */
  public EveryBoundary(Recording recording, int states) {
    this.cut = new PowerCut(recording.trace(), PlatformProfile.EXT4_ORDERED.rules());
    TreeSet<Long> all = new TreeSet<>();
    recording.trace().operations().forEach(operation -> all.add(operation.seq()));
    recording.promises().places().forEach(place -> all.add(place + 1));
    all.add(recording.end());
    this.places = all.stream().filter(place -> !recording.trace().isAmidALook(place)).toList();
    this.count = Math.min(states, places.size());
  }

  /**
   * Returns how many boundaries were tried so far.
   *
   * @return a sentence
   */
  public synchronized String told() {
    return next == places.size()
        ? "a process died at each of %d boundaries between operations".formatted(next)
        : "a process died at %d of %d boundaries between operations".formatted(next, places.size());
  }

  @Override
  public synchronized boolean hasNext() {
    return next < count;
  }

  @Override
  public synchronized CrashState next() {
    if (!hasNext()) {
      throw new NoSuchElementException();
    }
    int index =
        count == 1 ? places.size() - 1 : (int) ((long) next * (places.size() - 1) / (count - 1));
    next++;
    return cut.state(places.get(index), Losses.none());
  }
}

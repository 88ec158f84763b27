package org.revenantdb.chaos.trace;

import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import org.revenantdb.chaos.disk.DiskImage;

/**
 * The recorded operations of a program on a disk: the initial state, and every operation since, in
 * order.
 *
 * @param start the initial state of the disk, all of it durable; must not be changed
 * @param operations in the order of {@link Operation#seq}
 * @param gaps events that could not be recorded, such as a mapping for writing: one sentence each,
 *     with its stack; a run with gaps is not measured
 * @param escapes writes outside the directory under test: one sentence each, with its stack
 * @param looks at mapped memory that found more than one changed page: the place of the first page,
 *     and the place of the last one
 */
public record Trace(
    DiskImage start,
    List<Operation> operations,
    List<String> gaps,
    List<String> escapes,
    NavigableMap<Long, Long> looks) {

  /**
   * A trace without mapped memory.
   *
   * @param start the initial state of the disk
   * @param operations in order
   * @param gaps events that could not be recorded
   * @param escapes writes outside the directory under test
   */
  public Trace(
      DiskImage start, List<Operation> operations, List<String> gaps, List<String> escapes) {
    this(start, operations, gaps, escapes, Collections.emptyNavigableMap());
  }

  /** Copies the lists. */
  public Trace {
    looks = Collections.unmodifiableNavigableMap(new TreeMap<>(looks));
    operations = List.copyOf(operations);
    gaps = List.copyOf(gaps);
    escapes = List.copyOf(escapes);
  }

  /**
   * Returns whether a place lies between two pages that one look at mapped memory found. The order
   * of the stores into them is not known, so the pages before the place without those after it are
   * a state that the process may never have been in.
   *
   * @param place a crash point
   * @return true if the death of a process there would be a guess
   */
  public boolean isAmidALook(long place) {
    Map.Entry<Long, Long> look = looks.lowerEntry(place);
    return look != null && place <= look.getValue();
  }
}

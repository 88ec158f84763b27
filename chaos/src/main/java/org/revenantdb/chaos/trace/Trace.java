package org.revenantdb.chaos.trace;

import java.util.List;
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
 */
public record Trace(
    DiskImage start, List<Operation> operations, List<String> gaps, List<String> escapes) {

  /** Copies the lists. */
  public Trace {
    operations = List.copyOf(operations);
    gaps = List.copyOf(gaps);
    escapes = List.copyOf(escapes);
  }
}

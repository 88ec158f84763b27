package org.revenantdb.chaos.trace;

import java.util.List;
import org.revenantdb.chaos.disk.DiskImage;

/**
 * What a program did to a disk: what was there, and every operation since, in order.
 *
 * @param start what was on the disk, all of it durable; must not be changed
 * @param operations in the order of {@link Operation#seq}
 * @param gaps what happened and could not be seen, each in a sentence with its stack, such as a
 *     mapping for writing; a run with gaps is not measured
 * @param escapes writes outside the directory under test, each in a sentence with its stack
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

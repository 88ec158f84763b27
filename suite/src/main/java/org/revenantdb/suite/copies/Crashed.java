package org.revenantdb.suite.copies;

import java.nio.file.Path;
import java.util.Map;

/**
 * The disks of all machines at one moment.
 *
 * @param place the moment
 * @param isCut whether a machine has lost something; else their processes were killed
 * @param roots the disk of each machine
 * @param story what is missing
 */
record Crashed(long place, boolean isCut, Map<Machine, Path> roots, String story) {

  /** A path on a machine. */
  Path path(Machine machine, String name) {
    Path root = roots.get(machine);
    if (root == null) {
      throw new IllegalStateException("no disk of " + machine);
    }
    return root.resolve(name);
  }
}

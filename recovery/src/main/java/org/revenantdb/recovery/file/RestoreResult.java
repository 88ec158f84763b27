package org.revenantdb.recovery.file;

import java.util.List;

/**
 * What a restart found in the double-write file.
 *
 * @param pages how many pages the batch held; 0 = there was none to look at
 * @param restored how many of them were torn in the data file and are whole again
 * @param beyondRepair the ids of those whose own copy and whose copy in the batch are both bad.
 *     This is damage, unless the log formats the page anew: a crash leaves it for a page that was
 *     never written before.
 */
public record RestoreResult(int pages, int restored, List<Integer> beyondRepair) {
  static final RestoreResult NOTHING = new RestoreResult(0, 0, List.of());
}

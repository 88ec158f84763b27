package org.revenantdb.recovery.file;

import java.util.List;

/**
 * The result of a restart's step over the double-write file.
 *
 * @param pages the number of pages in the batch; 0 if there was no batch to examine
 * @param restored how many of them were torn in the data file and are whole again
 * @param beyondRepair the ids of pages whose copies in the data file and in the batch are both bad.
 *     This is damage, unless the log formats the page anew: a crash can leave a page like this if
 *     it was never written before
 */
public record RestoreResult(int pages, int restored, List<Integer> beyondRepair) {
  static final RestoreResult NOTHING = new RestoreResult(0, 0, List.of());
}

package org.revenantdb.history;

import java.util.Arrays;

/** The lives in which versions were seen, and the versions that a later life should have shown. */
final class Sightings {

  private final HistoryIndex index;
  private final int[] lastSeen;
  private final boolean[] missing;

  Sightings(HistoryIndex index) {
    this.index = index;
    this.lastSeen = new int[index.accesses.size()];
    this.missing = new boolean[index.accesses.size()];
    Arrays.fill(lastSeen, -1);
  }

  void seen(int version, int life) {
    lastSeen[version] = Math.max(lastSeen[version], life);
  }

  void missing(int version) {
    missing[version] = true;
  }

  /** Whether a life after its own has seen it. */
  boolean isKept(int version) {
    return lastSeen[version] > index.history.life(index.transactionOf(version));
  }

  /** Whether a life after its own has seen that it is missing. */
  boolean isMissing(int version) {
    return missing[version];
  }
}

package org.revenantdb.latch;

/** stand-in until the topology arrives */
final class CacheNodes {
  static final CacheNodes FLAT = new CacheNodes();

  static CacheNodes here() {
    return FLAT;
  }

  int queues() {
    return 1;
  }

  int queueOfCaller() {
    return 0;
  }
}

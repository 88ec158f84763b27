package org.revenantdb.latch;

import java.util.function.IntSupplier;

/**
 * Selects the queue of a bucket that a waiter belongs to: the queue of the cache node that it runs
 * on, or the common one.
 *
 * <p>With one node there is one queue. Otherwise there is one queue for each node, and a last one
 * for virtual threads and for threads whose processor is unknown. A virtual thread continues on any
 * free carrier.
 */
final class CacheNodes {
  /** One queue for all. */
  static final CacheNodes FLAT = new CacheNodes(1, () -> 0);

  private final int nodes;
  private final IntSupplier nodeOfCaller;

  /**
   * Queues for any topology.
   *
   * @param nodes how many, from 1
   * @param nodeOfCaller the node on which the calling platform thread runs, from 0; outside of that
   *     range if it is not known. It is not called if there is one node, nor for virtual threads
   */
  CacheNodes(int nodes, IntSupplier nodeOfCaller) {
    this.nodes = nodes;
    this.nodeOfCaller = nodeOfCaller;
  }

  /** The queues for this machine. */
  static CacheNodes here() {
    CacheTopology topology = CacheTopology.detect();
    return topology.nodes() == 1
        ? FLAT
        : new CacheNodes(topology.nodes(), () -> topology.nodeOf(CurrentProcessor.get()));
  }

  /** How many queues a bucket needs. */
  int queues() {
    return nodes == 1 ? 1 : nodes + 1;
  }

  /** The number of the queue that the calling thread waits in. */
  int queueOfCaller() {
    if (nodes == 1) {
      return 0;
    }
    if (Thread.currentThread().isVirtual()) {
      return nodes;
    }
    int node = nodeOfCaller.getAsInt();
    return node >= 0 && node < nodes ? node : nodes;
  }
}

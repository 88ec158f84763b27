package org.revenantdb.history;

import java.util.Comparator;
import java.util.stream.IntStream;
import org.revenantdb.history.DependencyGraph.Edge;

/** The edges between transactions that follow each other in time, in one process or in all. */
final class TimeOrder {

  private TimeOrder() {}

  static void add(HistoryIndex index, Precedence precedence, DependencyGraph.Builder graph) {
    switch (precedence) {
      case NONE -> {}
      case SESSION -> sessions(index, graph);
      case REAL_TIME -> realTime(index, graph);
    }
  }

  /**
   * A process begins a transaction when its last one has ended. A new life starts a new order. One
   * of unknown outcome may take effect later, so it comes behind others, and nothing behind it.
   */
  private static void sessions(HistoryIndex index, DependencyGraph.Builder graph) {
    LongIndex processes = new LongIndex();
    IntList last = new IntList();
    int[] order = sorted(index, History::invoked);
    for (int t : order) {
      long name = ((long) index.history.life(t) << 32) | (index.history.process(t) & 0xffff_ffffL);
      boolean settled = index.history.outcome(t) != TransactionOutcome.UNKNOWN;
      int process = processes.get(name);
      if (process >= 0) {
        graph.add(Edge.SESSION, last.get(process), t);
        last.set(process, settled ? t : last.get(process));
      } else if (settled) {
        processes.putIfAbsent(name, last.size());
        last.add(t);
      }
    }
  }

  /**
   * A line of relays, one for each end of a transaction. An ending transaction leads to its relay,
   * and a beginning one is reached from the last relay before it.
   */
  private static void realTime(HistoryIndex index, DependencyGraph.Builder graph) {
    History history = index.history;
    int[] byStart = sorted(index, History::invoked);
    int[] byEnd = sorted(index, History::settled);
    int ended = 0;
    int relay = -1;
    for (int t : byStart) {
      while (ended < byEnd.length && history.settled(byEnd[ended]) < history.invoked(t)) {
        int next = graph.relay();
        graph.add(Edge.REAL_TIME, byEnd[ended++], next);
        if (relay >= 0) {
          graph.add(Edge.RELAY, relay, next);
        }
        relay = next;
      }
      if (relay >= 0) {
        graph.add(Edge.RELAY, relay, t);
      }
    }
  }

  /** The sort key of a transaction. */
  @FunctionalInterface
  private interface Place {
    long of(History history, int t);
  }

  private static int[] sorted(HistoryIndex index, Place place) {
    return IntStream.range(0, index.history.size())
        .filter(index::isCommitted)
        .boxed()
        .sorted(Comparator.comparingLong(t -> place.of(index.history, t)))
        .mapToInt(Integer::intValue)
        .toArray();
  }
}

package org.revenantdb.history;

/**
 * The order of transactions, with reasons, as arrays: the edges of a node lie together.
 *
 * <p>Nodes from {@link #transactions} on are <em>relays</em>. A relay connects a set of
 * transactions with a set of later ones; as pairs the edges would be too many. The first edge of a
 * path through relays determines its meaning, the last one the version that was reached.
 */
final class DependencyGraph {

  /** The reason why one transaction comes before another. */
  enum Edge {
    /** The first wrote a version, the second the next version. */
    WW(0),
    /** The first wrote a version that the second read. */
    WR(1),
    /** The first read a version, the second wrote a later one: an anti-dependency. */
    RW(2),
    /**
     * The first read a range without a key that the second wrote: an anti-dependency through a
     * predicate.
     */
    PREDICATE_RW(3),
    /** The same process, in its order. */
    SESSION(4),
    /** The first had ended before the second began. */
    REAL_TIME(5),
    /** Continues the path from a relay. */
    RELAY(6);

    private final int code;

    Edge(int code) {
      this.code = code;
    }

    boolean isAntiDependency() {
      return this == RW || this == PREDICATE_RW;
    }
  }

  /** The reasons by code. */
  private static final Edge[] EDGES = Edge.values();

  private final int transactions;
  private final int[] first;
  private final int[] to;
  private final byte[] kind;
  private final int[] before;
  private final int[] after;

  private DependencyGraph(Builder builder) {
    int edges = builder.from.size();
    transactions = builder.transactions;
    first = new int[builder.nodes + 1];
    to = new int[edges];
    kind = new byte[edges];
    before = new int[edges];
    after = new int[edges];
    for (int e = 0; e < edges; e++) {
      first[builder.from.get(e) + 1]++;
    }
    for (int node = 0; node < builder.nodes; node++) {
      first[node + 1] += first[node];
    }
    int[] free = first.clone();
    for (int e = 0; e < edges; e++) {
      int at = free[builder.from.get(e)]++;
      to[at] = builder.to.get(e);
      kind[at] = (byte) builder.kinds.get(e);
      before[at] = builder.before.get(e);
      after[at] = builder.after.get(e);
    }
  }

  /** The number of nodes that are transactions. */
  int transactions() {
    return transactions;
  }

  int nodes() {
    return first.length - 1;
  }

  int edges() {
    return to.length;
  }

  /** Where a node's edges begin; they end where those of the next node begin. */
  int firstEdge(int node) {
    return first[node];
  }

  int target(int edge) {
    return to[edge];
  }

  Edge kind(int edge) {
    return EDGES[kind[edge]];
  }

  boolean isTransaction(int node) {
    return node < transactions;
  }

  /** The version that was overwritten or read. For a range without the key, the read. */
  int versionBefore(int edge) {
    return before[edge];
  }

  /** The version that was written. */
  int versionAfter(int edge) {
    return after[edge];
  }

  /** Collects edges. */
  static final class Builder {

    private final HistoryIndex index;
    private final int transactions;
    private final IntList from = new IntList();
    private final IntList to = new IntList();
    private final IntList kinds = new IntList();
    private final IntList before = new IntList();
    private final IntList after = new IntList();
    private int nodes;

    Builder(HistoryIndex index) {
      this.index = index;
      this.transactions = index.history.size();
      this.nodes = transactions;
    }

    int relay() {
      return nodes++;
    }

    void add(Edge kind, int source, int target) {
      add(kind, source, target, HistoryIndex.NOTHING, HistoryIndex.NOTHING);
    }

    private void add(Edge kind, int source, int target, int versionBefore, int versionAfter) {
      if (source != target) {
        from.add(source);
        to.add(target);
        kinds.add(kind.code);
        before.add(versionBefore);
        after.add(versionAfter);
      }
    }

    void overwrote(int version, int next) {
      add(Edge.WW, index.writerOf(version), index.writerOf(next), version, next);
    }

    void wasReadBy(int version, int reader) {
      add(Edge.WR, index.writerOf(version), reader, version, version);
    }

    /**
     * Adds edges from every reader of a version to every writer of a later one, except to itself.
     *
     * @param version that was read
     * @param readers their reads
     * @param later versions, of different writers
     */
    void wasOverwritten(int version, IntList readers, IntList later) {
      if (later.size() == 1) {
        for (int r = 0; r < readers.size(); r++) {
          int next = later.get(0);
          overwrote(version, readers.get(r), index.writerOf(next), next);
        }
      } else if (later.size() > 1 && !readers.isEmpty()) {
        relayed(version, readers, later);
      }
    }

    /** Adds relays to prefixes and to suffixes of the later versions. */
    private void relayed(int version, IntList readers, IntList later) {
      int count = later.size();
      LongIndex places = new LongIndex();
      int[] upTo = new int[count];
      int[] fromOn = new int[count];
      for (int i = 0; i < count; i++) {
        places.putIfAbsent(index.writerOf(later.get(i)), i);
        upTo[i] = relay();
        fromOn[i] = relay();
      }
      for (int i = 0; i < count; i++) {
        int next = later.get(i);
        add(Edge.RELAY, upTo[i], index.writerOf(next), version, next);
        add(Edge.RELAY, fromOn[i], index.writerOf(next), version, next);
        if (i > 0) {
          add(Edge.RELAY, upTo[i], upTo[i - 1]);
          add(Edge.RELAY, fromOn[i - 1], fromOn[i]);
        }
      }
      for (int r = 0; r < readers.size(); r++) {
        int read = readers.get(r);
        int own = places.get(index.transactionOf(read));
        if (own == LongIndex.NONE) {
          overwrote(version, read, fromOn[0], HistoryIndex.NOTHING);
          continue;
        }
        if (own > 0) {
          overwrote(version, read, upTo[own - 1], HistoryIndex.NOTHING);
        }
        if (own < count - 1) {
          overwrote(version, read, fromOn[own + 1], HistoryIndex.NOTHING);
        }
      }
    }

    private void overwrote(int version, int read, int target, int next) {
      boolean throughRange = index.accesses.isAbsentInRange(read);
      add(
          throughRange ? Edge.PREDICATE_RW : Edge.RW,
          index.transactionOf(read),
          target,
          throughRange ? read : version,
          next);
    }

    DependencyGraph build() {
      return new DependencyGraph(this);
    }
  }
}

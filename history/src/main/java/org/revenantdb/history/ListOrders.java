package org.revenantdb.history;

import java.util.Arrays;

/**
 * The order of the appends to lists, and the dependencies that follow.
 *
 * <p>A read of a list shows its whole past. So in each life the longest read is the order, and
 * every other read must be a prefix of it. A crash may cut the order of a life off. The order of
 * the next life continues a prefix of it. Behind the cut it contains nothing that the cut life, or
 * an earlier one, had written behind the cut.
 */
final class ListOrders {
  /*
   * Source      Kingsbury and Alvaro, "Elle: Inferring Isolation Anomalies from Experimental
   *             Observations", VLDB 2020, section 4: traceability and recoverability of
   *             list-append. We differ: (1) each life has its own order, where Elle has one; (2)
   *             appends that no read of the life shows are known to come behind its longest read
   *             and give anti-dependencies, where Elle leaves them out; (3) in a transaction that
   *             has appended itself, only the values of others count as read.
   *
   * Time        Reads are compared with the longest one element by element; everything else is done
   *             once for each element of the longest reads.
   */
  private static final int UNKNOWN_VALUE = -2;

  private final HistoryIndex index;
  private final History history;
  private final Accesses accesses;
  private final AccessesByKey byKey;
  private final int[] external;
  private final DependencyGraph.Builder graph;
  private final Sightings sightings;
  private final Anomalies anomalies;
  private final Words words;

  /** The number of the order in which a version was found last, and its position there. */
  private final int[] orderOf;

  private final int[] placeIn;
  private int orders;

  /** The order of one life: the versions that its longest read shows. */
  private record Order(int number, int life, int read, int[] versions) {}

  ListOrders(
      HistoryIndex index,
      AccessesByKey byKey,
      int[] external,
      DependencyGraph.Builder graph,
      Sightings sightings,
      Anomalies anomalies) {
    this.index = index;
    this.history = index.history;
    this.accesses = index.accesses;
    this.byKey = byKey;
    this.external = external;
    this.graph = graph;
    this.sightings = sightings;
    this.anomalies = anomalies;
    this.words = new Words(index);
    this.orderOf = new int[accesses.size()];
    this.placeIn = new int[accesses.size()];
    Arrays.fill(orderOf, -1);
  }

  void run(int key) {
    int end = byKey.first(key + 1);
    Order before = new Order(-1, -1, -1, new int[0]);
    int ofLife;
    for (int at = byKey.first(key); at < end; at = ofLife) {
      int life = lifeOf(at);
      ofLife = at + 1;
      while (ofLife < end && lifeOf(ofLife) == life) {
        ofLife++;
      }
      int longest = longestRead(at, ofLife);
      if (longest >= 0) {
        before = life(before, order(longest, life), at, ofLife);
      }
    }
    findMissing(key, before.life);
  }

  private int lifeOf(int at) {
    return history.life(index.transactionOf(byKey.access(at)));
  }

  private int longestRead(int from, int to) {
    int longest = -1;
    for (int at = from; at < to; at++) {
      int a = byKey.access(at);
      if (isRead(a) && (longest < 0 || external[a] > external[longest])) {
        longest = a;
      }
    }
    return longest;
  }

  private boolean isRead(int access) {
    return !accesses.isWrite(access) && external[access] != ReadCheck.OWN;
  }

  private Order order(int read, int life) {
    int[] versions = new int[external[read]];
    for (int at = 0; at < versions.length; at++) {
      int version = index.versionOf(read, at);
      versions[at] = version == HistoryIndex.NOTHING ? UNKNOWN_VALUE : version;
    }
    return new Order(orders++, life, read, versions);
  }

  /** Processes all accesses of one life to the key; returns the order, for the next life. */
  private Order life(Order before, Order order, int from, int to) {
    int common = commonPrefix(before, order);
    checkAcrossCrash(before, order, common);
    place(order);
    appends(order, common);
    IntList lastReaders = new IntList();
    for (int at = from; at < to; at++) {
      int a = byKey.access(at);
      if (isRead(a)) {
        read(order, a, lastReaders);
      }
    }
    IntList behind = behind(order, from, to);
    int length = order.versions.length;
    int last = length == 0 ? HistoryIndex.NOTHING : order.versions[length - 1];
    graph.wasOverwritten(Math.max(last, HistoryIndex.NOTHING), lastReaders, behind);
    return order;
  }

  private static int commonPrefix(Order one, Order other) {
    int mismatch = Arrays.mismatch(one.versions, other.versions);
    return mismatch < 0 ? one.versions.length : mismatch;
  }

  /** Gives each version its place, and reports duplicates. */
  private void place(Order order) {
    for (int at = 0; at < order.versions.length; at++) {
      int version = order.versions[at];
      if (version == UNKNOWN_VALUE) {
        continue;
      }
      sightings.seen(version, order.life);
      if (orderOf[version] == order.number) {
        tellDuplicate(order.read, version);
      }
      orderOf[version] = order.number;
      placeIn[version] = at;
    }
  }

  private void tellDuplicate(int read, int version) {
    anomalies.add(
        AnomalyKind.DUPLICATE,
        () ->
            "value "
                + words.version(version)
                + " was appended to key "
                + words.key(version)
                + " once and is there more than once"
                + "\n  "
                + words.transaction(index.transactionOf(version))
                + "\n  "
                + words.transaction(index.transactionOf(read)),
        index.transactionOf(version),
        index.transactionOf(read));
  }

  /** Reports values that must not stand behind the cut of a crash. */
  private void checkAcrossCrash(Order before, Order order, int common) {
    boolean cut = common < before.versions.length;
    for (int at = common; at < order.versions.length; at++) {
      int version = order.versions[at];
      if (version == UNKNOWN_VALUE) {
        continue;
      }
      int writer = index.transactionOf(version);
      if (cut && orderOf[version] == before.number) {
        tellIncompatible(before.read, order.read);
        return;
      }
      if (cut && history.life(writer) <= before.life) {
        tellNotAPrefix(before.versions[common], version, order.read);
        return;
      }
      if (history.life(writer) < before.life) {
        tellIncompatible(before.read, order.read);
        return;
      }
    }
  }

  private void tellNotAPrefix(int lost, int kept, int read) {
    if (lost != UNKNOWN_VALUE) {
      anomalies.add(
          AnomalyKind.NOT_A_PREFIX,
          () ->
              "a crash took value "
                  + words.version(lost)
                  + " from key "
                  + words.key(lost)
                  + " and left "
                  + words.version(kept)
                  + ", which was appended behind it"
                  + "\n  lost: "
                  + words.transaction(index.transactionOf(lost))
                  + "\n  kept: "
                  + words.transaction(index.transactionOf(kept))
                  + "\n  seen: "
                  + words.transaction(index.transactionOf(read)),
          index.transactionOf(lost),
          index.transactionOf(kept));
    }
  }

  /**
   * Adds the dependencies between appends. Those that the life before has shown were added there.
   */
  private void appends(Order order, int common) {
    int before = HistoryIndex.NOTHING;
    int rolledBack = HistoryIndex.NOTHING;
    for (int at = 0; at < order.versions.length; at++) {
      int version = order.versions[at];
      if (version == UNKNOWN_VALUE) {
        continue;
      }
      int writer = index.transactionOf(version);
      if (!index.isCommitted(writer)) {
        rolledBack = version;
        continue;
      }
      if (rolledBack != HistoryIndex.NOTHING) {
        tellDirtyUpdate(rolledBack, version);
      }
      if (before != HistoryIndex.NOTHING) {
        if (history.life(writer) < history.life(index.transactionOf(before))) {
          tellIncompatible(order.read, order.read);
        }
        if (at >= common) {
          graph.overwrote(before, version);
        }
      }
      before = version;
    }
  }

  private void tellDirtyUpdate(int rolledBack, int version) {
    anomalies.add(
        AnomalyKind.DIRTY_UPDATE,
        () ->
            "value "
                + words.version(version)
                + " of key "
                + words.key(version)
                + " was appended to a list with "
                + words.version(rolledBack)
                + ", which was rolled back"
                + "\n  "
                + words.transaction(index.transactionOf(rolledBack))
                + "\n  "
                + words.transaction(index.transactionOf(version)),
        index.transactionOf(rolledBack),
        index.transactionOf(version));
  }

  private void read(Order order, int read, IntList lastReaders) {
    int length = external[read];
    if (!isPrefix(read, order)) {
      tellIncompatible(order.read, read);
      for (int at = 0; at < length; at++) {
        element(read, index.versionOf(read, at), order.life);
      }
      lastVersion(read, length == 0 ? HistoryIndex.NOTHING : index.versionOf(read, length - 1));
      return;
    }
    for (int at = 0; at < length; at++) {
      int version = order.versions[at];
      if (version == UNKNOWN_VALUE || !index.isCommitted(index.transactionOf(version))) {
        element(read, version, order.life);
      }
    }
    int version = length == 0 ? HistoryIndex.NOTHING : order.versions[length - 1];
    lastVersion(read, version);
    int next = length;
    while (next < order.versions.length && !isInstalled(order.versions[next])) {
      next++;
    }
    if (next == order.versions.length) {
      lastReaders.add(read);
    } else {
      IntList readers = new IntList(1);
      readers.add(read);
      IntList later = new IntList(1);
      later.add(order.versions[next]);
      graph.wasOverwritten(Math.max(version, HistoryIndex.NOTHING), readers, later);
    }
  }

  private boolean isInstalled(int version) {
    return version >= 0 && index.isCommitted(index.transactionOf(version));
  }

  private boolean isPrefix(int read, Order order) {
    for (int at = 0; at < external[read]; at++) {
      if (accesses.element(read, at) != accesses.element(order.read, at)) {
        return false;
      }
    }
    return true;
  }

  /** Checks a value in a list that is perhaps wrong. */
  private void element(int read, int version, int life) {
    int reader = index.transactionOf(read);
    if (version < 0) {
      anomalies.add(
          AnomalyKind.PHANTOM_VALUE,
          () ->
              words.access(read)
                  + " shows a value that was never appended"
                  + "\n  "
                  + words.transaction(reader),
          reader);
      return;
    }
    sightings.seen(version, life);
    if (index.wasRolledBack(index.transactionOf(version))) {
      anomalies.add(
          AnomalyKind.ABORTED_READ,
          () ->
              words.access(read)
                  + " shows "
                  + words.version(version)
                  + ", which was rolled back"
                  + "\n  "
                  + words.transaction(index.transactionOf(version))
                  + "\n  "
                  + words.transaction(reader),
          index.transactionOf(version),
          reader);
    }
  }

  private void lastVersion(int read, int version) {
    if (!isInstalled(version)) {
      return;
    }
    int reader = index.transactionOf(read);
    int writer = index.transactionOf(version);
    graph.wasReadBy(version, reader);
    if (writer != reader && index.nextOwn(version) != HistoryIndex.NOTHING) {
      anomalies.add(
          AnomalyKind.INTERMEDIATE_READ,
          () ->
              words.access(read)
                  + " ends with "
                  + words.version(version)
                  + ", behind which its transaction appended "
                  + words.version(index.nextOwn(version))
                  + "\n  "
                  + words.transaction(writer)
                  + "\n  "
                  + words.transaction(reader),
          writer,
          reader);
    }
  }

  /** The appends of the life that are not in its order: all of them come behind it. */
  private IntList behind(Order order, int from, int to) {
    IntList behind = new IntList();
    int last = -1;
    for (int at = from; at < to; at++) {
      int a = byKey.access(at);
      if (accesses.isWrite(a)
          && isInstalled(a)
          && orderOf[a] != order.number
          && index.transactionOf(a) != last) {
        behind.add(a);
        last = index.transactionOf(a);
      }
    }
    return behind;
  }

  private void findMissing(int key, int lastRead) {
    for (int at = byKey.first(key); at < byKey.first(key + 1); at++) {
      int a = byKey.access(at);
      if (isInstalled(a) && accesses.isWrite(a) && lifeOf(at) < lastRead && !sightings.isKept(a)) {
        sightings.missing(a);
      }
    }
  }

  private void tellIncompatible(int longest, int read) {
    int one = index.transactionOf(longest);
    int other = index.transactionOf(read);
    anomalies.add(
        AnomalyKind.INCOMPATIBLE_ORDER,
        () ->
            words.access(longest)
                + " and "
                + words.access(read)
                + " cannot both be what was appended so far"
                + "\n  "
                + words.transaction(one)
                + "\n  "
                + words.transaction(other),
        one,
        other);
  }
}

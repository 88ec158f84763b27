package org.revenantdb.history;

import java.util.Arrays;

/**
 * The known order of the writes to registers, and the dependencies that follow.
 *
 * <p>A register does not show its past, so the order is partial. The initial state comes first. A
 * version comes behind the one that its transaction had read before it wrote. If real time counts,
 * it also comes behind versions whose transactions had ended before its own began.
 */
final class RegisterOrders {
  /*
   * Source      Elle (VLDB 2020), section 4 on registers: initial state, writes follow reads,
   *             linearizable keys. We differ: with real time only the nearest versions before a
   *             write are used, as many as there were concurrent transactions; the others follow
   *             through them.
   */
  private final HistoryIndex index;
  private final History history;
  private final Accesses accesses;
  private final AccessesByKey byKey;
  private final int[] external;
  private final DependencyGraph.Builder graph;
  private final Sightings sightings;
  private final Anomalies anomalies;
  private final Words words;
  private final boolean realTime;

  /** For each version, its readers and the next versions: lists, linked by access. */
  private final int[] firstReader;

  private final int[] nextReader;
  private final int[] firstNext;
  private final IntList nextVersion = new IntList();
  private final IntList nextLink = new IntList();

  /** For each version, one that is known to come before it. */
  private final int[] predecessor;

  RegisterOrders(
      HistoryIndex index,
      AccessesByKey byKey,
      int[] external,
      DependencyGraph.Builder graph,
      Sightings sightings,
      Anomalies anomalies,
      boolean realTime) {
    this.index = index;
    this.history = index.history;
    this.accesses = index.accesses;
    this.byKey = byKey;
    this.external = external;
    this.graph = graph;
    this.sightings = sightings;
    this.anomalies = anomalies;
    this.words = new Words(index);
    this.realTime = realTime;
    int count = accesses.size();
    this.firstReader = filled(count);
    this.nextReader = filled(count);
    this.firstNext = filled(count);
    this.predecessor = filled(count);
  }

  private static int[] filled(int count) {
    int[] array = new int[count];
    Arrays.fill(array, -1);
    return array;
  }

  void run(int key) {
    IntList readersOfNothing = new IntList();
    IntList written = new IntList();
    int lastReadOfTransaction = -1;
    for (int at = byKey.first(key); at < byKey.first(key + 1); at++) {
      int a = byKey.access(at);
      int t = index.transactionOf(a);
      if (lastReadOfTransaction >= 0 && index.transactionOf(lastReadOfTransaction) != t) {
        lastReadOfTransaction = -1;
      }
      if (!index.isCommitted(t)) {
        continue;
      }
      if (!accesses.isWrite(a)) {
        if (external[a] != ReadCheck.OWN) {
          read(a, readersOfNothing);
          lastReadOfTransaction = a;
        }
      } else if (index.nextOwn(a) == HistoryIndex.NOTHING) {
        written.add(a);
        follow(a, lastReadOfTransaction);
      }
    }
    findMissing(key);
    if (realTime) {
      followInTime(kept(written));
    }
    IntList first = new IntList();
    for (int i = 0; i < written.size(); i++) {
      int version = written.get(i);
      antiDependencies(version);
      if (predecessor[version] < 0) {
        first.add(version);
      }
    }
    antiDependencies(HistoryIndex.NOTHING, readersOfNothing, first);
  }

  private void read(int read, IntList readersOfNothing) {
    int reader = index.transactionOf(read);
    if (accesses.value(read) == Access.NIL) {
      readersOfNothing.add(read);
      return;
    }
    int version = index.versionOf(read, 0);
    if (version == HistoryIndex.NOTHING) {
      anomalies.add(
          AnomalyKind.PHANTOM_VALUE,
          () ->
              words.access(read)
                  + " shows a value that was never written"
                  + "\n  "
                  + words.transaction(reader),
          reader);
      return;
    }
    int writer = index.transactionOf(version);
    sightings.seen(version, history.life(reader));
    if (!index.isCommitted(writer)) {
      tellRead(AnomalyKind.ABORTED_READ, read, version, "which was rolled back");
      tellIfUsed(read, version);
      return;
    }
    if (writer != reader && index.nextOwn(version) != HistoryIndex.NOTHING) {
      String later = "which its transaction replaced by " + words.version(index.nextOwn(version));
      tellRead(AnomalyKind.INTERMEDIATE_READ, read, version, later);
    }
    graph.wasReadBy(version, reader);
    nextReader[read] = firstReader[version];
    firstReader[version] = read;
  }

  private void tellRead(AnomalyKind kind, int read, int version, String what) {
    int reader = index.transactionOf(read);
    int writer = index.transactionOf(version);
    anomalies.add(
        kind,
        () ->
            words.access(read)
                + ", "
                + what
                + "\n  "
                + words.transaction(writer)
                + "\n  "
                + words.transaction(reader),
        writer,
        reader);
  }

  /**
   * A transaction that read a value which was rolled back, and wrote the register, has built on it.
   */
  private void tellIfUsed(int read, int version) {
    int reader = index.transactionOf(read);
    for (int a = read + 1; a < history.firstAccess(reader + 1); a++) {
      if (accesses.isWrite(a) && index.keyOf(a) == index.keyOf(read)) {
        tellRead(
            AnomalyKind.DIRTY_UPDATE,
            read,
            version,
            "which was rolled back, and then " + words.access(a));
        return;
      }
    }
  }

  /** A transaction's last write of the register follows what it had read before. */
  private void follow(int version, int read) {
    if (read < 0 || accesses.value(read) == Access.NIL) {
      return;
    }
    int before = index.versionOf(read, 0);
    if (before != HistoryIndex.NOTHING && index.isCommitted(index.transactionOf(before))) {
      precedes(before, version);
    }
  }

  private void precedes(int before, int version) {
    predecessor[version] = before;
    graph.overwrote(before, version);
    nextVersion.add(version);
    nextLink.add(firstNext[before]);
    firstNext[before] = nextVersion.size() - 1;
  }

  /**
   * Versions that a crash did not take. A lost one comes behind what its life had seen, but before
   * nothing.
   */
  private IntList kept(IntList written) {
    IntList kept = new IntList();
    for (int i = 0; i < written.size(); i++) {
      if (!sightings.isMissing(written.get(i))) {
        kept.add(written.get(i));
      }
    }
    return kept;
  }

  private void followInTime(IntList written) {
    int count = written.size();
    int[] byEnd = ordered(written, /* byEnd= */ true);
    int[] byStart = ordered(written, /* byEnd= */ false);
    int ended = 0;
    long latestStart = Long.MIN_VALUE;
    for (int i = 0; i < count; i++) {
      int version = byStart[i];
      long invoked = history.invoked(index.transactionOf(version));
      while (ended < count && end(byEnd[ended]) < invoked) {
        latestStart = Math.max(latestStart, history.invoked(index.transactionOf(byEnd[ended])));
        ended++;
      }
      int read = predecessor[version];
      for (int j = ended - 1; j >= 0 && end(byEnd[j]) >= latestStart; j--) {
        if (byEnd[j] != read) {
          precedes(byEnd[j], version);
        }
      }
    }
  }

  private long end(int version) {
    return history.settled(index.transactionOf(version));
  }

  private int[] ordered(IntList written, boolean byEnd) {
    return Arrays.stream(written.toArray())
        .boxed()
        .sorted((a, b) ->
            byEnd
                ? Long.compare(end(a), end(b))
                : Long.compare(
                    history.invoked(index.transactionOf(a)),
                    history.invoked(index.transactionOf(b))))
        .mapToInt(Integer::intValue)
        .toArray();
  }

  private void antiDependencies(int version) {
    IntList later = new IntList();
    for (int link = firstNext[version]; link >= 0; link = nextLink.get(link)) {
      later.add(nextVersion.get(link));
    }
    IntList readers = new IntList();
    for (int read = firstReader[version]; read >= 0; read = nextReader[read]) {
      readers.add(read);
    }
    antiDependencies(version, readers, later);
  }

  /** A lost version comes behind the reads of its own life, but not behind those of later ones. */
  private void antiDependencies(int version, IntList readers, IntList later) {
    if (kept(later).size() == later.size()) {
      graph.wasOverwritten(version, readers, later);
      return;
    }
    for (int life = 0; life < history.lives(); life++) {
      IntList ofLife = new IntList();
      for (int r = 0; r < readers.size(); r++) {
        if (history.life(index.transactionOf(readers.get(r))) == life) {
          ofLife.add(readers.get(r));
        }
      }
      IntList behind = new IntList();
      for (int i = 0; i < later.size(); i++) {
        int next = later.get(i);
        if (!sightings.isMissing(next) || history.life(index.transactionOf(next)) >= life) {
          behind.add(next);
        }
      }
      graph.wasOverwritten(version, ofLife, behind);
    }
  }

  /**
   * A life reads what the lives before it left. Every version known to have been written behind
   * that is missing.
   */
  private void findMissing(int key) {
    IntList left = new IntList(); // of former lives, as the next life read it
    int ofLife;
    for (int end = byKey.first(key + 1); end > byKey.first(key); end = ofLife) {
      int life = lifeOf(end - 1);
      ofLife = end - 1;
      while (ofLife > byKey.first(key) && lifeOf(ofLife - 1) == life) {
        ofLife--;
      }
      IntList found = new IntList();
      for (int at = ofLife; at < end; at++) {
        int a = byKey.access(at);
        if (!index.isCommitted(index.transactionOf(a))) {
          continue;
        }
        if (!accesses.isWrite(a)) {
          addIfOld(a, life, found);
        } else if (index.nextOwn(a) == HistoryIndex.NOTHING && !sightings.isKept(a)) {
          compare(a, left);
        }
      }
      left = found.isEmpty() ? left : found;
    }
  }

  private int lifeOf(int at) {
    return history.life(index.transactionOf(byKey.access(at)));
  }

  private void addIfOld(int read, int life, IntList found) {
    if (external[read] == ReadCheck.OWN) {
      return;
    }
    int version = index.versionOf(read, 0);
    if (accesses.value(read) == Access.NIL
        || (version >= 0 && history.life(index.transactionOf(version)) < life)) {
      found.add(version);
    }
  }

  private void compare(int version, IntList left) {
    int writer = index.transactionOf(version);
    for (int i = 0; i < left.size(); i++) {
      int found = left.get(i);
      if (found == HistoryIndex.NOTHING
          || found == predecessor[version]
          || end(found) < history.invoked(writer)) {
        sightings.missing(version);
      }
    }
  }
}

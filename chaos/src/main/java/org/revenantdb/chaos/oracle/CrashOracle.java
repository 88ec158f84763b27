package org.revenantdb.chaos.oracle;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.revenantdb.chaos.oracle.Attempt.Outcome;
import org.revenantdb.chaos.oracle.Attempt.Read;
import org.revenantdb.chaos.oracle.Attempt.Write;
import org.revenantdb.chaos.oracle.Finding.Kind;

/**
 * Knows the states of a transactional store that are legal after a crash: acknowledged ⊆ recovered
 * ⊆ attempted, each transaction whole or not at all.
 *
 * <p>It keeps the state that was last verified and every transaction since. {@link #judge} compares
 * a recovered state with them. If there is no finding, that state becomes the new base, and the
 * transactions are dropped.
 *
 * <p>It is for stores with snapshot isolation and first-updater-wins whose acknowledged
 * transactions are durable and whose snapshots show only durable transactions.
 *
 * <p>Threads: one.
 *
 * @param <K> the key of a row
 */
public final class CrashOracle<K extends Comparable<K>> {
  /*
   * The order of versions. Two committed writers of one row do not overlap: the later one took its
   * snapshot after the earlier one had committed, otherwise it would have met a conflict. The tick
   * after begin() is taken between a writer's snapshot and its first write. So for two writers T, U
   * of one row with T first:
   *     begun(T) < first write of T < commit of T <= snapshot of U < begun(U).
   * Sorting the writers of a row by that tick gives the order of its versions, including deletions,
   * without the order of commits. Each writer has also recorded which version it replaced. If the
   * order does not match these records, isolation was broken (LOST_UPDATE).
   *
   * Transactions in doubt. n of them have 2^n possible outcomes. All are tried. If one has no
   * findings, the state is legal. Otherwise the one with the fewest findings is reported. Only rows
   * that a transaction in doubt wrote depend on the choice, and n is at most the number of sessions
   * for each unverified crash.
   *
   * What reads prove. A read has a version. It must be one of the row's committed versions
   * (DIRTY_READ). So a transaction in doubt that a durable reader saw must be there. It must not be
   * older than the newest version acknowledged before the reader began (STALE_READ). And if a
   * reader saw a version of one row written by T, it must not have seen an older version of another
   * row that T wrote (FRACTURED_READ). This is not a full check of snapshot isolation: it does not
   * search for cycles over several transactions.
   */

  /** At most two to this power outcomes are tried. */
  static final int MAX_IN_DOUBT = 14;

  private static final int FINDINGS_SHOWN = 20;

  private final TreeMap<K, Long> base = new TreeMap<>();
  private final List<Attempt<K>> attempts = new ArrayList<>();
  private final List<Finding> early = new ArrayList<>();

  /** Creates an oracle for an empty store. */
  public CrashOracle() {}

  /**
   * Adds a transaction, which may continue afterwards.
   *
   * @param attempt the transaction
   */
  public void add(Attempt<K> attempt) {
    attempts.add(attempt);
  }

  /**
   * Adds a finding from before the crash.
   *
   * @param finding the finding, or null for none
   */
  public void add(@Nullable Finding finding) {
    if (finding != null) {
      early.add(finding);
    }
  }

  /**
   * Returns how many transactions ended without an answer since the last verified state.
   *
   * @return a count
   */
  public int inDoubt() {
    return (int) attempts.stream().filter(a -> a.outcome() == Outcome.IN_DOUBT).count();
  }

  /**
   * Returns the state that was last verified.
   *
   * @return each row's version
   */
  public Map<K, Long> base() {
    return Map.copyOf(base);
  }

  /**
   * Compares a recovered state with the legal ones.
   *
   * @param recovered each row that was found, with its version
   * @return the findings; without any, this state is the new base
   */
  public Judgement judge(Map<K, Long> recovered) {
    List<Attempt<K>> doubtful =
        attempts.stream()
            .filter(a -> a.outcome() == Outcome.IN_DOUBT && a.rowsWritten() > 0)
            .toList();
    if (doubtful.size() > MAX_IN_DOUBT) {
      throw new IllegalStateException(
          doubtful.size() + " transactions are in doubt: check the store more often");
    }
    Trial best = bestTrial(doubtful, recovered);
    List<Finding> findings = new ArrayList<>(early);
    findings.addAll(best.findings);
    int survived = best.committedInDoubt;
    if (findings.isEmpty()) {
      base.clear();
      base.putAll(recovered);
      attempts.clear();
    }
    return new Judgement(
        findings.subList(0, Math.min(findings.size(), FINDINGS_SHOWN)),
        survived,
        doubtful.size() - survived);
  }

  private Trial bestTrial(List<Attempt<K>> doubtful, Map<K, Long> recovered) {
    Chains<K> chains = new Chains<>(attempts);
    Set<K> undecided = new LinkedHashSet<>();
    doubtful.forEach(a -> undecided.addAll(a.writes().keySet()));
    Set<Attempt<K>> none = Set.of();
    List<Finding> certain = new ArrayList<>();
    Set<K> decided = new LinkedHashSet<>(base.keySet());
    decided.addAll(recovered.keySet());
    decided.addAll(chains.keys());
    for (K key : decided) {
      if (!undecided.contains(key)) {
        compare(key, chains, none, recovered, certain);
      }
    }
    Trial best = null;
    for (int outcome = (1 << doubtful.size()) - 1; outcome >= 0; outcome--) {
      Set<Attempt<K>> survivors = new HashSet<>();
      for (int i = 0; i < doubtful.size(); i++) {
        if ((outcome & (1 << i)) != 0) {
          survivors.add(doubtful.get(i));
        }
      }
      List<Finding> findings = new ArrayList<>(certain);
      for (K key : undecided) {
        compare(key, chains, survivors, recovered, findings);
      }
      int wrongRows = findings.size();
      if (wrongRows == 0) {
        checkReads(chains, survivors, findings);
      }
      Trial trial = new Trial(findings, wrongRows, survivors.size());
      if (best == null || trial.compareTo(best) < 0) {
        best = trial;
      }
      if (findings.isEmpty()) {
        break;
      }
    }
    if (best == null) {
      throw new IllegalStateException("no outcome was tried");
    }
    nameTornTransactions(doubtful, recovered, best.findings);
    return best;
  }

  /** Follows the versions of one row and compares the last one with the recovered one. */
  private void compare(
      K key,
      Chains<K> chains,
      Set<Attempt<K>> survivors,
      Map<K, Long> recovered,
      List<Finding> findings) {
    long expected = base.getOrDefault(key, Attempt.ABSENT);
    Attempt<K> last = null;
    for (Attempt<K> writer : chains.writers(key)) {
      if (!isCommitted(writer, survivors)) {
        continue;
      }
      Write write = Chains.writeOf(writer, key);
      if (write.replaced() != expected) {
        findings.add(
            new Finding(
                Kind.LOST_UPDATE,
                "%s replaced %s of %s, but %s was there%s"
                    .formatted(
                        writer,
                        Attempt.text(write.replaced()),
                        key,
                        Attempt.text(expected),
                        last == null ? "" : ", written by " + last)));
      }
      expected = write.version();
      last = writer;
    }
    long found = recovered.getOrDefault(key, Attempt.ABSENT);
    if (found != expected) {
      findings.add(classify(key, expected, found, last, chains));
    }
  }

  private Finding classify(
      K key, long expected, long found, @Nullable Attempt<K> last, Chains<K> chains) {
    String detail =
        "%s holds %s, but %s was expected%s"
            .formatted(
                key,
                Attempt.text(found),
                Attempt.text(expected),
                last == null ? " as verified before" : " of " + last);
    if (found != Attempt.ABSENT && found != base.getOrDefault(key, Attempt.ABSENT)) {
      Attempt<K> author = chains.author(key, found);
      if (author == null) {
        return new Finding(Kind.PHANTOM, detail + "; no known transaction has written that");
      }
      if (author.outcome() == Outcome.RUNNING || author.outcome() == Outcome.ROLLED_BACK) {
        return new Finding(Kind.UNCOMMITTED, detail + "; it was written by " + author);
      }
    }
    return new Finding(expected == Attempt.ABSENT ? Kind.RESURRECTED : Kind.LOST, detail);
  }

  /**
   * A transaction in doubt of which some rows are there and others are not explains more than the
   * rows alone.
   */
  private void nameTornTransactions(
      List<Attempt<K>> doubtful, Map<K, Long> recovered, List<Finding> findings) {
    if (findings.isEmpty()) {
      return;
    }
    for (Attempt<K> attempt : doubtful) {
      List<K> there = new ArrayList<>();
      List<K> missing = new ArrayList<>();
      attempt
          .writes()
          .forEach((key, write) -> {
            long found = recovered.getOrDefault(key, Attempt.ABSENT);
            if (found == write.version()) {
              there.add(key);
            } else if (found == write.replaced()) {
              missing.add(key);
            }
          });
      if (!there.isEmpty() && !missing.isEmpty()) {
        findings.add(
            0,
            new Finding(
                Kind.TORN,
                "of %s, %d rows are there (such as %s) and %d are not (such as %s)"
                    .formatted(
                        attempt,
                        there.size(),
                        there.getFirst(),
                        missing.size(),
                        missing.getFirst())));
      }
    }
  }

  private void checkReads(Chains<K> chains, Set<Attempt<K>> survivors, List<Finding> findings) {
    Map<K, List<Attempt<K>>> committed = new HashMap<>();
    for (K key : chains.keys()) {
      committed.put(
          key, chains.writers(key).stream().filter(w -> isCommitted(w, survivors)).toList());
    }
    for (Attempt<K> reader : attempts) {
      checkReadsOf(reader, committed, findings);
    }
  }

  private void checkReadsOf(
      Attempt<K> reader, Map<K, List<Attempt<K>>> committed, List<Finding> findings) {
    Map<K, Integer> places = new HashMap<>();
    Set<Attempt<K>> authors = new LinkedHashSet<>();
    for (Read<K> read : reader.reads()) {
      List<Attempt<K>> writers = committed.getOrDefault(read.key(), List.of());
      int place = placeOf(read, writers, reader);
      if (place == NOWHERE) {
        findings.add(
            new Finding(
                Kind.DIRTY_READ,
                "%s was shown %s of %s, which is not among its committed versions"
                    .formatted(reader, Attempt.text(read.version()), read.key())));
        continue;
      }
      int newestKnown = newestAcknowledgedBefore(reader, writers);
      if (place < newestKnown) {
        findings.add(
            new Finding(
                Kind.STALE_READ,
                "%s was shown %s of %s, although %s was acknowledged before it began"
                    .formatted(
                        reader,
                        Attempt.text(read.version()),
                        read.key(),
                        writers.get(newestKnown))));
      }
      places.put(read.key(), place);
      // Only a value identifies its writer: the row may have been absent before, too.
      if (place >= 0 && read.version() != Attempt.ABSENT) {
        authors.add(writers.get(place));
      }
    }
    for (Attempt<K> author : authors) {
      checkWholeOf(author, reader, places, committed, findings);
    }
  }

  /**
   * A reader that saw one row of a transaction must have seen its other rows, or something later.
   */
  private void checkWholeOf(
      Attempt<K> author,
      Attempt<K> reader,
      Map<K, Integer> places,
      Map<K, List<Attempt<K>>> committed,
      List<Finding> findings) {
    for (K key : author.writes().keySet()) {
      Integer place = places.get(key);
      if (place == null) {
        continue;
      }
      int own = committed.getOrDefault(key, List.of()).indexOf(author);
      if (place < own) {
        findings.add(
            new Finding(
                Kind.FRACTURED_READ,
                "%s saw another row of %s, but not its %s".formatted(reader, author, key)));
        return;
      }
    }
  }

  private static final int BASE = -1;
  private static final int NOWHERE = -2;

  /**
   * The place of the version in the order of the row's versions: the index of its writer, or BASE.
   * The row may have been absent several times; then the last time before the reader began counts.
   */
  private int placeOf(Read<K> read, List<Attempt<K>> writers, Attempt<K> reader) {
    for (int i = writers.size() - 1; i >= 0; i--) {
      Attempt<K> writer = writers.get(i);
      if (writer.begun() < reader.begun()
          && Chains.writeOf(writer, read.key()).version() == read.version()) {
        return i;
      }
    }
    return base.getOrDefault(read.key(), Attempt.ABSENT) == read.version() ? BASE : NOWHERE;
  }

  private static <K> int newestAcknowledgedBefore(Attempt<K> reader, List<Attempt<K>> writers) {
    for (int i = writers.size() - 1; i >= 0; i--) {
      if (writers.get(i).acknowledgedAt() < reader.beforeBegin()) {
        return i;
      }
    }
    return BASE;
  }

  private static <K> boolean isCommitted(Attempt<K> attempt, Set<Attempt<K>> survivors) {
    return attempt.outcome() == Outcome.ACKNOWLEDGED || survivors.contains(attempt);
  }

  /**
   * One assumed outcome of all transactions in doubt. The best one explains the rows, then the
   * reads.
   */
  private record Trial(List<Finding> findings, int wrongRows, int committedInDoubt)
      implements Comparable<Trial> {

    @Override
    public int compareTo(Trial other) {
      return wrongRows != other.wrongRows
          ? Integer.compare(wrongRows, other.wrongRows)
          : Integer.compare(findings.size(), other.findings.size());
    }
  }

  /** The writers of each row in the order of their versions. */
  private static final class Chains<K extends Comparable<K>> {

    private final Map<K, List<Attempt<K>>> candidates = new TreeMap<>();
    private final Map<K, Map<Long, Attempt<K>>> authors = new HashMap<>();

    Chains(List<Attempt<K>> attempts) {
      for (Attempt<K> attempt : attempts) {
        attempt
            .writes()
            .forEach((key, write) -> {
              authors.computeIfAbsent(key, k -> new HashMap<>()).put(write.version(), attempt);
              if (attempt.outcome() == Outcome.ACKNOWLEDGED
                  || attempt.outcome() == Outcome.IN_DOUBT) {
                candidates.computeIfAbsent(key, k -> new ArrayList<>()).add(attempt);
              }
            });
      }
      candidates.values().forEach(list -> list.sort(Comparator.comparingLong(Attempt::begun)));
    }

    Set<K> keys() {
      return candidates.keySet();
    }

    List<Attempt<K>> writers(K key) {
      return candidates.getOrDefault(key, List.of());
    }

    @Nullable Attempt<K> author(K key, long version) {
      return authors.getOrDefault(key, Map.of()).get(version);
    }

    static <K> Write writeOf(Attempt<K> attempt, K key) {
      Write write = attempt.writes().get(key);
      if (write == null) {
        throw new IllegalStateException(attempt + " did not write " + key);
      }
      return write;
    }
  }
}

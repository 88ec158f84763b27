package org.revenantdb.chaos.oracle;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.revenantdb.chaos.oracle.Finding.Kind;

/**
 * Compares what each key holds after a crash with what was promised before it.
 *
 * <p>Threads: one; used once.
 */
final class PromiseOracle {
  /*
   * T < U: T was decided (answered, or ended by the crash of a former life) at or before the place where U's attempt
   * began. The authors of what a key holds are those that may be there and wrote just that; of nothing the empty start,
   * too, which comes before everybody.
   *
   *   reached   of a key: the latest decision among its authors. T is not there by that key if it began at `reached` or
   *             later, for then all authors are < T; so each key costs only its writers behind `reached`.
   *   there     T is there by a key if it is the only author. An author that is < a durable writer of the key does
   *             not count, for if it were the one, that writer would be lost, and reported.
   *
   * A key whose value has no author says nothing more: it is reported, and T's other keys decide about T.
   *
   * Why no legal state is reported: values differ, so the one who really wrote what is there is among the authors.
   * If T really is there, then on each of its keys the real author is T or comes after it, and is not < T. If a real
   * author is the only one, it really is there. What removes is not unlike other removals, which is why "the only
   * author" is asked for, and nothing where there are two.
   */

  private static final int SHOWN_OF_A_KIND = 5;

  private final PromiseIndex index;
  private final long crash;

  private final List<Finding> inexplicable = new ArrayList<>();
  private final Map<Kind, List<String>> findings = new LinkedHashMap<>();
  private final Map<Kind, Integer> counts = new EnumMap<>(Kind.class);
  private final Map<PromisedTransaction, Holding> there = new HashMap<>();
  private final Map<PromisedTransaction, Holding> missing = new LinkedHashMap<>();

  /** What a key holds. */
  private record Holding(Bytes key, @Nullable Bytes found) {
    @Override
    public String toString() {
      return key + " holds " + text(found);
    }
  }

  /** Transactions that one key proves not to be there. */
  private record Absence(Holding holding, List<PromisedTransaction> writers) {}

  PromiseOracle(PromiseIndex index, long crash) {
    this.index = index;
    this.crash = crash;
  }

  /**
   * Judges a state.
   *
   * @param answers every key that was asked, and what it holds
   * @return what is wrong, a few of each kind
   */
  List<Finding> judge(Map<Bytes, @Nullable Bytes> answers) {
    List<Absence> absences = new ArrayList<>();
    int emptied = 0;
    for (Map.Entry<Bytes, @Nullable Bytes> answer : answers.entrySet()) {
      Holding holding = new Holding(answer.getKey(), answer.getValue());
      Absence absence = look(holding);
      if (absence != null) {
        absences.add(absence);
        emptied += holding.found == null ? 1 : 0;
      }
    }
    int doubtful = inexplicable.size() + (index.removes() ? emptied : 0);
    boolean tolerated = doubtful > 0 && doubtful <= index.tolerance();
    if (!tolerated) {
      inexplicable.forEach(finding -> report(finding.kind(), finding::detail));
    }
    Set<PromisedTransaction> lost = new LinkedHashSet<>();
    for (Absence absence : absences) {
      if (!tolerated || !index.removes() || absence.holding.found != null) {
        absent(absence, lost);
      }
    }
    reportTorn();
    reportGapsInPrefix();
    return shown();
  }

  /** Looks at one key: who is there by it, and who is not (null if nobody is missed). */
  private @Nullable Absence look(Holding holding) {
    KeyHistory history = index.history(holding.key);
    if (history == null) {
      inexplicable.add(new Finding(Kind.PHANTOM, holding + "; nobody ever spoke of that key"));
      return null;
    }
    long reached = Long.MIN_VALUE;
    boolean explained = holding.found == null;
    for (PromisedTransaction author : history.writersOf(holding.found)) {
      if (author.mayBeThere(crash)) {
        reached = Math.max(reached, author.decided(crash));
        explained = true;
      }
    }
    if (!explained) {
      reportUnexplained(holding, history);
      return null;
    }
    noteThere(holding, history);
    List<PromisedTransaction> writers = history.writers();
    List<PromisedTransaction> behind = new ArrayList<>();
    for (int i = history.attemptedBefore(crash) - 1; i >= 0; i--) {
      PromisedTransaction writer = writers.get(i);
      if (writer.attempted < reached) {
        break;
      }
      if (writer.mayBeThere(crash)) {
        behind.add(writer);
      }
    }
    return behind.isEmpty() ? null : new Absence(holding, behind);
  }

  private void reportUnexplained(Holding holding, KeyHistory history) {
    for (PromisedTransaction writer : history.writersOf(holding.found)) {
      if (writer.mustNotBeThere(crash)) {
        report(
            Kind.UNCOMMITTED,
            () -> holding + ", which must not be there: " + writer.describe(crash) + " wrote it");
        return;
      }
    }
    inexplicable.add(
        new Finding(
            Kind.PHANTOM,
            "%s; nobody wrote that before the crash at %d%s"
                .formatted(holding, crash, expected(history))));
  }

  /** What would have been right, for messages. */
  private String expected(KeyHistory history) {
    PromisedTransaction newest = newestDurable(history);
    return newest == null
        ? ""
        : ", expected %s or newer of %s"
            .formatted(text(newest.writes.get(history.key)), newest.describe(crash));
  }

  private @Nullable PromisedTransaction newestDurable(KeyHistory history) {
    List<PromisedTransaction> writers = history.writers();
    for (int i = history.attemptedBefore(crash) - 1; i >= 0; i--) {
      if (writers.get(i).mustBeThere(crash)) {
        return writers.get(i);
      }
    }
    return null;
  }

  private void noteThere(Holding holding, KeyHistory history) {
    PromisedTransaction newest = newestDurable(history);
    long overwritten = newest == null ? Long.MIN_VALUE : newest.attempted;
    PromisedTransaction only = null;
    int authors = holding.found == null && newest == null ? 1 : 0;
    for (PromisedTransaction author : history.writersOf(holding.found)) {
      if (author.mayBeThere(crash) && author.decided(crash) > overwritten) {
        only = author;
        authors++;
      }
    }
    if (authors == 1 && only != null) {
      there.putIfAbsent(only, holding);
    }
  }

  /** Notes who is not there by a key, and reports the newest of them that was owed. */
  private void absent(Absence absence, Set<PromisedTransaction> lost) {
    boolean reported = false;
    for (PromisedTransaction writer : absence.writers) {
      missing.putIfAbsent(writer, absence.holding);
      if (!reported && writer.mustBeThere(crash)) {
        reported = true;
        if (lost.add(writer)) {
          Bytes expected = writer.writes.get(absence.holding.key);
          report(
              expected == null ? Kind.RESURRECTED : Kind.LOST,
              () ->
                  "%s, expected %s or newer of %s"
                      .formatted(absence.holding, text(expected), writer.describe(crash)));
        }
      }
    }
  }

  private void reportTorn() {
    missing.forEach((transaction, absence) -> {
      Holding presence = there.get(transaction);
      if (presence != null) {
        report(
            Kind.TORN,
            () ->
                "%s is there, for %s, and is not, for %s"
                    .formatted(transaction.describe(crash), presence, absence));
      }
    });
  }

  private void reportGapsInPrefix() {
    Map<Integer, PromisedTransaction> last = new HashMap<>();
    there
        .keySet()
        .forEach(t -> last.merge(t.life, t, (a, b) -> a.attempted >= b.attempted ? a : b));
    missing.forEach((transaction, absence) -> {
      PromisedTransaction later = last.get(transaction.life);
      if (later != null
          && transaction.isLazy(crash)
          && transaction.decided(crash) <= later.attempted) {
        report(
            Kind.NOT_A_PREFIX,
            () ->
                "%s is not there, for %s, and %s, which came after it, is, for %s"
                    .formatted(
                        transaction.describe(crash),
                        absence,
                        later.describe(crash),
                        there.get(later)));
      }
    });
  }

  /** Only what is shown is put into words: a state that lost all has thousands of findings. */
  private void report(Kind kind, Supplier<String> detail) {
    List<String> details = findings.computeIfAbsent(kind, k -> new ArrayList<>());
    if (details.size() < SHOWN_OF_A_KIND) {
      details.add(detail.get());
    }
    counts.merge(kind, 1, Integer::sum);
  }

  private List<Finding> shown() {
    List<Finding> shown = new ArrayList<>();
    findings.forEach((kind, details) -> {
      details.forEach(detail -> shown.add(new Finding(kind, detail)));
      int more = counts.getOrDefault(kind, 0) - details.size();
      if (more > 0) {
        String last = shown.removeLast().detail();
        shown.add(new Finding(kind, last + " (and " + more + " more like this)"));
      }
    });
    return shown;
  }

  private static String text(@Nullable Bytes value) {
    return value == null ? "nothing" : value.toString();
  }
}

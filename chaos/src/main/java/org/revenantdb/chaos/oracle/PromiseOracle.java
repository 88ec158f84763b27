package org.revenantdb.chaos.oracle;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.revenantdb.chaos.oracle.Finding.Kind;

/**
 * Compares the value of each key after a crash with the promises before it.
 *
 * <p>Threads: one; used once.
 */
final class PromiseOracle {
  /*
   * T < U: T was decided (answered, or ended by the crash of a former life) at or before the place
   * where U's attempt began. Or: one thread received the promise of T before it reported U, which
   * it had not announced. The authors of a value are the transactions that may be there and wrote
   * exactly this value. If there is no value, the empty start is an author, too, which comes before
   * all others.
   *
   *   known     a transaction that is there: durable, or the only author of a key.
   *   feasible  authors that are not < a known transaction that wrote the key. (If one of the
   *             others were the real author, that known transaction would not be there.) An author
   *             that is left alone is known, which may leave others alone on other keys. So the
   *             known and the feasible are computed together, until nothing changes.
   *   reached   for a key: the latest decision among its feasible authors. T is not there by that
   *             key if it began at `reached` or later, because all of them are < T. So each key
   *             costs only its writers behind `reached`, and those that one thread did not
   *             announce.
   *   mixed     every known transaction that wrote a key comes before the key's only author. With <
   *             this must be an order. A cycle can be shortened until at most one < is left in it,
   *             because for two pairs T < U, V < W also T < W or V < U holds. So the search follows
   *             the other relations from each author. It looks for a transaction that began after
   *             one of these was decided and yet comes before the first.
   *
   * A key whose value has no author gives no further information: it is reported, and T's other
   * keys decide about T.
   *
   * Why no legal state is reported: values differ, so the real writer of a value is among the
   * authors. If T really is there, then on each of its keys the real author is T or comes after it,
   * and is not < T. If a real author is the only one, it really is there. Removals do not differ
   * from each other. That is why the rules use "the only author", and conclude nothing if there are
   * two.
   */

  private static final int SHOWN_OF_A_KIND = 5;

  private final PromiseIndex index;
  private final long crash;

  private final List<Finding> inexplicable = new ArrayList<>();
  private final Map<Kind, List<String>> findings = new LinkedHashMap<>();
  private final Map<Kind, Integer> counts = new EnumMap<>(Kind.class);
  private final Map<Bytes, Look> looks = new LinkedHashMap<>();
  private final Queue<Look> toNarrow = new ArrayDeque<>();
  private final Map<PromisedTransaction, Holding> there = new HashMap<>();
  private final Map<PromisedTransaction, Holding> missing = new LinkedHashMap<>();

  /** The value of a key. */
  private record Holding(Bytes key, @Nullable Bytes found) {
    @Override
    public String toString() {
      return key + " holds " + text(found);
    }
  }

  /** A key that was read, and the possible authors of its value. */
  private static final class Look {
    final Holding holding;
    final KeyHistory history;
    final List<PromisedTransaction> authors;

    /** Writers of the key that are known without a promise. */
    final List<PromisedTransaction> proved = new ArrayList<>();

    List<PromisedTransaction> feasible;
    @Nullable PromisedTransaction only;

    Look(Holding holding, KeyHistory history, List<PromisedTransaction> authors) {
      this.holding = holding;
      this.history = history;
      this.authors = authors;
      this.feasible = authors;
    }
  }

  /** Transactions that one key proves to be missing. */
  private record Absence(Look look, List<PromisedTransaction> writers) {}

  PromiseOracle(PromiseIndex index, long crash) {
    this.index = index;
    this.crash = crash;
  }

  /**
   * Compares a state.
   *
   * @param answers every key that was read, with its value
   * @return the findings, a few of each kind
   */
  List<Finding> judge(Map<Bytes, @Nullable Bytes> answers) {
    answers.forEach((key, found) -> look(new Holding(key, found)));
    looks.values().forEach(this::narrow);
    while (!toNarrow.isEmpty()) {
      narrow(toNarrow.remove());
    }
    List<Absence> absences = new ArrayList<>();
    int emptied = 0;
    for (Look look : looks.values()) {
      List<PromisedTransaction> behind = behind(look);
      if (!behind.isEmpty()) {
        absences.add(new Absence(look, behind));
        boolean missed = behind.stream().anyMatch(writer -> writer.mustBeThere(crash));
        emptied += look.holding.found == null && missed ? 1 : 0;
      }
    }
    int doubtful = inexplicable.size() + (index.removes() ? emptied : 0);
    boolean tolerated = doubtful > 0 && doubtful <= index.tolerance();
    if (!tolerated) {
      inexplicable.forEach(finding -> report(finding.kind(), finding::detail));
    }
    Set<PromisedTransaction> lost = new LinkedHashSet<>();
    for (Absence absence : absences) {
      if (!tolerated || !index.removes() || absence.look.holding.found != null) {
        absent(absence, lost);
      }
    }
    if (!tolerated) {
      looks.values().forEach(this::reportUnseen);
    }
    reportTorn();
    if (missing.keySet().stream().noneMatch(there::containsKey)) {
      reportMixed();
    }
    reportGapsInPrefix();
    return shown();
  }

  /** Determines the possible authors of one key. */
  private void look(Holding holding) {
    KeyHistory history = index.history(holding.key);
    if (history == null) {
      inexplicable.add(new Finding(Kind.PHANTOM, holding + "; there is no promise about that key"));
      return;
    }
    List<PromisedTransaction> authors = new ArrayList<>(1);
    for (PromisedTransaction author : history.writersOf(holding.found)) {
      if (author.mayBeThere(crash)) {
        authors.add(author);
      }
    }
    if (authors.isEmpty() && holding.found != null) {
      reportUnexplained(holding, history);
      return;
    }
    looks.put(holding.key, new Look(holding, history, authors));
  }

  /**
   * Removes authors that a known transaction has overwritten. An author that is left alone is
   * known.
   */
  private void narrow(Look look) {
    PromisedTransaction newest = newestDurable(look.history);
    boolean start = look.holding.found == null && newest == null && look.proved.isEmpty();
    List<PromisedTransaction> feasible = new ArrayList<>(1);
    for (PromisedTransaction author : look.feasible) {
      if (!isOverwritten(author, newest, look)) {
        feasible.add(author);
      }
    }
    look.feasible = feasible;
    look.only = feasible.size() == 1 && !start ? feasible.getFirst() : null;
    PromisedTransaction only = look.only;
    if (only != null && there.putIfAbsent(only, look.holding) == null && !only.mustBeThere(crash)) {
      for (Bytes key : only.writes.keySet()) {
        Look other = looks.get(key);
        if (other != null && other != look) {
          other.proved.add(only);
          toNarrow.add(other);
        }
      }
    }
  }

  private boolean isOverwritten(
      PromisedTransaction author, @Nullable PromisedTransaction newest, Look look) {
    if (newest != null && author.isBefore(newest, crash)) {
      return true;
    }
    for (PromisedTransaction known : look.proved) {
      if (author.isBefore(known, crash)) {
        return true;
      }
    }
    return look.history.unannouncedBeside(author).stream()
        .anyMatch(known -> known.mustBeThere(crash) && author.isBefore(known, crash));
  }

  /** The transactions that are missing by a key, the newest first. */
  private List<PromisedTransaction> behind(Look look) {
    List<PromisedTransaction> authors = look.feasible.isEmpty() ? look.authors : look.feasible;
    long reached = Long.MIN_VALUE;
    PromisedTransaction last = null;
    for (PromisedTransaction author : authors) {
      if (last == null || author.decided(crash) > reached) {
        reached = author.decided(crash);
        last = author;
      }
    }
    List<PromisedTransaction> writers = look.history.writers();
    List<PromisedTransaction> behind = new ArrayList<>();
    for (int i = look.history.attemptedBefore(crash) - 1; i >= 0; i--) {
      PromisedTransaction writer = writers.get(i);
      if (writer.attempted < reached) {
        break;
      }
      if (isMissed(writer)) {
        behind.add(writer);
      }
    }
    if (last != null) {
      for (PromisedTransaction writer : look.history.unannouncedBeside(last).reversed()) {
        if (writer.attempted < reached
            && isMissed(writer)
            && authors.stream().allMatch(author -> author.isBefore(writer, crash))) {
          behind.add(writer);
        }
      }
    }
    return behind;
  }

  /** Whether it is a finding if the transaction is missing. */
  private boolean isMissed(PromisedTransaction writer) {
    return writer.mayBeThere(crash)
        && (writer.answered < crash || writer.durable < crash || writer.writes.size() > 1);
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
            "%s; no promise says that this was written before %s%s"
                .formatted(holding, momentOfCrash(), expected(history))));
  }

  private String momentOfCrash() {
    return crash == Long.MAX_VALUE ? "the process died" : "the crash at " + crash;
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

  /**
   * Notes the transactions that are missing by a key, and reports the newest one that must be
   * there.
   */
  private void absent(Absence absence, Set<PromisedTransaction> lost) {
    boolean reported = false;
    Holding holding = absence.look.holding;
    for (PromisedTransaction writer : absence.writers) {
      missing.putIfAbsent(writer, holding);
      if (!reported && writer.mustBeThere(crash)) {
        reported = true;
        if (lost.add(writer)) {
          Bytes expected = writer.writes.get(holding.key);
          report(
              expected == null ? Kind.RESURRECTED : Kind.LOST,
              () ->
                  "%s, expected %s or newer of %s"
                      .formatted(holding, text(expected), writer.describe(crash)));
        }
      }
    }
  }

  /**
   * A durable reader saw a value that several transactions may have written: one of them must be
   * there.
   */
  private void reportUnseen(Look look) {
    for (KeyHistory.Witness witness : look.history.witnesses()) {
      List<PromisedTransaction> authors = look.feasible.isEmpty() ? look.authors : look.feasible;
      if (witness.place() < crash
          && authors.stream().allMatch(author -> author.decided(crash) <= witness.since())) {
        report(
            witness.value() == null ? Kind.RESURRECTED : Kind.LOST,
            () ->
                "%s, expected %s or newer, which a durable reader was given at %d"
                    .formatted(look.holding, text(witness.value()), witness.place()));
        return;
      }
    }
  }

  /** Reports two or more transactions that each overwrote the other. */
  private void reportMixed() {
    Map<PromisedTransaction, List<Look>> authored = new LinkedHashMap<>();
    for (Look look : looks.values()) {
      if (look.only != null) {
        authored.computeIfAbsent(look.only, author -> new ArrayList<>(1)).add(look);
      }
    }
    authored.forEach((first, looksOfFirst) -> {
      if (first.writes.size() > looksOfFirst.size()) {
        reportMixed(first, looksOfFirst);
      }
    });
  }

  private void reportMixed(PromisedTransaction first, List<Look> authored) {
    Set<PromisedTransaction> reached = new LinkedHashSet<>();
    Queue<PromisedTransaction> walk = new ArrayDeque<>();
    walk.add(first);
    while (!walk.isEmpty()) {
      PromisedTransaction earlier = walk.remove();
      for (Bytes key : earlier.writes.keySet()) {
        Look look = looks.get(key);
        PromisedTransaction later = look == null ? null : look.only;
        if (later != null
            && later != earlier
            && !earlier.isBefore(later, crash)
            && reached.add(later)) {
          walk.add(later);
        }
      }
    }
    for (PromisedTransaction later : reached) {
      Look contradiction = beginsAfterAndComesBefore(later, first, authored);
      if (later == first || contradiction != null) {
        report(
            Kind.TORN,
            () ->
                "%s is there, as %s shows, and was overwritten by %s, although it came after that transaction"
                    .formatted(first.describe(crash), there.get(first), later.describe(crash)));
        return;
      }
    }
  }

  /**
   * A key that a transaction wrote before `first`, although it began when `later` had been decided.
   */
  private @Nullable Look beginsAfterAndComesBefore(
      PromisedTransaction later, PromisedTransaction first, List<Look> authored) {
    for (Look look : authored) {
      List<PromisedTransaction> writers = look.history.writers();
      for (int i = look.history.attemptedBefore(crash) - 1; i >= 0; i--) {
        PromisedTransaction writer = writers.get(i);
        if (writer.attempted < later.decided(crash)) {
          break;
        }
        if (writer != first && (writer.mustBeThere(crash) || there.containsKey(writer))) {
          return look;
        }
      }
    }
    return null;
  }

  private void reportTorn() {
    missing.forEach((transaction, absence) -> {
      Holding presence = there.get(transaction);
      if (presence != null) {
        report(
            Kind.TORN,
            () ->
                "%s is there, as %s shows, and is not there, as %s shows"
                    .formatted(transaction.describe(crash), presence, absence));
      }
    });
  }

  private void reportGapsInPrefix() {
    if (missing.keySet().stream().noneMatch(transaction -> transaction.isLazy(crash))) {
      return;
    }
    Map<Integer, PromisedTransaction> last = new HashMap<>();
    for (PromisedTransaction known : index.transactions()) {
      boolean owed = known.mustBeThere(crash) && !missing.containsKey(known);
      // A transaction without writes is nowhere: nothing in the store came after others.
      if (there.containsKey(known) || (owed && !known.writes.isEmpty())) {
        last.merge(known.life, known, (a, b) -> a.attempted >= b.attempted ? a : b);
      }
    }
    missing.forEach((transaction, absence) -> {
      if (!transaction.isLazy(crash)) {
        return;
      }
      PromisedTransaction newest = last.get(transaction.life);
      PromisedTransaction later =
          newest != null && transaction.decided(crash) <= newest.attempted
              ? newest
              : spokenOfLater(transaction);
      if (later != null) {
        report(
            Kind.NOT_A_PREFIX,
            () ->
                "%s is not there, as %s shows, but %s, which came after it, is%s"
                    .formatted(
                        transaction.describe(crash),
                        absence,
                        later.describe(crash),
                        there.containsKey(later)
                            ? ", as " + there.get(later) + " shows"
                            : " owed"));
      }
    });
  }

  /**
   * A transaction that is there, was not announced, and wrote one of the keys after another one.
   */
  private @Nullable PromisedTransaction spokenOfLater(PromisedTransaction transaction) {
    for (Bytes key : transaction.writes.keySet()) {
      KeyHistory history = index.history(key);
      List<PromisedTransaction> beside =
          history == null ? List.of() : history.unannouncedBeside(transaction);
      for (PromisedTransaction later : beside) {
        if (there.containsKey(later) && transaction.isBefore(later, crash)) {
          return later;
        }
      }
    }
    return null;
  }

  /**
   * Builds the text of only those findings that are shown: a state that lost everything has
   * thousands.
   */
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

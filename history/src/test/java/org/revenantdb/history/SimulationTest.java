package org.revenantdb.history;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.function.BiPredicate;
import org.junit.jupiter.api.Test;

/** Histories of stores with a known isolation, and the same with one change. */
class SimulationTest {

  private static final int SEEDS = Boolean.getBoolean("revenant.long") ? 60 : 20;
  private static final int TRANSACTIONS = 300;

  /** The kinds of anomaly that the seeds show; every one of them must be allowed. */
  private static Set<AnomalyKind> found(
      Simulation.Kind kind, IsolationLevel level, Set<AnomalyKind> allowed) {
    Set<AnomalyKind> found = EnumSet.noneOf(AnomalyKind.class);
    for (long seed = 1; seed <= SEEDS; seed++) {
      Simulation simulation = new Simulation(kind, seed);
      History history = (seed % 2 == 0 ? simulation.withUnknown() : simulation).run(TRANSACTIONS);
      for (Precedence precedence : Precedence.values()) {
        CheckResult result = HistoryChecker.check(history, level, precedence);
        String where = kind + " seed " + seed + ": " + result;
        assertTrue(allowed.containsAll(result.counts().keySet()), where);
        found.addAll(result.counts().keySet());
      }
    }
    return found;
  }

  @Test
  void serial_execution_shows_no_anomaly() {
    found(Simulation.Kind.SERIAL, IsolationLevel.SERIALIZABLE, Set.of());
  }

  @Test
  void snapshot_isolation_shows_write_skew_and_nothing_else() {
    found(Simulation.Kind.SNAPSHOT, IsolationLevel.SNAPSHOT, Set.of());
    Set<AnomalyKind> skew = EnumSet.of(AnomalyKind.WRITE_SKEW, AnomalyKind.PREDICATE_WRITE_SKEW);
    assertEquals(skew, found(Simulation.Kind.SNAPSHOT, IsolationLevel.SERIALIZABLE, skew));
  }

  @Test
  void read_committed_shows_anomalies_that_a_snapshot_would_not() {
    found(Simulation.Kind.READ_COMMITTED, IsolationLevel.READ_COMMITTED, Set.of());
    Set<AnomalyKind> loose =
        EnumSet.of(
            AnomalyKind.NON_REPEATABLE_READ,
            AnomalyKind.PHANTOM,
            AnomalyKind.LOST_UPDATE,
            AnomalyKind.READ_SKEW,
            AnomalyKind.PREDICATE_READ_SKEW,
            AnomalyKind.NONADJACENT,
            AnomalyKind.PREDICATE_NONADJACENT);
    Set<AnomalyKind> found = found(Simulation.Kind.READ_COMMITTED, IsolationLevel.SNAPSHOT, loose);
    assertTrue(
        found.containsAll(
            Set.of(
                AnomalyKind.NON_REPEATABLE_READ,
                AnomalyKind.PHANTOM,
                AnomalyKind.LOST_UPDATE,
                AnomalyKind.READ_SKEW,
                AnomalyKind.PREDICATE_READ_SKEW)),
        found::toString);
  }

  @Test
  void a_crash_may_take_the_last_lazy_commits() {
    for (long seed = 1; seed <= SEEDS; seed++) {
      int lost = (int) seed % 20;
      History history =
          new Simulation(Simulation.Kind.SNAPSHOT, seed)
              .withUnknown()
              .lazily()
              .runWithCrash(100, commits -> commits - lost);
      CheckResult result =
          HistoryChecker.check(history, IsolationLevel.SNAPSHOT, Precedence.REAL_TIME);
      assertTrue(result.holds(), "seed " + seed + ": " + result);
    }
  }

  @Test
  void a_crash_may_not_take_durable_commits() {
    int convicted = 0;
    for (long seed = 1; seed <= SEEDS; seed++) {
      Simulation simulation = new Simulation(Simulation.Kind.SNAPSHOT, seed);
      History history = simulation.runWithCrash(100, commits -> commits - 8);
      CheckResult result = HistoryChecker.check(history, IsolationLevel.SNAPSHOT);
      convicted += result.has(AnomalyKind.LOST_WRITE) ? 1 : 0;
    }
    // With eight commits nearly always one has written a value that is read later.
    assertTrue(convicted > SEEDS * 9 / 10, convicted + " of " + SEEDS);
  }

  // ---------------------------------------------------------------------- one change

  /** Another list in place of the one that was read. */
  @FunctionalInterface
  private interface Change {
    List<Integer> of(List<Integer> values, SplittableRandom random);
  }

  private static History changed(
      History history,
      SplittableRandom random,
      int least,
      Change change,
      BiPredicate<RecordedTransaction, Access.ReadList> which) {
    List<int[]> candidates = new ArrayList<>();
    for (int t = 0; t < history.size(); t++) {
      RecordedTransaction transaction = history.transaction(t);
      for (int a = 0; a < transaction.accesses().size(); a++) {
        if (transaction.outcome() == TransactionOutcome.DURABLE
            && transaction.accesses().get(a) instanceof Access.ReadList read
            && read.values().size() >= least
            && which.test(transaction, read)) {
          candidates.add(new int[] {t, a});
        }
      }
    }
    int[] victim = candidates.get(random.nextInt(candidates.size()));
    History.Builder builder = new History.Builder();
    for (int t = 0; t < history.size(); t++) {
      RecordedTransaction transaction = history.transaction(t);
      Access[] accesses = transaction.accesses().toArray(new Access[0]);
      if (t == victim[0]) {
        Access.ReadList read = (Access.ReadList) accesses[victim[1]];
        List<Integer> values = change.of(new ArrayList<>(read.values()), random);
        accesses[victim[1]] = new Access.ReadList(read.key(), values);
      }
      builder.add(
          transaction.process(),
          transaction.invoked(),
          transaction.completed(),
          transaction.outcome(),
          accesses);
    }
    return builder.build();
  }

  private static void everySeedIsConvicted(int least, Change change) {
    for (long seed = 1; seed <= SEEDS; seed++) {
      History history = new Simulation(Simulation.Kind.SERIAL, seed).run(TRANSACTIONS);
      History other =
          changed(
              history,
              new SplittableRandom(seed),
              least,
              change,
              (reader, read) -> othersHadEnded(history, reader, read));
      CheckResult result =
          HistoryChecker.check(other, IsolationLevel.READ_COMMITTED, Precedence.REAL_TIME);
      CheckResult strict =
          HistoryChecker.check(other, IsolationLevel.SNAPSHOT, Precedence.REAL_TIME);
      assertTrue(!strict.holds(), "seed " + seed + ": " + result);
    }
  }

  /** Whether the writer of the list had ended before the reader began. */
  private static boolean othersHadEnded(
      History history, RecordedTransaction reader, Access.ReadList read) {
    for (int t = 0; t < history.size(); t++) {
      RecordedTransaction writer = history.transaction(t);
      for (Access access : writer.accesses()) {
        if (access instanceof Access.Append append
            && append.key() == read.key()
            && read.values().contains(append.value())
            && writer.completed() >= reader.invoked()) {
          return false;
        }
      }
    }
    return true;
  }

  @Test
  void a_read_without_its_last_value_is_found() {
    everySeedIsConvicted(1, (values, random) -> values.subList(0, values.size() - 1));
  }

  @Test
  void a_read_without_one_of_its_values_is_found() {
    everySeedIsConvicted(
        2,
        (values, random) -> {
          values.remove(random.nextInt(values.size()));
          return values;
        });
  }

  @Test
  void a_read_with_two_values_exchanged_is_found() {
    everySeedIsConvicted(
        2,
        (values, random) -> {
          int at = random.nextInt(values.size() - 1);
          values.add(at, values.remove(at + 1));
          return values;
        });
  }

  @Test
  void a_read_with_a_value_twice_is_found() {
    everySeedIsConvicted(
        1,
        (values, random) -> {
          values.add(values.get(random.nextInt(values.size())));
          return values;
        });
  }

  @Test
  void a_read_of_a_value_of_another_key_is_found() {
    everySeedIsConvicted(
        1,
        (values, random) -> {
          values.add(-values.getLast());
          return values;
        });
  }

  @Test
  void a_writer_reported_as_rolled_back_is_found() {
    for (long seed = 1; seed <= SEEDS; seed++) {
      History history = new Simulation(Simulation.Kind.SERIAL, seed).run(TRANSACTIONS);
      RecordedTransaction[] all = new RecordedTransaction[history.size()];
      Arrays.setAll(all, history::transaction);
      int liar = -1;
      for (int t = 0; t < all.length && liar < 0; t++) {
        for (RecordedTransaction reader : all) {
          if (reader.outcome() == TransactionOutcome.DURABLE
              && reader.process() != all[t].process()
              && all[t].outcome() == TransactionOutcome.DURABLE
              && sees(reader, all[t])) {
            liar = t;
          }
        }
      }
      History.Builder builder = new History.Builder();
      for (int t = 0; t < all.length; t++) {
        TransactionOutcome outcome = t == liar ? TransactionOutcome.ABORTED : all[t].outcome();
        builder.add(
            all[t].process(),
            all[t].invoked(),
            all[t].completed(),
            outcome,
            all[t].accesses().toArray(new Access[0]));
      }
      CheckResult result = HistoryChecker.check(builder.build(), IsolationLevel.READ_COMMITTED);
      assertTrue(result.has(AnomalyKind.ABORTED_READ), "seed " + seed + ": " + result);
    }
  }

  private static boolean sees(RecordedTransaction reader, RecordedTransaction writer) {
    for (Access write : writer.accesses()) {
      for (Access access : reader.accesses()) {
        if (write instanceof Access.Append append
            && access instanceof Access.ReadList read
            && read.key() == append.key()
            && read.values().contains(append.value())) {
          return true;
        }
      }
    }
    return false;
  }
}

package org.revenantdb.chaos.history;

import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.IntFunction;
import java.util.random.RandomGenerator;
import org.revenantdb.chaos.crash.Seeds;
import org.revenantdb.chaos.crash.Together;
import org.revenantdb.history.HistorySession;
import org.revenantdb.history.TransactionOutcome;

/**
 * One life of a store: first a read of everything that earlier lives have written, then random
 * transactions of several sessions on a few keys and on new ones, all of it recorded.
 *
 * <p>The seed determines the operations of each session, but not how they interleave.
 */
public final class HistoryDriver {

  private static final int VALUES_OF_A_LIFE = 1 << 20;
  private static final int KEYS_OF_A_LOOK = 64;
  private static final int MOST_ACCESSES = 6;
  private static final int LONGEST_RANGE = 10;

  private final HistoryWorkload workload;
  private final long seed;
  private final int life;
  private final AtomicInteger nextValue;

  /** The number of new keys that exist or are about to. */
  private final AtomicInteger newKeys = new AtomicInteger();

  /**
   * Prepares a life.
   *
   * @param workload the operations
   * @param seed of the random choices of the sessions
   * @param life the number of earlier lives; each life writes different values
   */
  public HistoryDriver(HistoryWorkload workload, long seed, int life) {
    this.workload = workload;
    this.seed = Seeds.of(seed, life);
    this.life = life;
    this.nextValue = new AtomicInteger(life * VALUES_OF_A_LIFE);
  }

  /**
   * Reads, then works until all transactions are done.
   *
   * @param store the open store
   * @param sessions returns the session of each process by its number
   */
  public void run(HistoryStore store, IntFunction<HistorySession> sessions) {
    look(store, sessions.apply(workload.sessions()));
    Together together = new Together();
    for (int process = 0; process < workload.sessions(); process++) {
      Session session =
          new Session(
              store, sessions.apply(process), new SplittableRandom(Seeds.of(seed, process)));
      together.start("session " + process, session::work);
    }
    together.await();
  }

  /**
   * Reads everything that earlier lives have written, and writes nothing. So the store may be one
   * that can only be read.
   *
   * @param store the open store
   * @param sessions returns the session of a process by its number
   */
  public void look(HistoryStore store, IntFunction<HistorySession> sessions) {
    look(store, sessions.apply(workload.sessions()));
  }

  /**
   * Reads every key of all earlier lives while nothing else runs, as part of a range. Keys that
   * were used all the time are also read one by one, which must give the same result.
   */
  private void look(HistoryStore store, HistorySession told) {
    int end = workload.endOfFormerKeys(life);
    for (int first = 0; first < end; first += KEYS_OF_A_LOOK) {
      int from = first;
      int to = Math.min(end, first + KEYS_OF_A_LOOK);
      look(
          store,
          told,
          tx -> {
            readBothRanges(tx, told, from, to);
            for (int key = from; key < to; key++) {
              read(tx, told, key);
            }
          });
    }
    for (int former = 0; former < life; former++) {
      int from = HistoryWorkload.firstNewKey(former);
      int to = HistoryWorkload.endOfNewKeys(former);
      look(store, told, tx -> readBothRanges(tx, told, from, to));
    }
  }

  private static void look(
      HistoryStore store, HistorySession told, Consumer<HistoryStore.Tx> reads) {
    told.begin();
    try (HistoryStore.Tx tx = store.begin(/* lazy= */ false)) {
      reads.accept(tx);
      told.committing();
      tx.commit();
    }
    told.ended(TransactionOutcome.DURABLE);
  }

  private static void readBothRanges(HistoryStore.Tx tx, HistorySession told, int from, int to) {
    readRange(tx, told, /* ofLists= */ true, from, to);
    readRange(tx, told, /* ofLists= */ false, from, to);
  }

  private static void readRange(
      HistoryStore.Tx tx, HistorySession told, boolean ofLists, int from, int to) {
    if (ofLists) {
      told.readLists(from, to, tx.readLists(from, to));
    } else {
      told.readRegisters(from, to, tx.readRegisters(from, to));
    }
  }

  private static void read(HistoryStore.Tx tx, HistorySession told, int key) {
    if (isList(key)) {
      told.readList(key, tx.readList(key));
    } else {
      told.readRegister(key, tx.readRegister(key));
    }
  }

  private static boolean isList(int key) {
    return key % 2 == 0;
  }

  private final class Session {

    private final HistoryStore store;
    private final HistorySession told;
    private final RandomGenerator random;

    Session(HistoryStore store, HistorySession told, RandomGenerator random) {
      this.store = store;
      this.told = told;
      this.random = random;
    }

    void work() {
      for (int n = 0; n < workload.transactions() || workload.transactions() == 0; n++) {
        transaction();
        if (random.nextInt(60) == 0) {
          store.housekeeping();
        }
        if (workload.lazyOfTen() > 0 && random.nextInt(40) == 0) {
          told.flushing();
          store.sync();
          told.flushed();
        }
      }
    }

    private void transaction() {
      boolean lazy = random.nextInt(10) < workload.lazyOfTen();
      boolean onlyReads = random.nextInt(16) == 0;
      TransactionOutcome outcome;
      told.begin();
      boolean asked = false;
      try (HistoryStore.Tx tx = onlyReads ? store.beginToRead(lazy) : store.begin(lazy)) {
        if (onlyReads) {
          reads(tx);
        } else {
          body(tx);
        }
        if (random.nextInt(16) == 0) {
          outcome = TransactionOutcome.ABORTED;
        } else {
          told.committing();
          asked = true;
          tx.commit();
          outcome = lazy ? TransactionOutcome.LAZY : TransactionOutcome.DURABLE;
        }
      } catch (HistoryStore.RefusedException e) {
        outcome = TransactionOutcome.ABORTED;
      } catch (RuntimeException e) {
        // This ends the run with a failure, so the history need not tell whether it was committed.
        told.ended(asked ? TransactionOutcome.UNKNOWN : TransactionOutcome.ABORTED);
        throw e;
      }
      told.ended(outcome);
    }

    private void reads(HistoryStore.Tx tx) {
      for (int left = 1 + random.nextInt(MOST_ACCESSES); left > 0; left--) {
        int key = key();
        switch (random.nextInt(4)) {
          case 0 -> readRange(tx, told, random.nextBoolean(), key, key + rangeLength());
          case 1 -> readRangeOfNew(tx);
          default -> read(tx, told, key);
        }
      }
    }

    private void body(HistoryStore.Tx tx) {
      for (int left = 1 + random.nextInt(MOST_ACCESSES); left > 0; left--) {
        int key = key();
        switch (random.nextInt(13)) {
          case 0, 1, 2, 3 -> read(tx, told, key);
          case 4, 5, 6 -> {
            read(tx, told, key);
            write(tx, key);
          }
          case 7 -> {
            read(tx, told, key);
            read(tx, told, key());
            write(tx, key);
          }
          case 8 -> readRange(tx, told, random.nextBoolean(), key, key + rangeLength());
          case 9 -> readRangeOfNew(tx);
          case 10 -> {
            readRangeOfNew(tx);
            write(tx, newKey());
          }
          default -> write(tx, key);
        }
      }
    }

    /** Squared, so that low keys are hot and sessions meet. */
    private int key() {
      double share = random.nextDouble();
      return workload.firstKey(life) + (int) (share * share * workload.keys());
    }

    private int rangeLength() {
      return 1 + random.nextInt(LONGEST_RANGE);
    }

    /**
     * Reads where new keys appear: to just behind them, or seldom, because it is a lot, to the end
     * of the table.
     */
    private void readRangeOfNew(HistoryStore.Tx tx) {
      int n = newKeys.get();
      int from = HistoryWorkload.beforeNewKey(life, n);
      int to =
          random.nextInt(16) == 0
              ? HistoryWorkload.endOfNewKeys(life)
              : HistoryWorkload.behindNewKey(life, n);
      readRange(tx, told, random.nextBoolean(), from, to);
    }

    /** Mostly a key that was never written, otherwise one of the newest. */
    private int newKey() {
      int n =
          random.nextInt(4) == 0
              ? Math.max(0, newKeys.get() - 1 - random.nextInt(LONGEST_RANGE))
              : newKeys.getAndIncrement();
      return HistoryWorkload.newKey(life, n) + random.nextInt(2);
    }

    private void write(HistoryStore.Tx tx, int key) {
      int value = nextValue.incrementAndGet();
      if (isList(key)) {
        told.appending(key, value);
        tx.append(key, value);
      } else {
        told.writing(key, value);
        tx.write(key, value);
      }
    }
  }
}

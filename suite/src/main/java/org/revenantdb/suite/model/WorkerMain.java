package org.revenantdb.suite.model;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.revenantdb.chaos.crash.ChildPipe;
import org.revenantdb.chaos.crash.Seeds;
import org.revenantdb.suite.model.Store.Counters;
import org.revenantdb.suite.model.Store.Limits;
import org.revenantdb.suite.model.Store.Recovery;

/**
 * The child that works until it is killed: several sessions, each in its own thread, run random
 * transactions.
 *
 * <p>It writes these lines (numbers in hexadecimal):
 *
 * <pre>
 * I                          about to open the store
 * O nanos logBytes pages     the store is open
 * T session n before begun   transaction n of the session began between these ticks
 * R session row version      it read that version of the row (0: no such row)
 * W session row version old  it wrote the row, which had version old before
 * C session                  everything is written, the commit is about to be requested
 * A session tick             the commit was acknowledged before that tick
 * X session                  it was rolled back
 * S splits merges ...        counters of the store since it was opened
 * F text                     something was wrong; the child ends
 * E                          about to close the store in order
 * Z                          the store is closed
 * </pre>
 */
public final class WorkerMain {

  private static final int STATISTICS_EVERY = 20;

  private final Store store;
  private final ChildPipe pipe;
  private final Ticks ticks;
  private final AtomicInteger finished = new AtomicInteger();

  private WorkerMain(Store store, ChildPipe pipe, Ticks ticks) {
    this.store = store;
    this.pipe = pipe;
    this.ticks = ticks;
  }

  /**
   * Runs the child.
   *
   * @param arguments opener class, directory, bytes of pool and log, seed, life, sessions,
   *     transactions per session (0: no end)
   */
  public static void main(String[] arguments) {
    ChildPipe pipe = ChildPipe.open();
    try {
      Store.Opener opener = Stores.opener(arguments[0]);
      Path dir = Path.of(arguments[1]);
      Limits limits = Limits.of(arguments[2], arguments[3]);
      long seed = Long.parseLong(arguments[4]);
      int life = Integer.parseInt(arguments[5]);
      int sessions = Integer.parseInt(arguments[6]);
      int transactions = Integer.parseInt(arguments[7]);
      Stores.warmUp(opener, dir, limits);
      pipe.say("I");
      Store store = opener.open(dir, limits);
      Recovery recovery = store.recovery();
      pipe.say(hex("O", recovery.nanos(), recovery.logBytes(), recovery.pages()));
      new WorkerMain(store, pipe, new Ticks(life)).work(seed, life, sessions, transactions);
      pipe.say("E");
      store.close();
      pipe.say("Z");
      Runtime.getRuntime().halt(0);
    } catch (Throwable e) {
      fail(pipe, "the worker", e);
    }
  }

  private void work(long seed, int life, int sessions, int transactions)
      throws InterruptedException {
    List<Thread> threads = new ArrayList<>();
    for (int s = 0; s < sessions; s++) {
      Session session = new Session(s, life, Seeds.of(Seeds.of(seed, life), s), store, pipe, ticks);
      Thread.Builder builder = s % 2 == 0 ? Thread.ofPlatform().daemon() : Thread.ofVirtual();
      int number = s;
      threads.add(builder.name("session " + s).start(() -> run(session, number, transactions)));
    }
    for (Thread thread : threads) {
      thread.join();
    }
    sayCounters();
  }

  private void run(Session session, int number, int transactions) {
    try {
      for (int n = 1; transactions == 0 || n <= transactions; n++) {
        session.transaction(n);
        if (finished.incrementAndGet() % STATISTICS_EVERY == 0) {
          sayCounters();
        }
      }
    } catch (Throwable e) {
      fail(pipe, "session " + number, e);
    }
  }

  private void sayCounters() {
    Counters c = store.counters();
    pipe.say(hex("S", c.splits(), c.merges(), c.evictions(), c.overflowValues(), c.checkpoints()));
  }

  private static void fail(ChildPipe pipe, String who, Throwable e) {
    e.printStackTrace();
    System.err.flush();
    pipe.say("F " + who + ": " + String.valueOf(e).replace('\n', ' '));
    Runtime.getRuntime().halt(3);
  }

  static String hex(String word, long... numbers) {
    StringBuilder line = new StringBuilder(word);
    for (long number : numbers) {
      line.append(' ').append(Long.toHexString(number));
    }
    return line.toString();
  }
}

package org.revenantdb.engine.starved;

import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.revenantdb.engine.CheckReport;
import org.revenantdb.engine.ConflictException;
import org.revenantdb.engine.Cursor;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.DatabaseStoppedException;
import org.revenantdb.engine.Durability;
import org.revenantdb.engine.Isolation;
import org.revenantdb.engine.RevenantException;
import org.revenantdb.engine.Savepoint;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.Transaction;
import org.revenantdb.engine.TransactionOptions;
import org.revenantdb.latch.LatchDebug;
import org.revenantdb.recovery.testing.Await;
import org.revenantdb.recovery.testing.CrashDisk;

/**
 * Rounds of errors in a JVM of its own: In each round an error is thrown at some allocation of a
 * caller, of a thread of the engine or of all threads, or a caller's stack runs out at some depth.
 * Afterwards the engine works as before, or it has stopped with an error. {@code close} returns.
 * The next open has everything that was acknowledged.
 *
 * <p>The parent, which waits for a line in each round, notices a hang.
 */
public final class StarvedRounds {
  private static final int MIB = 1 << 20;

  private static final DatabaseOptions OPTIONS =
      DatabaseOptions.defaults()
          .withShortTransactionRows(4)
          .withPoolBytes(2 * MIB)
          .withLogSegmentBytes(MIB)
          .withMaxRecoveryLog(8 * MIB)
          .withVersionMemory(MIB)
          .withLockTimeout(Duration.ofMillis(20))
          .withCleanerThreads(2);

  private static final long PATIENCE_MILLIS = Long.getLong("starved.patience.millis", 1_200_000);
  private static final int KEYS = 400;
  private static final TransactionOptions LAZY = TransactionOptions.lazy();
  private static final TransactionOptions DURABLE = TransactionOptions.durable();
  private static final TransactionOptions SERIALIZABLE =
      TransactionOptions.durable().withIsolation(Isolation.SERIALIZABLE);

  /** What is thrown, and where. */
  enum Mode {
    /** An allocation, or some in a row, fail: of a caller, of the engine's threads, or of all. */
    HEAP,
    /** The stack of a caller ends, at each depth. */
    STACK,
    /** The heap is really full, at moments of its own. */
    FULL,
    /** All allocations of the watcher of forgotten transactions fail, for some of its sweeps. */
    WATCHER
  }

  private final Mode mode;
  private final Random random;
  private final long seed;
  private final PrintStream out;

  private CrashDisk disk = new CrashDisk();
  private Database db;

  /** What each key has for certain; a value is a version and a length. */
  private final Map<String, String> certain = new HashMap<>();

  /** What a key may have as well, since the outcome of a commit is unknown. */
  private final Map<String, List<String>> possible = new HashMap<>();

  /** What a key may have instead, if lazy commits are lost with the engine. */
  private final Map<String, List<String>> losable = new HashMap<>();

  private long versions;
  private int stopped;
  private int survived;
  private int unfired;
  private long lifeRounds;

  /** Holds that engines have left when they stopped. */
  private final List<LatchDebug.Hold> ofStopped = new CopyOnWriteArrayList<>();

  /** A latch that a caller of this round has left held. */
  private volatile AssertionError leftHeld;

  private final AtomicLong progress = new AtomicLong();
  private volatile String now = "the beginning";

  private StarvedRounds(Mode mode, long seed, PrintStream out) {
    this.mode = mode;
    this.seed = seed;
    this.random = new Random(seed);
    this.out = out;
  }

  /** Arguments: mode, seed, rounds. */
  public static void main(String[] arguments) throws Exception {
    Mode mode = Mode.valueOf(arguments[0]);
    long seed = Long.parseLong(arguments[1]);
    int rounds = Integer.parseInt(arguments[2]);
    PrintStream out = System.out;
    int code = 0;
    try {
      StarvedRounds starved = new StarvedRounds(mode, seed, out);
      if (mode == Mode.WATCHER) {
        starved.starveWatcher(rounds);
      } else {
        starved.run(rounds);
      }
    } catch (Throwable failure) {
      out.println("FAILED " + failure);
      failure.printStackTrace(out);
      Throwable planted = Starvation.thrown();
      if (planted != null) {
        out.println("the first error of the round:");
        planted.printStackTrace(out);
      }
      code = 1;
    }
    out.flush();
    Runtime.getRuntime().halt(code);
  }

  /**
   * Says what hangs, and ends the JVM, if a round takes far too long. The parent does so, too,
   * should this thread not be able to.
   */
  private void watch() {
    Thread watch =
        new Thread(
            () -> {
              long seen = -1;
              while (true) {
                try {
                  Thread.sleep(PATIENCE_MILLIS);
                } catch (InterruptedException e) {
                  return;
                }
                if (progress.get() == seen) {
                  report("HANGS in " + now);
                  Runtime.getRuntime().halt(2);
                }
                seen = progress.get();
              }
            },
            "watch");
    watch.setDaemon(true);
    watch.start();
  }

  private void report(String what) {
    out.println(what);
    Throwable planted = Starvation.thrown();
    if (planted != null) {
      out.println("the first error of the round:");
      planted.printStackTrace(out);
    }
    Thread.getAllStackTraces()
        .forEach((thread, trace) -> {
          out.println('"' + thread.getName() + '"');
          for (StackTraceElement element : trace) {
            out.println("    " + element);
          }
        });
    out.flush();
  }

  private void run(int rounds) throws Exception {
    open();
    warmUp();
    watch();
    for (int i = 0; i < rounds; i++) {
      progress.incrementAndGet();
      String what =
          switch (mode) {
            case HEAP -> starve();
            case STACK -> overflow();
            case FULL -> fill();
            case WATCHER -> throw new IllegalStateException("it has no rounds");
          };
      boolean works = verify(what);
      AssertionError left = leftHeld;
      leftHeld = null;
      if (works && left != null) {
        throw left;
      }
      lifeRounds++;
      if (!works || random.nextInt(40) == 0) {
        reopen(works, what);
      }
      out.println("round " + i + " " + what + (works ? " goes on" : " stopped"));
      out.flush();
    }
    reopen(/* works= */ true, "the end");
    close(/* works= */ true, "the end");
    out.println(
        "DONE rounds "
            + rounds
            + " survived "
            + survived
            + " stopped "
            + stopped
            + " without an error "
            + unfired);
  }

  /** What was forgotten while the watcher had no memory is rolled back when it has some. */
  private void starveWatcher(int sweeps) throws InterruptedException {
    CountDownLatch found = new CountDownLatch(1);
    db = Database.open(disk.path("/db"), OPTIONS.withLeakListener(leak -> found.countDown()));
    Table table = db.getOrCreateTable("t");
    watch();
    Starvation.arm(Starvation.Victim.ENGINE, "revenant-forgotten", 1, Long.MAX_VALUE);
    forget(table);
    while (Starvation.fired() < sweeps) {
      Await.pause(); // each sweep ends with an error
    }
    Starvation.disarm();
    do {
      System.gc();
    } while (!found.await(100, TimeUnit.MILLISECONDS));
    try (Transaction tx = db.begin(DURABLE)) {
      tx.put(table, utf8("k"), utf8("v")); // nobody has the row
      tx.commit();
    }
    db.close();
    out.println("DONE sweeps without memory " + Starvation.fired());
  }

  private void forget(Table table) {
    db.begin(DURABLE).put(table, utf8("k"), utf8("forgotten"));
  }

  private void open() {
    db = Database.open(disk.path("/db"), OPTIONS);
    lifeRounds = 0;
  }

  /** So that each class is loaded and initialised: that is another matter. */
  private void warmUp() throws Exception {
    for (int op = 0; op < OPS * 3; op++) {
      Random fixed = new Random(op);
      try {
        work(op % OPS, fixed, new Keys(0));
      } catch (ConflictException e) {
        // later
      }
    }
  }

  // ---- one round

  private static final int OPS = 16;

  /** Depths that are tried in a round, and how many frames they are from the end at most. */
  private static final int DEPTHS = 40;

  private static final int FARTHEST = 1500;

  /** The keys of one thread: acknowledged values are known only to their writer. */
  private final class Keys {
    final int thread;

    Keys(int thread) {
      this.thread = thread;
    }

    String any(Random from) {
      return "k" + from.nextInt(KEYS) + "-" + thread;
    }
  }

  private String starve() throws Exception {
    Starvation.Victim victim =
        Starvation.Victim.values()[random.nextInt(Starvation.Victim.values().length)];
    String[] threads = {
      "revenant",
      "revenant-page-writer",
      "revenant-cleaner",
      "revenant-log",
      "revenant-checkpoint",
      "revenant-reader"
    };
    String name = threads[random.nextInt(threads.length)];
    int op = random.nextInt(OPS);
    long first = 1 + (random.nextBoolean() ? random.nextInt(60) : random.nextInt(1500));
    long width = new long[] {0, 0, 0, 3, 50, 100_000}[random.nextInt(6)];
    long opSeed = random.nextLong();
    boolean beside = random.nextBoolean();
    String what = "op " + op + " victim " + victim + " (" + name + ") at " + first + "+" + width;
    now = what;
    Helper helper = beside ? new Helper(1) : null;
    if (helper != null) {
      helper.start();
    }
    Starvation.arm(victim, name, first, first + width);
    try {
      for (int i = 0; i < 1 + new Random(opSeed).nextInt(3); i++) {
        attempt(i == 0 ? op : (op + 5 * i) % OPS, new Random(opSeed + i), new Keys(0));
      }
    } finally {
      Starvation.disarm();
    }
    if (helper != null) {
      helper.finish();
    }
    if (Starvation.fired() == 0) {
      unfired++;
      what += " (none)";
    }
    return what;
  }

  /** Takes all memory that there is, over and over, and gives it back. */
  private String fill() throws Exception {
    int op = random.nextInt(OPS);
    long opSeed = random.nextLong();
    String what = "op " + op + " in a full heap";
    now = what;
    AtomicBoolean ends = new AtomicBoolean();
    Thread hog =
        new Thread(
            () -> {
              Object[] ballast = null;
              while (!ends.get()) {
                try {
                  Object[] more = new Object[256];
                  for (int i = 1; i < more.length; i++) {
                    more[i] = new byte[i * 64];
                  }
                  more[0] = ballast;
                  ballast = more;
                } catch (OutOfMemoryError full) {
                  ballast = null;
                }
              }
            },
            "hog");
    Helper helper = new Helper(1);
    Keys keys = new Keys(0);
    List<Random> randoms = IntStream.range(0, 3).mapToObj(i -> new Random(opSeed + i)).toList();
    helper.start();
    hog.start();
    try {
      for (int i = 0; i < randoms.size(); i++) {
        attempt((op + 5 * i) % OPS, randoms.get(i), keys);
      }
    } catch (OutOfMemoryError ofTheRound) {
      // between two calls of the engine: the round is shorter
    } finally {
      ends.set(true); // or the heap stays full, and nothing can be said of the failure
      hog.join();
    }
    helper.finish();
    return what;
  }

  /** A caller on a small stack, so deep in it that the rest just does not do, at each depth. */
  private String overflow() throws Exception {
    int op = random.nextInt(OPS);
    long opSeed = random.nextLong();
    boolean beside = random.nextInt(3) != 0;
    now = "op " + op;
    Helper helper = beside ? new Helper(1) : null;
    if (helper != null) {
      helper.start();
    }
    Throwable[] failed = new Throwable[1];
    int[] tried = new int[2];
    Runnable deep =
        () -> {
          try {
            Random own = new Random(opSeed);
            int deepest = deepest();
            for (int i = 0; i < DEPTHS; i++) {
              int depth = deepest - own.nextInt(Math.min(deepest, FARTHEST));
              tried[0]++;
              if (!atDepth(depth, () -> quietly(op, new Random(own.nextLong())))) {
                tried[1]++;
              }
            }
          } catch (Throwable e) {
            failed[0] = e;
          }
        };
    Thread thread =
        random.nextInt(4) == 0
            ? Thread.ofVirtual().name("deep").unstarted(deep)
            : new Thread(null, deep, "deep", (256 + random.nextInt(4) * 128) * 1024L);
    thread.start();
    thread.join();
    if (helper != null) {
      helper.finish();
    }
    if (failed[0] != null) {
      throw new AssertionError("the deep thread has failed", failed[0]);
    }
    if (tried[1] == 0) {
      unfired++;
    }
    return "op "
        + op
        + " depths "
        + tried[0]
        + " overflows "
        + tried[1]
        + (thread.isVirtual() ? " virtual" : "");
  }

  private void quietly(int op, Random from) {
    try {
      attempt(op, from, new Keys(0));
    } catch (StackOverflowError e) {
      throw e;
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }

  private static int depthReached;

  private static int deepest() {
    depthReached = 0;
    try {
      probe();
    } catch (StackOverflowError e) {
      // there
    }
    return depthReached;
  }

  private static void probe() {
    depthReached++;
    probe();
  }

  /** False if the stack ran out. */
  private static boolean atDepth(int depth, Runnable body) {
    try {
      descend(depth, body);
      return true;
    } catch (StackOverflowError e) {
      return false;
    }
  }

  private static void descend(int depth, Runnable body) {
    if (depth == 0) {
      body.run();
    } else {
      descend(depth - 1, body);
    }
  }

  /** Puts its own rows meanwhile, so that there is a thread that waits. */
  private final class Helper extends Thread {
    private final AtomicBoolean ends = new AtomicBoolean();
    private final AtomicLong done = new AtomicLong();
    private final Random own;
    private final Keys keys;
    private volatile Throwable failure;

    Helper(int thread) {
      super("helper");
      own = new Random(random.nextLong());
      keys = new Keys(thread);
    }

    @Override
    public void run() {
      try {
        do {
          attempt(own.nextInt(3), own, keys);
          done.incrementAndGet();
        } while (!ends.get());
      } catch (Throwable e) {
        if (mode != Mode.FULL || !(e instanceof OutOfMemoryError)) { // between two calls
          failure = e;
        }
      }
    }

    void finish() throws InterruptedException {
      ends.set(true);
      join();
      if (failure != null) {
        throw new AssertionError("the helper has failed", failure);
      }
    }
  }

  /** Something may fail for want of memory or stack, or because the engine has stopped. */
  private void attempt(int op, Random from, Keys keys) throws Exception {
    try {
      work(op, from, keys);
    } catch (OutOfMemoryError e) {
      // as planned
    } catch (RevenantException e) {
      // it is ours: whether it is right to be told so is seen when all is well again
    } catch (StackOverflowError e) {
      if (mode == Mode.STACK && Thread.currentThread().getName().equals("deep")) {
        throw e;
      }
    } catch (RuntimeException e) {
      if (!causedByError(e)) {
        throw e;
      }
    } finally {
      if (mode == Mode.HEAP) {
        noteLatches(Thread.currentThread());
      }
    }
  }

  /**
   * A caller that has left the engine holds nothing, as far as the debug mode of the latches knows.
   * An engine that has stopped may leave a latch held: a thread that waits for one learns that the
   * engine has stopped.
   */
  private void noteLatches(Thread thread) {
    LatchDebug.held().stream()
        .filter(hold -> hold.thread() == thread && hold.certain() && !ofStopped.contains(hold))
        .findFirst()
        .ifPresent(hold -> {
          AssertionError left = new AssertionError("not given back: " + hold);
          Throwable planted = Starvation.thrown();
          if (planted != null) {
            left.initCause(planted);
          }
          leftHeld = left;
        });
  }

  /** After the database of a working engine is closed, no thread holds anything. */
  private void demandNoLatches(boolean works, String what) {
    List<LatchDebug.Hold> held = new ArrayList<>(LatchDebug.held());
    held.removeAll(ofStopped);
    ofStopped.addAll(held);
    if (mode == Mode.HEAP && works && !held.isEmpty()) {
      throw new AssertionError(what + ", closed: " + held, Starvation.thrown());
    }
  }

  private static boolean causedByError(Throwable e) {
    for (Throwable t = e; t != null; t = t.getCause()) {
      if (t instanceof VirtualMachineError) {
        return true;
      }
    }
    return false;
  }

  private byte[] value(Random from, String version, int large) {
    int length =
        large > 0 ? large : from.nextInt(4) == 0 ? 900 + from.nextInt(900) : from.nextInt(60);
    byte[] head = (version + "|").getBytes(StandardCharsets.UTF_8);
    byte[] bytes = Arrays.copyOf(head, head.length + length);
    return bytes;
  }

  private synchronized String nextVersion() {
    return "v" + ++versions;
  }

  private static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  /** It is not known whether this is there. */
  private synchronized void maybe(Map<String, String> changes) {
    changes.forEach(
        (key, version) -> possible.computeIfAbsent(key, k -> new ArrayList<>()).add(version));
  }

  /** This is there; if the engine stops before it is durable it may be as before. */
  private synchronized void lazily(Map<String, String> changes) {
    changes.forEach((key, version) ->
        losable.computeIfAbsent(key, k -> new ArrayList<>()).add(certain.getOrDefault(key, "")));
    surely(changes);
  }

  /** This is there, and nothing else. */
  private synchronized void surely(Map<String, String> changes) {
    changes.forEach((key, version) -> {
      certain.put(key, version);
      possible.remove(key);
    });
  }

  /** This will not come. */
  private synchronized void never(Map<String, String> changes) {
    changes.forEach((key, version) -> {
      List<String> all = possible.get(key);
      if (all != null) {
        all.remove(version);
      }
    });
  }

  /** Puts, and is sure of the outcome if it returns. */
  private void commitPuts(TransactionOptions options, Random from, Keys keys, int rows, int large) {
    Table table = db.getOrCreateTable("t");
    Map<String, String> changes = new TreeMap<>();
    for (int i = 0; i < rows; i++) {
      changes.put(keys.any(from), nextVersion());
    }
    maybe(changes);
    boolean mayBe = false;
    try (Transaction tx = db.begin(options)) {
      for (Map.Entry<String, String> change : changes.entrySet()) {
        tx.put(table, utf8(change.getKey()), value(from, change.getValue(), large));
      }
      mayBe = true;
      tx.commit();
      if (options.durability() == Durability.LAZY) {
        lazily(changes);
      } else {
        surely(changes);
      }
    } finally {
      if (!mayBe) {
        never(changes);
      }
    }
  }

  private void work(int op, Random from, Keys keys) throws Exception {
    switch (op) {
      case 0 -> commitPuts(DURABLE, from, keys, 1 + from.nextInt(12), 0);
      case 1 -> commitPuts(LAZY, from, keys, 1 + from.nextInt(30), 0);
      case 2 -> commitPuts(DURABLE, from, keys, 2, 3000 + from.nextInt(40_000));
      case 3 -> commitPuts(SERIALIZABLE, from, keys, 1 + from.nextInt(5), 0);
      case 4, 5 -> { // rolled back, short or long
        Table table = db.getOrCreateTable("t");
        int rows = op == 4 ? 3 : 60;
        try (Transaction tx = db.begin(LAZY)) {
          for (int i = 0; i < rows; i++) {
            tx.put(table, utf8(keys.any(from)), value(from, "aborted", 0));
          }
          tx.rollback();
        }
      }
      case 6 -> { // savepoints
        Table table = db.getOrCreateTable("t");
        Map<String, String> changes = new TreeMap<>();
        String key = keys.any(from);
        changes.put(key, nextVersion());
        maybe(changes);
        boolean mayBe = false;
        try (Transaction tx = db.begin(DURABLE)) {
          Savepoint savepoint = tx.savepoint();
          for (int i = 0; i < 10; i++) {
            tx.put(table, utf8(keys.any(from)), value(from, "undone", 0));
          }
          tx.rollbackTo(savepoint);
          tx.put(table, utf8(key), value(from, changes.get(key), 0));
          mayBe = true;
          tx.commit();
          surely(changes);
        } finally {
          if (!mayBe) {
            never(changes);
          }
        }
      }
      case 7 -> { // deletes
        Table table = db.getOrCreateTable("t");
        Map<String, String> changes = new TreeMap<>();
        for (int i = 0; i < 8; i++) {
          changes.put(keys.any(from), "");
        }
        maybe(changes);
        boolean mayBe = false;
        try (Transaction tx = db.begin(DURABLE)) {
          for (String key : changes.keySet()) {
            tx.delete(table, utf8(key));
          }
          mayBe = true;
          tx.commit();
          surely(changes);
        } finally {
          if (!mayBe) {
            never(changes);
          }
        }
      }
      case 8 -> { // reads
        Table table = db.getOrCreateTable("t");
        try (Transaction tx = db.begin(LAZY)) {
          for (int i = 0; i < 20; i++) {
            tx.get(table, utf8(keys.any(from)));
          }
          try (Cursor cursor = tx.scan(table, null, null)) {
            for (int i = 0; i < 100 && cursor.next(); i++) {
              cursor.value();
            }
          }
          tx.count(table, null, null);
        }
      }
      case 9 -> db.cleanNow();
      case 10 -> db.checkpoint();
      case 11 -> db.compact();
      case 12 -> { // tables come and go
        String name = "u" + from.nextInt(3);
        Table table = db.getOrCreateTable(name);
        try (Transaction tx = db.begin(LAZY)) {
          for (int i = 0; i < 20; i++) {
            tx.put(table, utf8("k" + i), value(from, "other", 300));
          }
          tx.commit();
        }
        db.dropTable(name);
      }
      case 13 -> { // versions for an old reader, and a sequence
        try (Transaction old = db.begin(LAZY)) {
          old.get(db.getOrCreateTable("t"), utf8("k1-0"));
          for (int i = 0; i < 3; i++) {
            commitPuts(LAZY, from, keys, 10, 0);
          }
          old.get(db.getOrCreateTable("t"), utf8(keys.any(from)));
        }
        db.getOrCreateSequence("s").next();
      }
      case 14 -> { // prepared and decided
        Table table = db.getOrCreateTable("t");
        byte[] name = utf8("p" + nextVersion());
        Map<String, String> changes = new TreeMap<>();
        changes.put(keys.any(from), nextVersion());
        maybe(changes);
        boolean decides = false;
        try {
          try (Transaction tx = db.begin(DURABLE)) {
            for (Map.Entry<String, String> change : changes.entrySet()) {
              tx.put(table, utf8(change.getKey()), value(from, change.getValue(), 0));
            }
            tx.prepare(name);
          }
          decides = true;
          if (db.commitPrepared(name)) {
            surely(changes);
          }
        } finally {
          if (!decides) {
            never(changes);
          }
        }
      }
      case 15 -> { // a conflict that is waited for
        Table table = db.getOrCreateTable("t");
        try (Transaction holder = db.begin(LAZY)) {
          holder.put(table, utf8("contended"), utf8("1"));
          try (Transaction other = db.begin(LAZY)) {
            other.put(table, utf8("contended"), utf8("2"));
          }
        }
      }
      default -> throw new AssertionError(op);
    }
  }

  // ---- afterwards

  /**
   * Nothing fails any more: true if the engine works as before, false if it says that it stopped.
   */
  private boolean verify(String what) throws Exception {
    try {
      decidePrepared();
      commitPuts(DURABLE, random, new Keys(2), 3, 0);
      compare(what, /* stopped= */ false);
      db.cleanNow();
      db.checkpoint();
      commitPuts(DURABLE, random, new Keys(2), 1, 5000);
      survived++;
      return true;
    } catch (DatabaseStoppedException loud) {
      stopped++;
      demandStopped(what);
      return false;
    }
  }

  private void decidePrepared() {
    for (byte[] name : db.preparedTransactions()) {
      db.rollbackPrepared(name);
    }
  }

  private void demandStopped(String what) {
    List<Runnable> calls =
        List.of(
            () -> db.run(DURABLE, tx -> tx.put(db.getOrCreateTable("t"), utf8("later"), utf8("1"))),
            () -> db.run(LAZY, tx -> tx.put(db.getOrCreateTable("t"), utf8("later"), utf8("1"))),
            db::checkpoint,
            db::cleanNow);
    for (int i = 0; i < calls.size(); i++) {
      try {
        calls.get(i).run();
        throw new AssertionError(what + ": call " + i + " succeeds after the engine has stopped");
      } catch (RevenantException e) {
        // loud
      }
    }
  }

  private void close(boolean works, String what) {
    try {
      db.close();
    } catch (RevenantException e) {
      if (works) {
        throw new AssertionError(what + ": close of an engine that works", e);
      }
    }
    demandNoLatches(works, what);
  }

  private void reopen(boolean works, String what) throws Exception {
    close(works, what);
    disk = disk.afterKill();
    open();
    decidePrepared();
    compare(what + ", opened again", /* stopped= */ !works);
    CheckReport report = db.check();
    if (!report.isSound()) {
      throw new AssertionError(what + ": " + report);
    }
  }

  /** All rows are what they should be or may be; from now on they are certain. */
  private void compare(String what, boolean stopped) {
    Map<String, String> seen = new HashMap<>();
    db.run(
        LAZY,
        tx -> {
          seen.clear();
          try (Cursor cursor = tx.scan(db.getOrCreateTable("t"), null, null)) {
            while (cursor.next()) {
              String value = new String(cursor.value(), StandardCharsets.UTF_8);
              int bar = value.indexOf('|');
              String version = bar < 0 ? value : value.substring(0, bar);
              seen.put(new String(cursor.key(), StandardCharsets.UTF_8), version);
            }
          }
        });
    synchronized (this) {
      seen.remove("contended");
      seen.remove("later");
      java.util.Set<String> keys = new java.util.TreeSet<>(seen.keySet());
      keys.addAll(certain.keySet());
      keys.addAll(possible.keySet());
      for (String key : keys) {
        String is = seen.getOrDefault(key, "");
        String should = certain.getOrDefault(key, "");
        List<String> may = possible.getOrDefault(key, List.of());
        boolean wasLost = stopped && losable.getOrDefault(key, List.of()).contains(is);
        if (!is.equals(should) && !may.contains(is) && !wasLost) {
          throw new AssertionError(
              what
                  + ": key "
                  + key
                  + " has '"
                  + is
                  + "', should have '"
                  + should
                  + "' or of "
                  + may);
        }
        certain.put(key, is);
      }
      possible.clear();
      losable.clear(); // a durable commit has come behind them
    }
  }
}

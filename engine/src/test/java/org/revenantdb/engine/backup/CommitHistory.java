package org.revenantdb.engine.backup;

import static org.revenantdb.engine.backup.BackedUp.key;
import static org.revenantdb.engine.backup.BackedUp.value;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.CatalogException;
import org.revenantdb.engine.ConflictException;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.Savepoint;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.TableOptions;
import org.revenantdb.engine.Transaction;
import org.revenantdb.engine.TransactionOptions;
import org.revenantdb.recovery.testing.Await;

/**
 * Random transactions, and a model that knows each prefix of their commits.
 *
 * <p>Every transaction that commits has counted up one row, so that the row of a copy says how many
 * of them it has; the model has done the same ones.
 */
public final class CommitHistory {
  private static final int WRITERS = 3;
  private static final byte[] TICKET = key(0);

  /** What a database has to hold: tables, rows, values as a length and a hash. */
  public static final class Model {
    public final Map<String, Map<String, String>> tables = new TreeMap<>();

    void put(String table, byte[] key, byte[] value) {
      tables
          .get(table)
          .put(HexFormat.of().formatHex(key), value.length + ":" + Arrays.hashCode(value));
    }
  }

  private final Map<Long, List<Consumer<Model>>> committed = new ConcurrentHashMap<>();
  public final AtomicLong acknowledged = new AtomicLong();
  private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
  private volatile boolean stopped;

  /** Writers pause when so many tickets are acknowledged. */
  private volatile long allowed = Long.MAX_VALUE;

  private final List<Thread> threads = new ArrayList<>();

  public Model upTo(long ticket) {
    Model model = new Model();
    model.tables.put("ticket", new TreeMap<>());
    model.tables.put("big", new TreeMap<>());
    for (int i = 0; i < 3; i++) {
      model.tables.put("t" + i, new TreeMap<>());
    }
    for (long i = 1; i <= ticket; i++) {
      committed.get(i).forEach(effect -> effect.accept(model));
    }
    if (ticket > 0) {
      model.put("ticket", TICKET, number(ticket));
    }
    return model;
  }

  /** Until that many transactions more have committed, if writers go on. */
  public void await(long more) {
    long wanted = acknowledged.get() + more;
    while (acknowledged.get() < wanted && failure.get() == null && !stopped) {
      Await.pause();
    }
  }

  /**
   * Like {@link #await}, and from now on writers pause some commits later. So a slow machine, or
   * files in memory, do not let them fill the memory.
   */
  public void pace(long more) {
    allowed = acknowledged.get() + more + 20;
    await(more);
  }

  private void threw(Throwable thrown) {
    failure.compareAndSet(null, thrown);
  }

  /** Makes the tables. */
  public static void create(Database db) {
    db.createTable("ticket");
    db.createTable("big");
    for (int i = 0; i < 3; i++) {
      db.createTable("t" + i, i == 2 ? TableOptions.hashPartitioned(3) : TableOptions.defaults());
    }
  }

  /** Starts writers, one that maintains, and one with a transaction that stays open. */
  public void start(Database db, Random random) {
    stopped = false;
    for (int i = 0; i < WRITERS; i++) {
      Random own = new Random(random.nextLong());
      threads.add(Thread.ofPlatform().start(() -> guarded(this, () -> writer(db, this, own))));
    }
    Random cleaning = new Random(random.nextLong());
    threads.add(Thread.ofPlatform().start(() -> guarded(this, () -> maintain(db, this, cleaning))));
    threads.add(Thread.ofVirtual().start(() -> guarded(this, () -> hold(db, this))));
  }

  /** Ends all threads; throws what one of them has thrown. */
  public void stop() throws InterruptedException {
    stopped = true;
    for (Thread thread : threads) {
      thread.join();
    }
    threads.clear();
    if (failure.get() != null) {
      throw new AssertionError("a thread beside the copies", failure.get());
    }
  }

  /** The highest ticket of a commit that has begun. */
  public long begun() {
    return committed.keySet().stream().mapToLong(Long::longValue).max().orElse(0);
  }

  /** A crash has taken the commits behind one. */
  public void forget(long above) {
    committed.keySet().removeIf(ticket -> ticket > above);
    acknowledged.set(above);
  }

  private static byte[] number(long number) {
    return ByteBuffer.allocate(8).putLong(number).array();
  }

  private static void guarded(CommitHistory history, Runnable work) {
    try {
      work.run();
    } catch (Throwable thrown) {
      history.threw(thrown);
    }
  }

  /** How many commits a database has. */
  public static long ticket(Database db) {
    byte[] found = db.read(tx -> tx.get(db.table("ticket"), TICKET));
    return found == null ? 0 : ByteBuffer.wrap(found).getLong();
  }

  private static void maintain(Database db, CommitHistory history, Random random) {
    while (!history.stopped && history.failure.get() == null) {
      switch (random.nextInt(4)) {
        case 0 -> db.compact();
        case 1 -> db.cleanNow();
        default -> db.checkpoint();
      }
      history.await(random.nextInt(20));
    }
  }

  /** A transaction of many rows that is open all the time. */
  private static void hold(Database db, CommitHistory history) {
    Table big = db.table("big");
    try (Transaction tx = db.begin()) {
      for (int i = 0; !history.stopped && history.failure.get() == null; i++) {
        if (i < 4_000) {
          tx.put(big, key(i), value(i, 300));
        } else {
          history.await(5);
        }
      }
    }
  }

  private static void writer(Database db, CommitHistory history, Random random) {
    while (!history.stopped && history.failure.get() == null) {
      if (history.acknowledged.get() >= history.allowed) {
        Await.pause();
        continue;
      }
      TransactionOptions options =
          random.nextInt(3) == 0 ? TransactionOptions.durable() : TransactionOptions.lazy();
      try (Transaction tx = db.begin(options)) {
        transaction(db, tx, history, random);
      } catch (ConflictException | CatalogException another) {
        Await.pause(); // the others go first
      }
    }
  }

  private static void transaction(
      Database db, Transaction tx, CommitHistory history, Random random) {
    Table tickets = db.table("ticket");
    byte[] last = tx.get(tickets, TICKET);
    long mine = (last == null ? 0 : ByteBuffer.wrap(last).getLong()) + 1;
    tx.put(tickets, TICKET, number(mine));
    List<Consumer<Model>> effects = new ArrayList<>();
    for (int i = random.nextInt(12); i >= 0; i--) {
      if (random.nextInt(15) == 0) {
        Savepoint before = tx.savepoint();
        step(db, tx, random, mine, /* tables= */ false, new ArrayList<>());
        tx.rollbackTo(before);
        tx.release(before);
      } else {
        step(db, tx, random, mine, /* tables= */ true, effects);
      }
    }
    if (random.nextInt(8) == 0) {
      tx.rollback();
      return;
    }
    history.committed.put(mine, effects);
    tx.commit();
    history.acknowledged.accumulateAndGet(mine, Math::max);
  }

  private static void step(
      Database db,
      Transaction tx,
      Random random,
      long mine,
      boolean tables,
      List<Consumer<Model>> effects) {
    String name = "t" + random.nextInt(3);
    int number = random.nextInt(400);
    byte[] key = key(number);
    int kind = random.nextInt(14);
    switch (kind == 3 && !tables ? 5 : kind) {
      case 0, 1 -> {
        tx.delete(db.table(name), key);
        effects.add(model -> model.tables.get(name).remove(HexFormat.of().formatHex(key)));
      }
      case 2 -> {
        byte[] to = key(number + 30);
        tx.deleteRange(db.table(name), key, to);
        String low = HexFormat.of().formatHex(key);
        String high = HexFormat.of().formatHex(to);
        effects.add(model ->
            model
                .tables
                .get(name)
                .keySet()
                .removeIf(found -> found.compareTo(low) >= 0 && found.compareTo(high) < 0));
      }
      case 3 -> {
        String made = "made" + random.nextInt(4);
        Table there = tx.findTable(made);
        if (there == null) {
          Table table = tx.createTable(made);
          effects.add(model -> model.tables.put(made, new TreeMap<>()));
          for (int i = 0; i < 20; i++) {
            put(tx, table, made, key(i), value((int) mine, 50), effects);
          }
        } else if (random.nextBoolean()) {
          tx.truncate(there);
          effects.add(model -> model.tables.get(made).clear());
        } else {
          tx.dropTable(there);
          effects.add(model -> model.tables.remove(made));
        }
      }
      case 4 ->
          put(
              tx,
              db.table(name),
              name,
              key,
              value((int) mine, 3_000 + random.nextInt(20_000)),
              effects);
      default ->
          put(tx, db.table(name), name, key, value((int) mine, random.nextInt(300)), effects);
    }
  }

  private static void put(
      Transaction tx,
      Table table,
      String name,
      byte[] key,
      byte[] value,
      List<Consumer<Model>> effects) {
    tx.put(table, key, value);
    effects.add(model -> model.put(name, key, value));
  }
}

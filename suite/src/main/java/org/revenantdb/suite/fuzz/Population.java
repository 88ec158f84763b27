package org.revenantdb.suite.fuzz;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.revenantdb.engine.Durability;
import org.revenantdb.engine.Isolation;
import org.revenantdb.engine.Savepoint;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.Transaction;
import org.revenantdb.engine.TransactionOptions;

/**
 * Creates the databases that are damaged: together they contain everything that the format can
 * represent.
 *
 * <p>Threads: one, and those of the engine.
 */
final class Population {

  /** The kinds of family. */
  enum Kind {
    /** A little of everything, several lives, closed and killed in between. */
    EVERYTHING,
    /**
     * Killed with much undecided: large transactions, open changes of tables, prepared
     * transactions.
     */
    UNDECIDED,
    /** Former versions in files, several log segments since the checkpoint. */
    SPILLED,
    /** Killed while pages are being written. */
    FLUSHING,
    /** One value so large that its head refers to index pages. */
    INDEXED
  }

  private final Grower grower;

  private Population(Grower grower) {
    this.grower = grower;
  }

  /** Creates a family. */
  static Family make(Kind kind, long seed) {
    try (Grower grower = new Grower(seed, Place.options())) {
      Population population = new Population(grower);
      switch (kind) {
        case EVERYTHING -> population.everything();
        case UNDECIDED -> population.undecided();
        case SPILLED -> population.spilled();
        case FLUSHING -> population.flushing();
        case INDEXED -> population.indexed();
      }
      return grower.family();
    }
  }

  private void tables() {
    grower.table("small", 1);
    grower.table("split", 3);
    grower.table("large", 1);
  }

  private void sequences() {
    for (int i = 0; i < 3; i++) {
      grower.number(KnownSequence.PLAIN);
      grower.number(KnownSequence.REVERSED);
    }
    grower.number(KnownSequence.DOWN);
  }

  private void fill(int rounds) {
    for (int i = 0; i < rounds; i++) {
      grower.work("small", 25, 200);
      grower.work("split", 25, 300);
      if (i % 3 == 0) {
        grower.work("large", 2, 8_000);
      }
    }
  }

  private void chains() {
    Transaction tx = grower.transaction();
    grower.put(tx, "large", "chain-1", grower.value("chain-1".repeat(9), 9_000 * 4));
    grower.put(tx, "large", "chain-2", Arrays.copyOf(grower.value("chain-2", 100), 40_000));
    grower.putStream(tx, "large", "chain-3", Arrays.copyOf(grower.value("chain-3", 100), 70_000));
    grower.commit(tx);
  }

  private void everything() {
    grower.begin();
    tables();
    sequences();
    fill(5);
    chains();
    grower.killedHere("first life");
    grower.closeCleanly("closed");
    grower.begin();
    grower.forgetHistory();
    fill(3);
    grower.table("gone", 1);
    grower.work("gone", 30, 900);
    Transaction reader = reader();
    grower.dropTable("gone");
    prepared("prepared-1");
    fill(2);
    grower.killedHere("second life, with a dropped table");
    reader.rollback();
    grower.db().checkpoint();
    fill(2);
    grower.kill("second life, after a checkpoint");
    grower.begin();
    grower.killedHere("just restarted");
    grower.forgetHistory();
    fill(1);
    grower.db().cleanNow();
    grower.closeCleanly("closed again");
    grower.begin();
    grower.forgetHistory();
    fill(1);
    grower.kill("third life");
  }

  private void undecided() {
    grower.begin();
    tables();
    sequences();
    fill(4);
    chains();
    prepared("prepared-1");
    prepared("prepared-2");
    grower.db().checkpoint();
    grower.forgetHistory();
    Transaction reader = reader();
    grower.table("emptied", 2);
    grower.work("emptied", 40, 700);
    grower.truncate("emptied");
    grower.work("emptied", 5, 200);
    // All of them stay open; the next life has to roll them back.
    big("open-1-", 120);
    big("open-2-", 40);
    Transaction tables = grower.db().begin();
    Table fresh = tables.createTable("never");
    tables.put(fresh, Grower.bytes("row"), new byte[3_000]);
    Table known = tables.findTable("emptied");
    if (known != null) {
      tables.truncate(known);
    }
    Transaction drops = grower.db().begin();
    Table other = drops.createTable("not yet");
    drops.put(other, Grower.bytes("row"), new byte[20_000]);
    big("aborted-", 60).rollback();
    fill(1);
    grower.db().sync();
    grower.kill("with much undecided");
    reader.close();
    grower.begin();
    grower.killedHere("restarted");
    grower.forgetHistory();
    big("open-3-", 80);
    fill(2);
    grower.kill("restarted, with more undecided");
    grower.begin();
    grower.forgetHistory();
    grower.db().cleanNow();
    grower.db().cleanNow();
    fill(1);
    grower.killedHere("cleaned");
    fill(1);
    grower.closeCleanly("closed, with prepared ones");
  }

  private void spilled() {
    grower.begin();
    tables();
    fill(2);
    grower.db().checkpoint();
    grower.forgetHistory();
    List<Transaction> readers = new ArrayList<>(); // each of them needs versions of its own
    for (int i = 0; i < 28; i++) {
      Transaction tx = grower.transaction();
      for (int key = 0; key < 60; key++) {
        grower.put(
            tx, "small", grower.key("k", key), Arrays.copyOf(grower.value("spill", 900), 1_100));
      }
      grower.commit(tx);
      readers.add(reader());
      if (i == 22) {
        grower.killedHere("spilling");
      }
    }
    Transaction saves = grower.db().begin();
    Table small = grower.db().table("small");
    Savepoint point = saves.savepoint();
    for (int i = 0; i < 4; i++) {
      for (int key = 0; key < 60; key++) {
        byte[] value = new byte[1_200];
        value[i] = 1;
        saves.put(small, Grower.bytes(grower.key("k", key)), value);
      }
      saves.savepoint();
    }
    grower.killedHere("with a savepoint");
    saves.rollbackTo(point);
    fill(1);
    grower.kill("rolled back to the savepoint");
    readers.forEach(Transaction::close);
    grower.begin();
    grower.forgetHistory();
    fill(1);
    grower.closeCleanly("closed");
  }

  private void flushing() {
    grower.begin();
    tables();
    sequences();
    fill(6);
    chains();
    for (int round = 0; round < 4; round++) {
      grower.db().checkpoint();
      grower.forgetHistory();
      fill(3);
      whileFlushing(round);
    }
    grower.kill("flushed");
    grower.begin();
    grower.forgetHistory();
    grower.db().checkpoint();
    grower.closeCleanly("closed");
  }

  /** The moments come at arbitrary instants; the content does not change meanwhile. */
  private void whileFlushing(int round) {
    AtomicBoolean done = new AtomicBoolean();
    Thread flushes =
        Thread.ofPlatform()
            .daemon()
            .start(() -> {
              try {
                grower.db().checkpoint();
              } finally {
                done.set(true);
              }
            });
    for (int i = 0; i < 3 && !done.get(); i++) {
      grower.killedHere("flushing " + round + "." + i);
    }
    try {
      flushes.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void indexed() {
    grower.begin();
    tables();
    fill(1);
    Transaction tx = grower.transaction();
    byte[] huge = new byte[17_000_000];
    huge[16_999_999] = 1;
    grower.putStream(tx, "large", "huge", huge);
    grower.commit(tx);
    grower.db().checkpoint();
    grower.forgetHistory();
    fill(1);
    grower.killedHere("with an index page");
    tx = grower.transaction();
    grower.delete(tx, "large", "huge");
    Transaction deletes = tx;
    grower.killedHere("about to go");
    deletes.rollback();
    grower.closeCleanly("closed");
  }

  private Transaction reader() {
    Transaction reader =
        grower.db().begin(TransactionOptions.of(Durability.LAZY).withIsolation(Isolation.SNAPSHOT));
    Table small = grower.db().table("small");
    reader.get(small, Grower.bytes("k0000"));
    return reader;
  }

  private Transaction big(String prefix, int rows) {
    Transaction tx = grower.transaction();
    for (String table : List.of("small", "split", "large")) {
      for (int i = 0; i < (table.equals("large") ? 3 : rows); i++) {
        String key = prefix + i;
        grower.put(tx, table, key, grower.value(key, table.equals("large") ? 30_000 : 250));
      }
    }
    return tx;
  }

  private void prepared(String name) {
    Transaction tx = grower.transaction();
    for (int i = 0; i < 6; i++) {
      String key = name + i;
      grower.put(tx, "small", key, grower.value(key, 400));
      grower.put(tx, "split", key, grower.value(key, 400));
    }
    grower.put(tx, "large", name, Arrays.copyOf(grower.value(name, 100), 12_000));
    grower.prepare(tx, name);
  }
}

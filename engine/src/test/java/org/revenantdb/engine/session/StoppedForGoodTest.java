package org.revenantdb.engine.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.revenantdb.engine.testing.Samples.SMALL;
import static org.revenantdb.engine.testing.Samples.bytes;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.revenantdb.engine.CheckReport;
import org.revenantdb.engine.Cursor;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.DatabaseStoppedException;
import org.revenantdb.engine.OutcomeUnknownException;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.Transaction;
import org.revenantdb.engine.TransactionOptions;
import org.revenantdb.engine.access.ApiAccess;
import org.revenantdb.engine.change.Journal;
import org.revenantdb.engine.change.ThrowAfterPublish;
import org.revenantdb.engine.testing.Samples;
import org.revenantdb.recovery.testing.CrashDisk;

/**
 * R18, the later half: an exception between a published record and its last change stops the engine
 * for good. Whatever part of the log has reached the disk by then, the next open has each record
 * completely or not at all. (An earlier exception leaves a PAD, and the engine goes on: {@code
 * LogTest}, {@code RulesTest}.)
 *
 * <p>Forces are made only on request.
 */
@Tag("slow")
class StoppedForGoodTest {
  private static final DatabaseOptions OPTIONS = SMALL.withMaxLazyDelay(DatabaseOptions.NEVER);
  private static final TransactionOptions LAZY = TransactionOptions.lazy();
  private static final TransactionOptions DURABLE = TransactionOptions.durable();
  private static final long SEED = Long.getLong("stopped.seed", System.nanoTime());

  /** Fewer would mean that the work is of one page; it splits a leaf and writes a large value. */
  private static final int FEWEST_PLACES = 20;

  private final CrashDisk base = new CrashDisk();

  /** A leaf that the next row splits, and nothing that a restart would have to redo. */
  private void makeBase() {
    try (Database db = Database.open(base.path("/db"), OPTIONS)) {
      Table table = db.getOrCreateTable("t");
      db.run(tx -> {
        for (int i = 0; i < 4; i++) {
          tx.put(table, bytes("base" + i), new byte[1_900]);
        }
      });
    }
  }

  /** A row into a full leaf, one over one that is there, a large value. */
  private static void work(Transaction tx, Table table) {
    tx.put(table, bytes("base1-"), new byte[1_800]);
    tx.put(table, bytes("base2"), new byte[900]);
    tx.put(table, bytes("large"), new byte[20_000]);
  }

  /** Which key has a value of which length. */
  private static TreeMap<String, Integer> rows(Database db) {
    return db.call(tx -> {
      TreeMap<String, Integer> rows = new TreeMap<>();
      try (Cursor cursor = tx.scan(db.getOrCreateTable("t"), null, null)) {
        while (cursor.next()) {
          rows.put(Samples.text(cursor.key()), cursor.value().length);
        }
      }
      return rows;
    });
  }

  private static TreeMap<String, Integer> baseRows() {
    TreeMap<String, Integer> rows = new TreeMap<>();
    for (int i = 0; i < 4; i++) {
      rows.put("base" + i, 1_900);
    }
    return rows;
  }

  private static TreeMap<String, Integer> allRows() {
    TreeMap<String, Integer> rows = baseRows();
    rows.put("lazy", 10);
    rows.put("base1-", 1_800);
    rows.put("base2", 900);
    rows.put("large", 20_000);
    return rows;
  }

  /** All that it does by itself is done. */
  private static Database openQuietly(CrashDisk disk) {
    Database db = Database.open(disk.path("/db"), OPTIONS);
    db.cleanNow();
    db.checkpoint();
    return db;
  }

  private int places() {
    CrashDisk disk = base.afterKill();
    try (Database db = openQuietly(disk)) {
      db.run(LAZY, tx -> tx.put(db.getOrCreateTable("t"), bytes("lazy"), new byte[10]));
      db.cleanNow(); // by itself it may come in the middle of the work, and clear the leaf's bit
      return places(db);
    }
  }

  private static Journal journal(Database db) {
    return db.call(tx -> ApiAccess.api().core(tx).engine().storage().log());
  }

  private static int places(Database db) {
    try (ThrowAfterPublish none =
        new ThrowAfterPublish(journal(db), -1, new StackOverflowError(), () -> {})) {
      db.run(LAZY, tx -> work(tx, db.getOrCreateTable("t")));
      return none.passed();
    }
  }

  /** One life that is struck, and what the next opens find; whether the log was forced before. */
  private void strike(int place, int places, Error error, boolean forced) {
    String what = "place " + place + " of " + places + ", " + error + (forced ? ", forced" : "");
    CrashDisk disk = base.afterKill();
    Database db = openQuietly(disk);
    Table table = db.getOrCreateTable("t");
    Transaction lazy = db.begin(LAZY);
    lazy.put(table, bytes("lazy"), new byte[10]);
    lazy.commit();
    db.cleanNow(); // as in places()
    CompletableFuture<@Nullable Void> durable = lazy.whenDurable().toCompletableFuture();

    Transaction struck = db.begin(LAZY);
    boolean[] worked = new boolean[1];
    Runnable before = forced ? () -> CompletableFuture.runAsync(db::sync).join() : () -> {};
    try (ThrowAfterPublish failpoint = new ThrowAfterPublish(journal(db), place, error, before)) {
      Throwable thrown =
          assertThrows(
              Throwable.class,
              () -> {
                work(struck, table);
                worked[0] = true;
                struck.commit();
              },
              what);
      assertSame(error, thrown, what);
      assertEquals(place + 1, failpoint.passed(), what);
    }

    boolean inCommit = worked[0];
    assertEquals(place == places - 1, inCommit, what);
    List<Runnable> later = new ArrayList<>();
    later.add(() -> db.run(LAZY, tx -> tx.put(table, bytes("later"), bytes("1"))));
    later.add(() -> db.run(DURABLE, tx -> tx.put(table, bytes("base3"), bytes("1"))));
    later.add(() -> db.getOrCreateTable("another"));
    later.add(db::checkpoint);
    if (!inCommit) {
      later.add(() -> struck.put(table, bytes("later"), bytes("1")));
    }
    if (!forced) {
      later.add(db::sync);
    }
    for (int i = 0; i < later.size(); i++) {
      assertThrows(DatabaseStoppedException.class, later.get(i)::run, what + ", call " + i);
    }
    if (forced) {
      durable.join();
    } else {
      CompletionException told = assertThrows(CompletionException.class, durable::join, what);
      assertInstanceOf(OutcomeUnknownException.class, told.getCause(), what);
    }
    struck.close(); // changes nothing any more: COMMIT is in the log, or nothing is
    assertThrows(DatabaseStoppedException.class, db::close, what);

    TreeMap<String, Integer> expected = inCommit && forced ? allRows() : baseRows();
    if (forced) {
      expected.put("lazy", 10);
    }
    Random random = new Random(SEED + place);
    comesBack(disk.afterKill(), expected, what + ", killed");
    comesBack(disk.afterPowerCut(random), expected, what + ", power cut, stopped.seed=" + SEED);
  }

  private static void comesBack(CrashDisk disk, TreeMap<String, Integer> expected, String what) {
    try (Database db = Database.open(disk.path("/db"), OPTIONS)) {
      CheckReport report = db.check();
      assertTrue(report.isSound(), () -> what + ": " + report);
      assertEquals(expected, rows(db), what);
      db.run(DURABLE, tx -> work(tx, db.getOrCreateTable("t")));
      db.cleanNow();
      CheckReport after = db.check();
      assertTrue(after.isSound() && after.pagesToClean() == 0, () -> what + ": " + after);
    }
  }

  private void strikeEverywhere(Error error, boolean forced) {
    makeBase();
    int places = places();
    assertTrue(places >= FEWEST_PLACES, "only " + places + " places");
    for (int place = 0; place < places; place++) {
      strike(place, places, error, forced);
    }
  }

  @Test
  void R18_no_stack_left_behind_a_published_record_stops_the_engine_for_good() {
    strikeEverywhere(new StackOverflowError("thrown by the test"), /* forced= */ false);
  }

  @Test
  void R18_no_memory_left_behind_a_published_record_stops_the_engine_for_good() {
    strikeEverywhere(new OutOfMemoryError("thrown by the test"), /* forced= */ false);
  }

  /** The log holds the record by then, so the next open has it. */
  @Test
  void
      R18_a_record_that_was_durable_before_the_engine_stopped_is_there_whole_after_the_next_open() {
    strikeEverywhere(new StackOverflowError("thrown by the test"), /* forced= */ true);
  }
}

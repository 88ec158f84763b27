package org.revenantdb.engine.check;

import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;
import static org.revenantdb.engine.testing.Samples.MIB;
import static org.revenantdb.engine.testing.Samples.bytes;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.revenantdb.engine.Cursor;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.DatabaseStoppedException;
import org.revenantdb.engine.OutcomeUnknownException;
import org.revenantdb.engine.StorageException;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.Transaction;
import org.revenantdb.engine.testing.Samples;
import org.revenantdb.recovery.testing.CrashDisk;

/**
 * One flipped bit anywhere in the files of a database, killed or closed cleanly, is either without
 * effect or reported by a {@link StorageException}: never wrong data, never work lost in silence
 * (R6, R7).
 *
 * <p>One thing no log can tell from a torn tail: a flip in the records of the very last commit of a
 * killed database, which nothing after them names as durable. Nothing older may be lost.
 *
 * <p>Seeds are printed; {@code -Drevenant.seed} repeats one, {@code -Drevenant.long=true} takes
 * more of them.
 */
@Tag("slow")
class BitFlipTest {
  private static final String DIRECTORY = "/db";
  private static final DatabaseOptions OPTIONS =
      Samples.SMALL.withPoolBytes(2 * MIB).withMaxRecoveryLog(4 * MIB);
  private static final int FLIPS = Boolean.getBoolean("revenant.long") ? 5_000 : 100;

  /** Rows of all tables, as table/key to a hash of the value. */
  private static final class Content extends TreeMap<String, Long> {
    private static final long serialVersionUID = 1L;

    Content(Map<String, Long> rows) {
      super(rows);
    }
  }

  private record Made(CrashDisk disk, List<Content> legal) {}

  private static long hash(byte[] value) {
    long hash = value.length;
    for (byte b : value) {
      hash = 31 * hash + b;
    }
    return hash;
  }

  /** A database with several checkpoints, splits, large values, aborts and one open transaction. */
  private static Made make(long seed, boolean cleanly) {
    CrashDisk disk = new CrashDisk();
    Random random = new Random(seed);
    Content content = new Content(Map.of());
    Content before = content;
    Database db = Database.open(disk.path(DIRECTORY), OPTIONS);
    for (int commit = 0; commit < 30; commit++) {
      Content next = new Content(content);
      boolean abort = random.nextInt(5) == 0;
      int large = random.nextInt(3);
      try (Transaction tx = db.begin()) {
        for (int i = 0; i < 40; i++) {
          String name = "t" + random.nextInt(2);
          String key = "k" + random.nextInt(400);
          if (random.nextInt(5) == 0) {
            tx.delete(db.getOrCreateTable(name), bytes(key));
            next.remove(name + "/" + key);
          } else {
            int length = i < large ? 3_000 + random.nextInt(60_000) : random.nextInt(200);
            byte[] value = new byte[length];
            random.nextBytes(value);
            tx.put(db.getOrCreateTable(name), bytes(key), value);
            next.put(name + "/" + key, hash(value));
          }
        }
        if (!abort) {
          tx.commit();
          before = content;
          content = next;
        }
      }
      if (commit % 9 == 5) {
        db.checkpoint();
      }
      if (commit % 8 == 3) {
        db.cleanNow();
      }
    }
    Transaction open = db.begin();
    open.put(db.getOrCreateTable("t0"), bytes("uncommitted"), new byte[10_000]);
    if (cleanly) {
      db.close();
      return new Made(disk.afterKill(), List.of(content));
    }
    CrashDisk killed = disk.afterKill();
    db.close();
    return new Made(killed, List.of(content, before));
  }

  private static Content read(Database db) {
    Content content = new Content(Map.of());
    try (Transaction tx = db.begin()) {
      for (String name : db.tableNames()) {
        try (Cursor cursor = tx.scan(db.getOrCreateTable(name), null, null)) {
          while (cursor.next()) {
            String key = new String(cursor.key(), java.nio.charset.StandardCharsets.UTF_8);
            content.put(name + "/" + key, hash(cursor.value()));
          }
        }
      }
    }
    return content;
  }

  private static boolean toldByStorage(Throwable thrown) {
    if (thrown instanceof StorageException told) {
      assertTrue(
          told.file() != null && !told.problem().isEmpty() && !told.cure().isEmpty(),
          told.getMessage());
      return true;
    }
    boolean stopped =
        thrown instanceof DatabaseStoppedException || thrown instanceof OutcomeUnknownException;
    for (Throwable cause = thrown.getCause(); stopped && cause != null; cause = cause.getCause()) {
      if (cause instanceof org.revenantdb.recovery.file.FileException) {
        return true;
      }
    }
    return false;
  }

  /** The result of opening and reading: null if all rows were there, else the reported failure. */
  private static @Nullable Throwable outcome(CrashDisk disk, Made made, boolean goOn) {
    Path directory = disk.path(DIRECTORY);
    Throwable told = null;
    Content found = null;
    Database db = null;
    try {
      db = Database.open(directory, OPTIONS);
      found = read(db);
      db.cleanNow();
      db.check();
      if (goOn) {
        Table table = db.getOrCreateTable("t0");
        db.run(tx -> tx.put(table, bytes("afterwards"), new byte[5_000]));
        found = read(db);
        db.close();
        db = Database.open(directory, OPTIONS);
        if (!read(db).equals(found)) {
          fail("it has changed by a reopen");
        }
        found.remove("t0/afterwards");
      }
    } catch (RuntimeException e) {
      if (!toldByStorage(e)) {
        throw e;
      }
      told = e;
      found = null;
    } finally {
      if (db != null) {
        try {
          db.close();
        } catch (RuntimeException e) {
          if (!toldByStorage(e)) {
            throw e;
          }
        }
      }
    }
    if (found != null && !made.legal().contains(found)) {
      Content lost = new Content(made.legal().getFirst());
      lost.keySet().removeAll(found.keySet());
      fail("wrong contents in silence; " + lost.size() + " rows are missing: " + lost.keySet());
    }
    return told;
  }

  private static void flipEverywhere(boolean cleanly) {
    long seed = Long.getLong("revenant.seed", System.nanoTime());
    System.out.println("BitFlipTest " + (cleanly ? "clean" : "killed") + " revenant.seed=" + seed);
    Made made = make(seed, cleanly);
    outcome(made.disk().afterKill(), made, /* goOn= */ true);
    Random random = new Random(seed);
    List<String> files = made.disk().files();
    Map<String, Integer> counts = new TreeMap<>();
    for (int i = 0; i < FLIPS; i++) {
      String file = files.get(random.nextInt(files.size()));
      int length = made.disk().content(file).length;
      if (length == 0) {
        continue;
      }
      int offset =
          random.nextInt(
              switch (random.nextInt(4)) {
                case 0 -> Math.min(length, 5 * 8192);
                case 1 -> Math.min(length, 64 * 8192);
                default -> length;
              });
      int bit = random.nextInt(8);
      String flip = "seed " + seed + ": bit " + bit + " of byte " + offset + " of " + file;
      CrashDisk disk = made.disk().afterKill();
      disk.flip(file, offset, bit);
      try {
        Throwable told = outcome(disk, made, /* goOn= */ i % 4 == 0);
        counts.merge(told == null ? "no effect" : told.getClass().getSimpleName(), 1, Integer::sum);
      } catch (Throwable wrong) {
        throw new AssertionError(flip, wrong);
      }
    }
    System.out.println("BitFlipTest " + counts);
  }

  @Test
  void R7_flippedBit_inADatabaseThatWasKilled_isHarmlessOrTold() {
    flipEverywhere(/* cleanly= */ false);
  }

  @Test
  void R7_flippedBit_inADatabaseThatWasClosedCleanly_isHarmlessOrTold() {
    flipEverywhere(/* cleanly= */ true);
  }

  /** What a power cut leaves of the same database is never refused, and loses nothing. */
  @Test
  void R7_powerCut_atTheEndOfTheSameHistory_isNeverRefused() {
    long seed = Long.getLong("revenant.seed", System.nanoTime());
    System.out.println("BitFlipTest power cut revenant.seed=" + seed);
    Made made = make(seed, /* cleanly= */ false);
    List<Content> acknowledged = new ArrayList<>(List.of(made.legal().getFirst()));
    Random random = new Random(seed);
    for (int i = 0; i < 20; i++) {
      CrashDisk disk = made.disk().afterPowerCut(random);
      Throwable told = outcome(disk, new Made(made.disk(), acknowledged), /* goOn= */ true);
      if (told != null) {
        throw new AssertionError("seed " + seed + ", cut " + i, told);
      }
    }
  }
}

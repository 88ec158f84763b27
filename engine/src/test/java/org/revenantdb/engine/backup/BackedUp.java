package org.revenantdb.engine.backup;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.reflect.Field;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicReference;
import org.revenantdb.engine.CheckReport;
import org.revenantdb.engine.Cursor;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.Transaction;
import org.revenantdb.engine.buffer.BufferPool;
import org.revenantdb.engine.lifecycle.OpenDatabase;

/** What the tests of backups share. */
public final class BackedUp {
  /** A small database, so that pages are written and segments recycled soon. */
  public static final DatabaseOptions SMALL =
      DatabaseOptions.defaults()
          .withPoolBytes(2 << 20)
          .withMaxRecoveryLog(256 << 20)
          .withLogSegmentBytes(1 << 20)
          .withMaxRecoveryLog(4 << 20);

  private BackedUp() {}

  /** Does something on another thread between two steps of the next backups. */
  public static void between(Database db, BackupSteps.Step wanted, Runnable action) {
    steps(
        db,
        step -> {
          if (step == wanted) {
            onOtherThread(action);
          }
        });
  }

  public static void steps(Database db, BackupSteps steps) {
    try {
      backups(db).steps = steps;
    } catch (ReflectiveOperationException renamed) {
      throw new AssertionError(renamed);
    }
  }

  /** The pages of a database. */
  public static BufferPool pool(Database db) {
    try {
      Field source = Backups.class.getDeclaredField("source");
      source.setAccessible(true);
      return ((BackupSource) source.get(backups(db))).pool();
    } catch (ReflectiveOperationException renamed) {
      throw new AssertionError(renamed);
    }
  }

  private static Backups backups(Database db) throws ReflectiveOperationException {
    Field open = Database.class.getDeclaredField("open");
    open.setAccessible(true);
    return ((OpenDatabase) open.get(db)).backups();
  }

  /** Waits for it; throws what it has thrown. */
  public static void onOtherThread(Runnable action) {
    AtomicReference<Throwable> thrown = new AtomicReference<>();
    Thread thread =
        Thread.ofPlatform()
            .name("between-steps")
            .start(() -> {
              try {
                action.run();
              } catch (Throwable failure) {
                thrown.set(failure);
              }
            });
    boolean interrupted = false;
    while (true) {
      try {
        thread.join();
        break;
      } catch (InterruptedException later) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
    if (thrown.get() != null) {
      throw new AssertionError("between two steps", thrown.get());
    }
  }

  public static byte[] key(int number) {
    // Not with a format: tests make millions of them.
    byte[] key = new byte[8];
    for (int at = key.length - 1, rest = number; at >= 0; at--, rest /= 10) {
      key[at] = (byte) ('0' + rest % 10);
    }
    return key;
  }

  /** Bytes that say which value it is, of any length. */
  public static byte[] value(int number, int length) {
    byte[] value = new byte[length];
    Arrays.fill(value, (byte) number);
    byte[] text = Integer.toString(number).getBytes(StandardCharsets.UTF_8);
    System.arraycopy(text, 0, value, 0, Math.min(length, text.length));
    return value;
  }

  public static void put(Database db, String table, int from, int to, int number, int length) {
    Table rows = db.getOrCreateTable(table);
    db.run(tx -> {
      for (int i = from; i < to; i++) {
        tx.put(rows, key(i), value(number, length));
      }
    });
  }

  /** All rows of all tables; a value as its length and a hash. */
  public static Map<String, Map<String, String>> contents(Database db) {
    Map<String, Map<String, String>> tables = new TreeMap<>();
    try (Transaction tx = db.begin()) {
      for (String name : db.tableNames()) {
        Map<String, String> rows = new TreeMap<>();
        try (Cursor cursor = tx.scan(db.table(name), null, null)) {
          while (cursor.next()) {
            byte[] value = cursor.value();
            rows.put(
                HexFormat.of().formatHex(cursor.key()),
                value.length + ":" + Arrays.hashCode(value));
          }
        }
        tables.put(name, rows);
      }
    }
    return tables;
  }

  /** Opens a copy first read-only and then for writing, checks its structure, and shows it. */
  public static Map<String, Map<String, String>> opened(Path copy) {
    Map<String, Map<String, String>> inMemory;
    try (Database db = Database.open(copy, SMALL.withCreate(false).withReadOnly(true))) {
      assertSound(db.check());
      inMemory = contents(db);
    }
    try (Database db = Database.open(copy, SMALL.withCreate(false))) {
      assertEquals(inMemory, contents(db), "read-only and recovered");
      assertSound(db.check());
      db.cleanNow();
      db.checkpoint();
      assertEquals(inMemory, contents(db), "recovered and cleaned");
      assertSound(db.check());
    }
    try (Database db = Database.open(copy, SMALL.withCreate(false))) {
      assertTrue(db.recoveryReport().clean());
      assertEquals(inMemory, contents(db), "closed and opened again");
    }
    return inMemory;
  }

  public static void assertSound(CheckReport report) {
    assertTrue(report.isSound(), () -> report.problems().toString());
  }
}

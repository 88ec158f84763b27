package org.revenantdb.engine.lifecycle;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.DatabaseStoppedException;
import org.revenantdb.engine.RevenantException;
import org.revenantdb.recovery.testing.Await;
import org.revenantdb.recovery.testing.FaultyFileSystem;
import org.revenantdb.recovery.testing.IoEvent;

/** Closing ends once, for all who ask, and lets go of everything whatever fails on the way. */
class ClosingTest {
  private static final DatabaseOptions OPTIONS =
      DatabaseOptions.defaults().withPoolBytes(4 << 20).withLogSegmentBytes(1 << 20);
  private static final byte[] KEY = {1};
  private static final byte[] VALUE = {2};

  @TempDir Path temporary;

  private final FaultyFileSystem faulty = new FaultyFileSystem();

  private Database open() {
    return Database.open(faulty.wrap(temporary.resolve("db")), OPTIONS);
  }

  private static void put(Database database) {
    database.run(tx -> tx.put(database.getOrCreateTable("t"), KEY, VALUE));
  }

  private void assertNothingHeld() {
    assertEquals(List.of(), faulty.openFiles());
    faulty.hook(event -> {});
    try (Database again = open()) {
      assertArrayEquals(VALUE, again.call(tx -> tx.get(again.getOrCreateTable("t"), KEY)));
    }
  }

  /** The second one returned at once, and who then opened the directory found it locked. */
  @Test
  void a_second_close_returns_when_the_first_has_ended() throws Exception {
    Database database = open();
    put(database);
    FutureTask<Void> second = new FutureTask<>(database::close, null);
    AtomicBoolean once = new AtomicBoolean();
    AtomicBoolean returnedEarly = new AtomicBoolean();
    faulty.hook(event -> {
      if (event.is(IoEvent.Kind.WRITE, DatabaseFiles.DATA) && once.compareAndSet(false, true)) {
        Thread.ofPlatform().daemon().start(second);
        while (!second.isDone() && !somebodyWaitsToClose()) {
          Await.pause();
        }
        returnedEarly.set(second.isDone());
      }
    });
    database.close();
    second.get();
    assertTrue(once.get(), "closing wrote nothing");
    assertFalse(returnedEarly.get(), "the second close returned in the middle of the first");
    assertNothingHeld();
  }

  private static boolean somebodyWaitsToClose() {
    for (Thread thread : Thread.getAllStackTraces().keySet()) {
      Object blocker = LockSupport.getBlocker(thread);
      if (thread.getName().equals("revenant-close")
          && blocker != null
          && blocker.getClass().getName().startsWith("java.util.concurrent.locks.ReentrantLock")) {
        return true;
      }
    }
    return false;
  }

  @Test
  void a_last_checkpoint_that_fails_is_told_and_nothing_stays_held() {
    for (IoEvent.Kind kind : List.of(IoEvent.Kind.WRITE, IoEvent.Kind.FORCE)) {
      for (String file : List.of(DatabaseFiles.DATA, DatabaseFiles.DOUBLE_WRITE)) {
        Database database = open();
        put(database);
        faulty.hook(failing(kind, file));
        assertThrows(RuntimeException.class, database::close, kind + " " + file);
        assertNothingHeld();
      }
    }
  }

  /** A database that had stopped was closed without a word, as if all were well. */
  @Test
  void a_database_that_has_stopped_says_so_when_it_is_closed_and_nothing_stays_held() {
    Database database = open();
    put(database);
    faulty.hook(event -> {
      if (event.kind() == IoEvent.Kind.FORCE && event.file().toString().endsWith(".log")) {
        throw new IOException("Input/output error");
      }
    });
    assertThrows(RevenantException.class, () -> put(database));
    DatabaseStoppedException told = assertThrows(DatabaseStoppedException.class, database::close);
    // The first cause is what the thread that closes has thrown.
    assertTrue(
        told.getCause().getCause().getCause()
            instanceof org.revenantdb.recovery.file.FileException);
    database.close(); // once is enough
    assertNothingHeld();
  }

  private static FaultyFileSystem.Hook failing(IoEvent.Kind kind, String file) {
    return event -> {
      if (event.is(kind, file)) {
        throw new IOException("Input/output error");
      }
    };
  }
}

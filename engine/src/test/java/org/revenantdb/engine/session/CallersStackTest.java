package org.revenantdb.engine.session;

import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseClosedException;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.RevenantException;
import org.revenantdb.engine.StorageException;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.lifecycle.OpenDatabase;
import org.revenantdb.recovery.testing.FaultyFileSystem;
import org.revenantdb.recovery.testing.IoEvent;

/**
 * A caller that receives a failure of another thread finds its own frames on top, and that thread's
 * below.
 */
class CallersStackTest {
  private static final byte[] KEY = {1};

  @TempDir Path temporary;

  private final FaultyFileSystem faulty = new FaultyFileSystem();

  private static void assertIsOfTheCaller(Throwable told, String what) {
    assertTrue(told instanceof RevenantException, what + ": " + told);
    List<StackTraceElement> stack = List.of(told.getStackTrace());
    assertTrue(
        stack.stream().anyMatch(at -> at.getClassName().equals(CallersStackTest.class.getName())),
        what + ": " + stack);
  }

  @Test
  void an_open_that_fails_shows_the_line_that_opened_and_the_thread_that_failed() {
    Throwable told =
        assertThrows(
            StorageException.class,
            () ->
                Database.open(
                    temporary.resolve("none"), DatabaseOptions.defaults().withCreate(false)));
    assertIsOfTheCaller(told, "open");
    assertTrue(
        Stream.of(told.getCause().getStackTrace())
            .anyMatch(at -> at.getClassName().equals(OpenDatabase.class.getName())));
  }

  /** cleanNow threw LogStoppedException, compact CompletionException. */
  @Test
  void a_stopped_database_throws_exceptions_of_the_project_to_every_caller() {
    Database db =
        Database.open(
            faulty.wrap(temporary.resolve("db")),
            DatabaseOptions.defaults().withPoolBytes(4 << 20));
    Table table = db.getOrCreateTable("t");
    db.run(tx -> tx.put(table, KEY, KEY));
    faulty.hook(event -> {
      if (event.kind() == IoEvent.Kind.FORCE) {
        throw new IOException("Input/output error");
      }
    });
    assertThrows(RevenantException.class, () -> db.run(tx -> tx.put(table, KEY, KEY)));
    Map<String, Runnable> calls = new LinkedHashMap<>();
    calls.put("put", () -> db.run(tx -> tx.put(table, KEY, KEY)));
    calls.put("cleanNow", db::cleanNow);
    calls.put("compact", db::compact);
    calls.put("checkpoint", db::checkpoint);
    calls.put("sync", db::sync);
    calls.put("new table", () -> db.getOrCreateTable("other"));
    calls.put("new sequence", () -> db.getOrCreateSequence("s").next());
    calls.put("close", db::close);
    calls.forEach((what, call) -> {
      RuntimeException told = assertThrows(RuntimeException.class, call::run, what);
      assertIsOfTheCaller(told, what);
    });
    assertInstanceOf(
        DatabaseClosedException.class, assertThrows(RuntimeException.class, db::cleanNow));
  }
}

package org.revenantdb.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jline.reader.Candidate;
import org.jline.reader.Parser.ParseContext;
import org.jline.reader.impl.DefaultParser;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseOptions;

/** Verbs at a prompt. */
class ShellTest {
  @TempDir Path folder;

  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();
  private final Session session =
      new Session(new PrintWriter(out, true), new PrintWriter(err, true));
  private Shell shell;

  @BeforeEach
  void open() {
    Path directory = folder.resolve("db");
    try (Database db = Database.open(directory)) {
      db.createTable("orders");
      db.run(tx -> tx.put(db.table("orders"), bytes("k"), bytes("v")));
    }
    session.keep(Database.open(directory, DatabaseOptions.defaults()));
    shell = new Shell(session, directory);
  }

  @AfterEach
  void close() {
    session.close();
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  @Test
  void verbs_have_no_directory_and_the_database_stays_open_between_them() {
    Database open = session.kept();
    assertEquals(0, shell.execute(List.of("put", "orders", "two words", "v2")));
    assertEquals(0, shell.execute(List.of("scan", "orders")));
    assertEquals("k\tv\ntwo words\tv2\n", out.toString());
    assertEquals(open, session.kept());
    assertFalse(open.isClosed());
  }

  @Test
  void a_verb_that_fails_ends_nothing() {
    assertEquals(2, shell.execute(List.of("get", "nothing", "k")));
    assertEquals(2, shell.execute(List.of("nonsense")));
    assertTrue(err.toString().contains("there is no verb nonsense; 'help' lists them"));
    assertFalse(err.toString().contains("\tat "), err.toString());
    assertEquals(0, shell.execute(List.of("get", "orders", "k")));
    assertEquals("v\n", out.toString());
  }

  @Test
  void the_tab_key_completes_verbs_tables_and_options() {
    assertTrue(candidates("").containsAll(List.of("ls", "scan", "help", "exit")));
    assertEquals(List.of("orders"), candidates("scan "));
    assertEquals(List.of("orders"), candidates("scan or"));
    assertTrue(candidates("scan orders --").contains("--limit"));
    assertEquals(List.of(), candidates("nonsense "));
  }

  private List<String> candidates(String typed) {
    List<Candidate> found = new ArrayList<>();
    shell.complete(new DefaultParser().parse(typed, typed.length(), ParseContext.COMPLETE), found);
    return found.stream().map(Candidate::value).toList();
  }
}

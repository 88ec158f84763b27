package org.revenantdb.engine.lifecycle;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.revenantdb.engine.testing.Samples.bytes;

import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.Transaction;
import org.revenantdb.engine.TransactionOptions;
import org.revenantdb.engine.testing.OtherProcess;

/**
 * The list of classes that a second thread loads during the first open is the list of those that
 * the open needs.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ClassesAheadTest {
  /**
   * The threads of the engine load classes at times of their own: a slow open has the counters of
   * its first second. So one class in this many may be missing, and one superfluous.
   */
  private static final int OF_WHICH_ONE_MAY_DIFFER = 10;

  private static final String KILLED = "killed";
  private static final String WITH_LIST = "with list";
  private static final String WITHOUT_LIST = "without list";

  /** Fills a database and is gone without a close, or opens it and reads a row. */
  static final class Child {
    private Child() {}

    public static void main(String[] arguments) {
      Path directory = Path.of(arguments[0]);
      String role = arguments[1];
      if (role.equals(WITHOUT_LIST)) {
        ClassesAhead.forgo();
      }
      Database db = Database.open(directory);
      Table table = db.getOrCreateTable("t");
      if (role.equals(KILLED)) {
        for (int i = 0; i < 1_000; i++) {
          byte[] key = bytes("key " + i);
          db.run(TransactionOptions.lazy(), tx -> tx.put(table, key, new byte[200]));
        }
      } else {
        try (Transaction tx = db.begin()) {
          assertNotNull(tx.get(table, bytes("key 1")));
        }
      }
      Runtime.getRuntime().halt(0);
    }
  }

  private final List<String> named = new ArrayList<>();

  @TempDir Path folder;

  @BeforeAll
  void readList() throws Exception {
    try (InputStream list = ClassesAhead.class.getResourceAsStream("first-row-classes.txt")) {
      named.addAll(new String(list.readAllBytes(), US_ASCII).lines().toList());
    }
  }

  @Test
  void each_class_of_the_list_exists_and_is_there_once() throws Exception {
    assertEquals(named.size(), Set.copyOf(named).size());
    for (String name : named) {
      Class.forName(name, /* initialize= */ false, ClassesAhead.class.getClassLoader())
          .getDeclaredConstructors();
    }
  }

  @Test
  void the_list_has_the_classes_that_are_loaded_up_to_the_first_row() throws Exception {
    run(KILLED);
    Set<String> needed = run(WITHOUT_LIST);
    Path made = Path.of("target", "first-row-classes.txt");
    Files.write(made, needed);
    List<String> missing = new ArrayList<>(needed);
    missing.removeAll(named);
    List<String> superfluous = new ArrayList<>(named);
    superfluous.removeAll(needed);
    assertTrue(
        Math.max(missing.size(), superfluous.size()) <= named.size() / OF_WHICH_ONE_MAY_DIFFER,
        () ->
            "the list of ClassesAhead lacks "
                + missing
                + " and needs no "
                + superfluous
                + "; "
                + made.toAbsolutePath()
                + " is a new one");
  }

  @Test
  void an_open_with_a_second_thread_reads_the_row() throws Exception {
    run(KILLED);
    assertTrue(run(WITH_LIST).contains(Database.class.getName()));
  }

  /** Has a JVM play a role; the classes of ours that it has loaded, in order. */
  private Set<String> run(String role) throws Exception {
    Path log = folder.resolve(role.replace(' ', '-'));
    try (OtherProcess child =
        OtherProcess.start(
            Child.class,
            List.of("-Xlog:class+load:file=" + log + ":none"),
            ProcessBuilder.Redirect.INHERIT,
            folder.resolve("db").toString(),
            role)) {
      assertEquals(0, child.waitFor());
    }
    Set<String> loaded = new LinkedHashSet<>();
    try (Stream<String> lines = Files.lines(log)) {
      lines
          .map(line -> line.substring(0, Math.max(line.indexOf(' '), 0)))
          .filter(name -> name.startsWith("org.revenantdb.") || name.startsWith("org.jctools."))
          .filter(name -> !name.contains("/") && !name.startsWith(getClass().getName()))
          .filter(name -> !name.startsWith("org.revenantdb.engine.testing."))
          .filter(name -> !name.startsWith(ClassesAhead.class.getName()))
          .forEach(loaded::add);
    }
    return loaded;
  }
}

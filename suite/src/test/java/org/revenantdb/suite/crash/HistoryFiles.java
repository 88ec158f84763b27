package org.revenantdb.suite.crash;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.revenantdb.history.Access;
import org.revenantdb.history.CheckResult;
import org.revenantdb.history.EdnReader;
import org.revenantdb.history.History;
import org.revenantdb.history.HistoryChecker;
import org.revenantdb.history.IsolationLevel;

/** Checks the files of histories that a run of the suite has written for Elle. */
public final class HistoryFiles {

  private HistoryFiles() {}

  /**
   * Asserts that each level has a file of lists and one of registers, that each file has only
   * accesses of its kind, and that its history holds.
   *
   * @param edn the directory of the files
   * @return the files
   * @throws IOException if a file cannot be read
   */
  public static List<Path> assertForElle(Path edn) throws IOException {
    List<Path> files;
    try (Stream<Path> all = Files.list(edn)) {
      files = all.toList();
    }
    for (String level : List.of("serializable", "snapshot", "read-committed")) {
      assertTrue(files.toString().contains(level + "-1.list-append.edn"), files::toString);
      assertTrue(files.toString().contains(level + "-1.rw-register.edn"), files::toString);
    }
    for (Path file : files) {
      History history = EdnReader.read(Files.readString(file));
      boolean ofLists = file.toString().endsWith(".list-append.edn");
      assertTrue(history.size() > 10, file::toString);
      for (int t = 0; t < history.size(); t++) {
        for (Access access : history.transaction(t).accesses()) {
          boolean isOfLists = access instanceof Access.Append || access instanceof Access.ReadList;
          assertEquals(ofLists, isOfLists, file + ": " + access);
        }
      }
      CheckResult result = HistoryChecker.check(history, IsolationLevel.READ_COMMITTED);
      assertTrue(result.holds(), result::toString);
    }
    return files;
  }
}

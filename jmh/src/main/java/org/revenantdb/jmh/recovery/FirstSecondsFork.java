package org.revenantdb.jmh.recovery;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.revenantdb.chaos.crash.FileTrees;

/**
 * A JVM that has a database killed ({@link ManyPagesWriter}), and has fresh JVMs open it and one
 * that was closed cleanly ({@link FirstSecondsOpening}), by turns. The latter says what a fresh JVM
 * and an empty pool cost by themselves.
 *
 * <p>Arguments: directory, rows, pages, bytes of log, bytes of memory for pages, milliseconds of
 * the first window, milliseconds before the second one, milliseconds of that, number of the round,
 * seed.
 */
public final class FirstSecondsFork {
  /** A database that was closed cleanly. */
  static final String CLEAN = "clean";

  /** A database that was killed. */
  static final String KILLED = "killed";

  private FirstSecondsFork() {}

  /**
   * Prints what the JVMs print.
   *
   * @param arguments see the class
   * @throws Exception if a JVM did not end as it should
   */
  public static void main(String[] arguments) throws Exception {
    Path directory = Path.of(arguments[0]);
    int rows = Integer.parseInt(arguments[1]);
    int pages = Integer.parseInt(arguments[2]);
    String logBytes = arguments[3];
    String poolBytes = arguments[4];
    String seed = arguments[9];
    Path clean = directory.resolve(CLEAN);
    long loadedPages = CrashImage.load(clean, rows, Long.parseLong(poolBytes));
    String among = Integer.toString(CrashImage.rowsIn(pages, loadedPages, rows));
    Path killed = directory.resolve(KILLED);
    CrashImage.kill(clean, killed, among, logBytes, poolBytes, seed, "");
    List<String> kinds = new ArrayList<>(List.of(KILLED, CLEAN));
    Collections.rotate(kinds, 1 - Integer.parseInt(arguments[8]));
    for (String kind : kinds) {
      Path opened = directory.resolve(kind); // nobody needs it afterwards
      RestartFork.expect(
          0,
          FirstSecondsOpening.class,
          CrashImage.flags(),
          CrashImage.with(
              opened, among, poolBytes, arguments[5], arguments[6], arguments[7], seed, kind));
      FileTrees.delete(opened);
    }
  }
}

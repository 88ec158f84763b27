package org.revenantdb.jmh.recovery;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.revenantdb.chaos.crash.FileTrees;
import org.revenantdb.jmh.fork.Told;

/**
 * A JVM that has databases killed with the same log and different numbers of changed pages ({@link
 * ManyPagesWriter}), and has fresh JVMs open them ({@link FirstRowOpening}): with the files in the
 * cache of the system, as after any kill, and without them there, as after a power cut.
 *
 * <p>Arguments: directory, rows, numbers of pages with commas between them (0: the pages of all
 * rows), bytes of log, bytes of memory for pages, number of the round, seed.
 */
public final class FirstRowFork {
  private FirstRowFork() {}

  /**
   * Prints what the JVMs print. The last number of pages is opened without the files in the cache
   * as well: {@code = files_dropped} is 1 if that could be done, and 0 if not.
   *
   * @param arguments see the class
   * @throws Exception if a JVM did not end as it should
   */
  public static void main(String[] arguments) throws Exception {
    Path directory = Path.of(arguments[0]);
    String rows = arguments[1];
    List<String> sizes = new ArrayList<>(Arrays.asList(arguments[2].split(",")));
    String last = sizes.getLast();
    String logBytes = arguments[3];
    String poolBytes = arguments[4];
    Collections.rotate(sizes, 1 - Integer.parseInt(arguments[5]));
    String seed = arguments[6];
    Path loaded = directory.resolve("loaded");
    int all = Integer.parseInt(rows);
    long loadedPages = CrashImage.load(loaded, all, Long.parseLong(poolBytes));
    for (String pages : sizes) {
      int changed = Integer.parseInt(pages);
      Path killed = directory.resolve("killed");
      String among = Integer.toString(CrashImage.rowsIn(changed, loadedPages, all));
      CrashImage.kill(loaded, killed, among, logBytes, poolBytes, seed, suffix(changed));
      open(copy(killed), rows, pages, logBytes, poolBytes, FirstRowOpening.CACHED);
      if (pages.equals(last)) {
        openWithoutCache(copy(killed), rows, pages, logBytes, poolBytes);
      }
      FileTrees.delete(killed);
    }
  }

  /** The suffix of the names of the figures for this many changed pages. */
  static String suffix(int pages) {
    return pages == 0 ? "" : ",pages=" + pages;
  }

  private static Path copy(Path killed) throws IOException {
    Path copy = killed.resolveSibling("copy");
    CrashImage.copy(killed, copy);
    return copy;
  }

  private static void openWithoutCache(
      Path copy, String rows, String pages, String logBytes, String poolBytes)
      throws IOException, InterruptedException {
    boolean isDropped = FileCache.drop(CrashImage.files(copy));
    Told.tell("files_dropped", isDropped ? 1 : 0);
    if (isDropped) {
      open(copy, rows, pages, logBytes, poolBytes, FirstRowOpening.NOT_CACHED);
    } else {
      FileTrees.delete(copy);
    }
  }

  private static void open(Path copy, String... others) throws IOException, InterruptedException {
    RestartFork.expect(0, FirstRowOpening.class, CrashImage.flags(), CrashImage.with(copy, others));
    FileTrees.delete(copy);
  }
}

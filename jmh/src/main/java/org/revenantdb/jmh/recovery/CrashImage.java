package org.revenantdb.jmh.recovery;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.stream.Stream;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseOptions;

/**
 * The directory of a database with one table of {@link BigRows}, closed cleanly or killed, and
 * copies of it. Each JVM that is measured opens a copy of its own, since an open changes the files.
 */
final class CrashImage {
  static final String ROWS = "rows";

  private CrashImage() {}

  /** The options of the JVM that opens the database: all but the memory for pages are defaults. */
  static DatabaseOptions options(long poolBytes) {
    return DatabaseOptions.defaults().withPoolBytes(poolBytes);
  }

  /**
   * Creates the database, loads all rows in key order, and closes it cleanly.
   *
   * @return how many pages the rows take
   */
  static long load(Path directory, int rows, long poolBytes) {
    try (Database database = Database.open(directory, options(poolBytes))) {
      BigRows.load(database, database.getOrCreateTable(ROWS), rows, 0);
      database.cleanNow(); // the cleaner changes each page once more
      return database.check().treePages();
    }
  }

  /**
   * How many rows, from the first, lie in the first so many pages of a table just loaded.
   *
   * @param pages 0: all there are
   * @param loadedPages that all rows take
   */
  static int rowsIn(int pages, long loadedPages, int rows) {
    if (pages > loadedPages) {
      throw new IllegalArgumentException(rows + " rows take only " + loadedPages + " pages");
    }
    return pages == 0 ? rows : (int) ((long) rows * pages / loadedPages);
  }

  /**
   * Has another JVM change a copy of a loaded database, and be killed.
   *
   * @param killed where the copy is made
   * @param arguments of {@link ManyPagesWriter}, but the directory
   */
  static void kill(Path loaded, Path killed, String... arguments)
      throws IOException, InterruptedException {
    copy(loaded, killed);
    RestartFork.expect(RestartFork.KILLED, ManyPagesWriter.class, flags(), with(killed, arguments));
  }

  /** The flags of this JVM: those that it starts get the same. */
  static List<String> flags() {
    return ManagementFactory.getRuntimeMXBean().getInputArguments();
  }

  /** The arguments of a JVM that works in a directory. */
  static String[] with(Path directory, String... others) {
    return Stream.concat(Stream.of(directory.toString()), Stream.of(others)).toArray(String[]::new);
  }

  /**
   * Copies all files and forces them, so that no write of the copy disturbs what follows. The copy
   * is in the cache of the system.
   */
  static void copy(Path from, Path to) throws IOException {
    for (Path each : tree(from)) {
      Path target = to.resolve(from.relativize(each));
      if (Files.isDirectory(each)) {
        Files.createDirectories(target);
      } else {
        Files.copy(each, target);
        try (FileChannel channel = FileChannel.open(target, StandardOpenOption.WRITE)) {
          channel.force(/* metaData= */ true);
        }
      }
    }
  }

  /** The files, without directories. */
  static List<Path> files(Path directory) throws IOException {
    return tree(directory).stream().filter(Files::isRegularFile).toList();
  }

  private static List<Path> tree(Path directory) throws IOException {
    try (Stream<Path> all = Files.walk(directory)) {
      return all.toList();
    }
  }
}

package org.revenantdb.suite.demo;

import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.revenantdb.chaos.crash.ChildFailedException;
import org.revenantdb.chaos.crash.FileTrees;
import org.revenantdb.chaos.crash.ForkedJvm;
import org.revenantdb.chaos.crash.KillPoint;
import org.revenantdb.chaos.crash.Scratch;
import org.revenantdb.chaos.report.JsonReport;
import org.revenantdb.chaos.report.Progress;
import org.revenantdb.chaos.report.TextTable;
import org.revenantdb.engine.CheckReport;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.RecoveryReport;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.Transaction;

/**
 * Imports real data, kills the process in the middle of one big transaction, reopens the database,
 * and verifies every byte.
 *
 * <p>Threads: one. Each step is a method, in the order in which {@link #run} calls them.
 */
public final class Demo {

  private final DemoOptions options;
  private final PrintStream out;
  private final Path dir;
  private final JdkFiles files;
  private final TextTable table = new TextTable();
  private final JsonReport json = new JsonReport();
  private final List<String> broken = new ArrayList<>();
  private final long start = System.nanoTime();
  private int acknowledged;
  private long written;

  /**
   * Prepares the demo: lists the files and creates the directory.
   *
   * @param out receives the output
   * @throws IOException if the directory cannot be created, or is not empty
   */
  public Demo(DemoOptions options, PrintStream out) throws IOException {
    this.options = options;
    this.out = out;
    this.dir = newDirectory(options);
    this.files = new JdkFiles(options.modules(), options.scale());
  }

  private static Path newDirectory(DemoOptions options) throws IOException {
    if (options.dir() == null) {
      return Scratch.directory("revenant-demo-");
    }
    Path dir = Files.createDirectories(options.dir());
    try (var entries = Files.list(dir)) {
      if (entries.findAny().isPresent()) {
        throw new IOException(dir + " is not empty; choose an empty directory or a new one");
      }
    }
    return dir;
  }

  /**
   * Runs the demo.
   *
   * @return true if all checks passed
   */
  public boolean run() {
    try {
      table.row("seed", options.seed());
      json.number("seed", options.seed()).number("scale", options.scale());
      importAndKill();
      comeBack();
    } catch (RuntimeException e) {
      broken.add(e.toString());
      if (!(e instanceof ChildFailedException)) {
        e.printStackTrace();
      }
    }
    finish();
    return broken.isEmpty();
  }

  private void importAndKill() {
    int rows = files.big().size();
    SplittableRandom random = new SplittableRandom(options.seed());
    KillPoint killPoint =
        KillPoint.uniform(random, Math.max(1, rows * 5L / 100), Math.max(1, rows * 95L / 100));
    say(
        "%,d files of %d modules: %,d in transactions of %d, %,d in one big transaction"
            .formatted(
                files.small().size() + rows,
                files.modules(),
                files.small().size(),
                ImporterMain.FILES_A_TRANSACTION,
                rows));
    say(
        "seed %d kills at row %,d of the big transaction"
            .formatted(options.seed(), killPoint.event()));
    boolean committed = false;
    try (ForkedJvm child = importer()) {
      Progress progress = Progress.start("small transactions", "files", files.small().size());
      for (String line; (line = child.readLine()) != null; ) {
        long n = line.length() > 2 ? Long.parseLong(line, 2, line.length(), 10) : 0;
        switch (line.charAt(0)) {
          case 'S' -> {
            acknowledged = (int) n;
            progress.at(n);
          }
          case 'R' -> {
            if (written == 0) {
              progress.close();
              progress = Progress.start("one big transaction", "files", rows);
            }
            written = n;
            progress.at(n);
            if (killPoint.reached(n) && !child.killed()) {
              child.kill();
            }
          }
          default -> committed = true;
        }
      }
      progress.close();
      child.demandOrderlyEnd();
    }
    if (committed) {
      broken.add("the big transaction was committed before the kill");
    }
    if (acknowledged != files.small().size()) {
      broken.add("the child did not acknowledge all small transactions");
    }
    say("killed with %,d rows in flight".formatted(written));
    table
        .row("files in small transactions", "%,d, all acknowledged".formatted(acknowledged))
        .row(
            "killed at row",
            "%,d of %,d (%.1f %%)"
                .formatted(killPoint.event(), rows, 100.0 * killPoint.event() / rows))
        .row(
            "rows in flight when it died",
            "%,d, %s".formatted(written, megabytes(bytes(files.big().subList(0, (int) written)))));
    json.number("rows_acknowledged", acknowledged)
        .number("rows_big", rows)
        .number("kill_row", killPoint.event())
        .number("rows_in_flight", written)
        .number("bytes_in_flight", bytes(files.big().subList(0, (int) written)));
  }

  private ForkedJvm importer() {
    return ForkedJvm.of(ImporterMain.class)
        .heap("256m")
        .argument(dir.resolve("db"))
        .argument(options.poolBytes())
        .argument(options.modules())
        .argument(options.scale())
        .fork();
  }

  private void comeBack() {
    List<JdkFiles.Item> small = files.small();
    long before = System.nanoTime();
    try (Database db = open()) {
      Table rows = db.table(ImporterMain.TABLE);
      try (Transaction tx = db.begin()) {
        if (tx.get(rows, small.getFirst().key()) == null) {
          broken.add("the first file is missing");
        }
      }
      recovered(db.recoveryReport(), System.nanoTime() - before);
      verify("acknowledged files", new Contents(small).firstDifference(db, "verifying"));
      verify("no row of the big transaction", Contents.firstVisible(db, files.big()));
      again(db, rows);
      List<JdkFiles.Item> all = new ArrayList<>(small);
      all.addAll(files.big());
      Contents contents = new Contents(all);
      verify("all %,d files".formatted(contents.rows()), contents.firstDifference(db, "verifying"));
      clean(db);
    }
  }

  private Database open() {
    return Database.open(dir.resolve("db"), options.database());
  }

  private void recovered(RecoveryReport report, long untilFirstRead) {
    String time = milliseconds(untilFirstRead);
    say(
        "restarted in %s, including the first read: %s of log read, %,d pages left to redo"
            .formatted(time, megabytes(report.logBytesRead()), report.pagesPending()));
    table
        .row("until the first read", time)
        .row("log read", megabytes(report.logBytesRead()))
        .row("pages left to redo", "%,d".formatted(report.pagesPending()));
    json.number("recovery_ms_until_first_read", untilFirstRead / 1e6)
        .number("recovery_log_bytes", report.logBytesRead())
        .number("recovery_pages_pending", report.pagesPending());
  }

  private void again(Database db, Table rows) {
    long before = System.nanoTime();
    try (Progress progress =
        Progress.start("the big transaction again", "files", files.big().size())) {
      ImporterMain.importBig(db, rows, files.big(), progress::at);
    }
    long nanos = System.nanoTime() - before;
    table.row(
        "the big transaction again",
        "%,d files in %.1f s".formatted(files.big().size(), nanos / 1e9));
    json.number("big_again_ms", nanos / 1e6);
  }

  private void clean(Database db) {
    db.cleanNow();
    CheckReport check = db.check();
    verify("structure, no page leaked", String.join("; ", check.problems()));
    verify(
        "nothing left of the aborted transaction",
        check.pagesToClean() == 0 ? "" : check.pagesToClean() + " pages cannot be cleaned");
  }

  private void verify(String what, String wrong) {
    table.row(what, wrong.isEmpty() ? "ok" : "WRONG");
    if (!wrong.isEmpty()) {
      broken.add(what + ": " + wrong);
    }
  }

  private void finish() {
    long nanos = System.nanoTime() - start;
    table.row("total", "%.1f s".formatted(nanos / 1e9));
    out.println(table);
    broken.forEach(line -> out.println("WRONG  " + line));
    json.number("seconds", nanos / 1e9)
        .number("pool_bytes", options.poolBytes())
        .yesNo("passed", broken.isEmpty())
        .detail("broken", List.copyOf(broken))
        .surroundings();
    if (options.keep() || !broken.isEmpty()) {
      out.println("kept: " + dir.toAbsolutePath());
    } else if (options.dir() == null) {
      FileTrees.delete(dir);
    } else {
      FileTrees.delete(dir.resolve("db"));
    }
    out.println(broken.isEmpty() ? "All checks passed." : "Repeat with --seed " + options.seed());
  }

  /**
   * The figures.
   *
   * @return a report to be written to a file
   */
  public JsonReport json() {
    return json;
  }

  private void say(String line) {
    out.println(line);
  }

  private static long bytes(List<JdkFiles.Item> items) {
    long sum = 0;
    for (JdkFiles.Item item : items) {
      try {
        sum += Files.size(item.path());
      } catch (IOException e) {
        throw new UncheckedIOException("cannot read the size of " + item.path(), e);
      }
    }
    return sum;
  }

  private static String megabytes(long bytes) {
    return "%.1f MB".formatted(bytes / 1e6);
  }

  private static String milliseconds(long nanos) {
    return Duration.ofNanos(nanos).toMillis() + " ms";
  }
}

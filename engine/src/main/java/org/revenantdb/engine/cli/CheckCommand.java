package org.revenantdb.engine.cli;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.CheckedSequence;
import org.revenantdb.engine.CheckedTable;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.admin.AdminClient;
import org.revenantdb.engine.admin.AdminReply;
import org.revenantdb.engine.admin.DatabaseView;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code check DIR}: checks all of a database, and changes none of its files. */
@Command(
    name = "check",
    description = {
      "Verifies a whole database: every page, every row, every large value, the space maps.",
      "Also reads the free pages of the data file.",
      "If a process has the database open with an admin socket, that process checks it.",
      "Writes nothing, so it works on a read-only file system. After a crash it checks the state that the next open would recover."
    },
    mixinStandardHelpOptions = true,
    exitCodeListHeading = "Exit codes:%n",
    exitCodeList = {"0:sound", "1:there are problems", "2:wrong usage, or it cannot be opened"})
final class CheckCommand implements Callable<Integer> {
  private final PrintWriter out;

  @Spec private CommandSpec spec = CommandSpec.create();

  @Parameters(index = "0", paramLabel = "DIR", description = "the directory of the database")
  private Path directory = Path.of("");

  @Option(
      names = "--recover",
      description =
          "opens the database for writing, which recovers it after a crash, and closes it")
  private boolean recover;

  @Option(
      names = "--json",
      paramLabel = "FILE",
      description = "also writes the result to a file, as JSON")
  private @Nullable Path json;

  CheckCommand(PrintWriter out) {
    this.out = out;
  }

  @Override
  public Integer call() throws IOException {
    if (json != null) {
      JsonFile.demandWritable(spec, json); // a check may take long
    }
    return check();
  }

  /** Checks a backup, which nothing may change. */
  static int ofBackup(PrintWriter out, Path directory, @Nullable Path json) throws IOException {
    CheckCommand check = new CheckCommand(out);
    check.directory = directory;
    check.json = json;
    return check.check();
  }

  private int check() throws IOException {
    DatabaseDirectory.demandDatabase(directory);
    AdminReply.Checked report;
    boolean isBeside;
    DatabaseOptions options = CommandOptions.existing().withReadOnly(!recover);
    try (DatabaseView view = DatabaseView.open(directory, options)) {
      report = view.check();
      isBeside = view instanceof AdminClient;
    }
    print(isBeside ? "by another process, which has checked it" : opened(report), report);
    if (json != null) {
      JsonFile.write(json, fields(report));
    }
    return report.problems().isEmpty() ? Main.SOUND : Main.PROBLEMS;
  }

  private String opened(AdminReply.Checked report) {
    return report.clean()
        ? "it had been closed cleanly"
        : (recover ? "recovered in" : "in memory, not recovered, in")
            + " %,.1f ms: %,d bytes of log, %,d pages to redo, %,d transactions rolled back"
                .formatted(
                    report.openNanos() / 1e6,
                    report.logBytesRead(),
                    report.pagesPending(),
                    report.transactionsAborted());
  }

  private void print(String opened, AdminReply.Checked report) {
    out.println("database        " + directory);
    out.println("opened          " + opened);
    out.printf("tables          %,d%n", report.tables());
    out.printf("sequences       %,d%n", report.sequences().size());
    out.printf("rows            %,d (the catalogue's included)%n", report.rows());
    if (report.prepared() > 0) {
      out.printf(
          "prepared        %,d waiting for an outcome, with their rows locked%n",
          report.prepared());
    }
    out.printf("tree pages      %,d%n", report.treePages());
    out.printf("overflow pages  %,d%n", report.overflowPages());
    out.printf("pages to clean  %,d%n", report.pagesToClean());
    out.printf("free pages      %,d%n", report.freePages());
    for (CheckedTable table : report.contents()) {
      out.printf(
          "table           %s: %,d rows (%,d including what the cleaner has to remove), %d levels, %,d tree pages, %,d overflow pages, %,d bytes of former versions%n",
          table.name(),
          table.visibleRows(),
          table.rows(),
          table.levels(),
          table.treePages(),
          table.overflowPages(),
          table.versionBytes());
    }
    for (CheckedSequence sequence : report.sequences()) {
      out.printf(
          "sequence        %s: %,d of %,d values reserved%n",
          sequence.name(), sequence.reserved(), sequence.values());
    }
    report.warnings().forEach(warning -> out.println("warning         " + warning));
    if (report.problems().isEmpty()) {
      out.println("sound");
      return;
    }
    int problems = report.problems().size();
    out.println(problems == 1 ? "1 problem" : problems + " problems");
    report.problems().forEach(problem -> out.println("  " + problem));
    out.println("what to do      " + report.advice());
  }

  private Map<String, Object> fields(AdminReply.Checked report) {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("directory", directory.toString());
    fields.put("sound", report.problems().isEmpty());
    fields.put("closedCleanly", report.clean());
    fields.put("openNanos", report.openNanos());
    fields.put("logBytesRead", report.logBytesRead());
    fields.put("transactionsRolledBack", report.transactionsAborted());
    fields.put("tables", report.tables());
    fields.put("sequences", report.sequences().size());
    fields.put("rows", report.rows());
    fields.put("treePages", report.treePages());
    fields.put("overflowPages", report.overflowPages());
    fields.put("pagesToClean", report.pagesToClean());
    fields.put("freePages", report.freePages());
    fields.put("warnings", report.warnings());
    fields.put("problems", report.problems());
    return fields;
  }
}

package org.revenantdb.cli;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;
import org.revenantdb.engine.CheckedTable;
import org.revenantdb.engine.admin.AdminReply;
import org.revenantdb.engine.admin.DatabaseView;
import picocli.CommandLine.Command;

/** {@code du DIR}: what the bytes of a database are used for. */
@Command(
    name = "du",
    description = {
      "Shows the sizes of the files, and how many bytes of the data file each table has.",
      "Every page of the database is read."
    },
    mixinStandardHelpOptions = true)
final class DuCommand extends Verb {
  DuCommand(Session session) {
    super(session);
  }

  @Override
  public Integer call() throws Exception {
    return session.read(directory, this::measure);
  }

  private int measure(DatabaseView view) throws IOException {
    Map<String, Long> files = files(view.directory());
    AdminReply.Checked report = view.check();
    if (json) {
      Map<String, Object> tables = new LinkedHashMap<>();
      report.contents().forEach(table -> tables.put(table.name(), LsCommand.bytes(table)));
      Map<String, Object> fields = new LinkedHashMap<>();
      fields.put("files", files);
      fields.put("tables", tables);
      fields.put("free", report.freePages() * LsCommand.PAGE_BYTES);
      json(fields);
      return FINE;
    }
    files.forEach((name, bytes) -> line("%,18d  %s".formatted(bytes, name)));
    line("");
    line("of the data file:");
    for (CheckedTable table : report.contents()) {
      line("%,18d  %s".formatted(LsCommand.bytes(table), "table " + Escapes.shown(table.name())));
    }
    line("%,18d  free".formatted(report.freePages() * LsCommand.PAGE_BYTES));
    return FINE;
  }

  /** Files of the directory by their names; those of a directory in it count together. */
  private static Map<String, Long> files(Path directory) throws IOException {
    Map<String, Long> bytes = new TreeMap<>();
    Files.walkFileTree(
        directory,
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult visitFile(Path file, BasicFileAttributes found) {
            if (found.isRegularFile()) {
              Path relative = directory.relativize(file);
              String name =
                  relative.getNameCount() == 1 ? relative.toString() : relative.getName(0) + "/";
              bytes.merge(name, found.size(), Long::sum);
            }
            return FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult visitFileFailed(Path file, IOException why) throws IOException {
            if (why instanceof NoSuchFileException) { // a segment of the log was given back
              return FileVisitResult.CONTINUE;
            }
            throw why;
          }
        });
    return bytes;
  }
}

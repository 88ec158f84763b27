package org.revenantdb.cli;

import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.OutputStreamWriter;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.Cursor;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.Sequence;
import org.revenantdb.engine.Table;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code dump DIR}: everything that a database holds, for {@code load} and for other tools. */
@Command(
    name = "dump",
    description = {
      "Writes tables with their rows and options, and all sequences, to a file or to the output.",
      "The rows of all tables are those of one moment. 'load' reads both forms; the text form is",
      "also that of mdb_load."
    },
    mixinStandardHelpOptions = true)
final class DumpCommand extends Verb {
  /** Forms of a dump. */
  enum Form {
    TEXT,
    BINARY
  }

  @Parameters(
      index = "1..*",
      arity = "0..*",
      paramLabel = "TABLE",
      description = "only these tables, and no sequence; default all")
  private List<String> tables = new ArrayList<>();

  @Option(
      names = {"-f", "--form"},
      paramLabel = "FORM",
      description = "text or binary; default text")
  private Form form = Form.TEXT;

  @Option(
      names = {"-o", "--output"},
      paramLabel = "FILE",
      description = "the file; it gets its name when it is complete; default: standard output")
  private @Nullable Path output;

  DumpCommand(Session session) {
    super(session);
  }

  @Override
  public Integer call() throws Exception {
    return session.read(directory, this::dump);
  }

  private int dump(Database db) throws Exception {
    Path file = output;
    if (file == null) {
      dumpTo(
          db,
          form == Form.TEXT
              ? new TextDump.Output(session.out())
              : new BinaryDump.Output(System.out));
      if (form == Form.TEXT ? session.out().checkError() : System.out.checkError()) {
        throw new DumpException("the output could not be written: the dump is incomplete");
      }
      return FINE;
    }
    Path partial = file.resolveSibling(file.getFileName() + ".partial");
    try {
      long rows;
      try (OutputStream out = new BufferedOutputStream(Files.newOutputStream(partial), 1 << 16)) {
        rows =
            dumpTo(
                db,
                form == Form.TEXT
                    ? new TextDump.Output(new OutputStreamWriter(out, StandardCharsets.UTF_8))
                    : new BinaryDump.Output(out));
      }
      force(partial);
      Files.move(
          partial, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
      session.err().printf("%,d rows in %s%n", rows, file);
    } finally {
      Files.deleteIfExists(partial);
    }
    return FINE;
  }

  /** A power cut behind the rename must not leave a name without content. */
  private static void force(Path partial) throws IOException {
    try (FileChannel file = FileChannel.open(partial, StandardOpenOption.WRITE)) {
      file.force(true);
    }
  }

  private long dumpTo(Database db, DumpOutput out) throws Exception {
    return db.<Long, Exception>readThrowing(tx -> {
      List<Table> chosen = new ArrayList<>();
      for (String name : tables.isEmpty() ? db.tableNames() : tables) {
        chosen.add(db.table(name));
      }
      out.begin(chosen.size());
      if (tables.isEmpty()) {
        sequences(db, out);
      }
      long rows = 0;
      for (Table table : chosen) {
        out.table(table);
        try (Cursor cursor = tx.scan(table, null, null)) {
          while (cursor.next()) {
            out.row(cursor);
            rows++;
          }
        }
      }
      out.end();
      return rows;
    });
  }

  private static void sequences(Database db, DumpOutput out) throws IOException {
    for (String name : db.sequenceNames()) {
      Sequence sequence = db.findSequence(name);
      if (sequence != null) { // it was dropped meanwhile
        out.sequence(sequence);
      }
    }
  }
}

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
import org.revenantdb.engine.admin.AdminReply;
import org.revenantdb.engine.admin.AdminRequest;
import org.revenantdb.engine.admin.DatabaseView;
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

  private int dump(DatabaseView view) throws Exception {
    Path file = output;
    if (file == null) {
      dumpTo(
          view,
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
                view,
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

  private long dumpTo(DatabaseView view, DumpOutput out) throws IOException {
    List<AdminReply.TableEntry> chosen = chosen(view);
    out.begin(chosen.size());
    if (tables.isEmpty()) {
      for (AdminReply.SequenceEntry sequence : view.sequences()) {
        out.sequence(sequence);
      }
    }
    long[] rows = new long[1];
    for (AdminReply.TableEntry table : chosen) {
      out.table(table);
      view.scan(
          AdminRequest.Scan.all(table.name()),
          (key, valueBytes, value) -> {
            out.row(key, valueBytes, value);
            rows[0]++;
          });
    }
    out.end();
    return rows[0];
  }

  private List<AdminReply.TableEntry> chosen(DatabaseView view) throws IOException {
    List<AdminReply.TableEntry> all = view.tables();
    if (tables.isEmpty()) {
      return all;
    }
    List<AdminReply.TableEntry> chosen = new ArrayList<>();
    for (String name : tables) {
      view.count(name, new byte[0], new byte[0]); // a wrong name is an error before the output
      chosen.add(
          all.stream()
              .filter(table -> table.name().equals(name))
              .findFirst()
              .orElseThrow(
                  () -> new DumpException("table " + name + " was created after the dump began")));
    }
    return chosen;
  }
}

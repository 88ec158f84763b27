package org.revenantdb.cli;

import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.CheckedTable;
import org.revenantdb.engine.admin.AdminReply;
import org.revenantdb.engine.admin.DatabaseView;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code ls DIR}: the tables. */
@Command(
    name = "ls",
    description = "Lists the tables of a database.",
    mixinStandardHelpOptions = true)
final class LsCommand extends Verb {
  static final long PAGE_BYTES = 8_192;

  @Option(
      names = {"-l", "--long"},
      description = "adds rows and bytes; reads every page of the database")
  private boolean isLong;

  LsCommand(Session session) {
    super(session);
  }

  @Override
  public Integer call() throws Exception {
    return session.read(directory, this::list);
  }

  private int list(DatabaseView view) throws IOException {
    Map<String, CheckedTable> measured =
        isLong
            ? view.check().contents().stream()
                .collect(Collectors.toMap(CheckedTable::name, Function.identity()))
            : Map.of();
    List<AdminReply.TableEntry> tables = view.tables();
    for (AdminReply.TableEntry table : tables) {
      show(table, measured.get(table.name()));
    }
    if (tables.isEmpty() && !json) {
      session.err().println("the database has no table");
    }
    return FINE;
  }

  private void show(AdminReply.TableEntry table, @Nullable CheckedTable measured) {
    int partitions = table.partitions();
    String kind = partitions == 1 ? "ordered" : "hashed in " + partitions;
    if (json) {
      Map<String, Object> fields = new LinkedHashMap<>();
      fields.put("table", table.name());
      fields.put("partitions", partitions);
      if (measured != null) {
        fields.put("rows", measured.visibleRows());
        fields.put("bytes", bytes(measured));
      }
      json(fields);
    } else if (measured == null) {
      line("%-32s %s".formatted(Escapes.shown(table.name()), kind));
    } else {
      line(
          "%-32s %,15d rows %,18d bytes  %s"
              .formatted(
                  Escapes.shown(table.name()), measured.visibleRows(), bytes(measured), kind));
    }
  }

  /** Bytes of the pages that a table has in the data file. */
  static long bytes(CheckedTable table) {
    return (table.treePages() + table.overflowPages()) * PAGE_BYTES;
  }
}

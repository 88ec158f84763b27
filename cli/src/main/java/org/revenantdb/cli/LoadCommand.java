package org.revenantdb.cli;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.BulkLoad;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.Durability;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.TableOptions;
import org.revenantdb.engine.TransactionOptions;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code load DIR FILE}: what {@code dump} or another tool has written. */
@Command(
    name = "load",
    description = {
      "Reads a dump into a database, which is created if there is none: tables, rows, sequences.",
      "Each table is loaded whole or not at all. After an error the tables that were loaded before are kept."
    },
    mixinStandardHelpOptions = true)
final class LoadCommand extends Verb {
  @Parameters(
      index = "1",
      paramLabel = "FILE",
      description = "a dump in text or binary form; - for the input")
  private String file = "";

  @Option(
      names = "--into-existing",
      description = "also loads into tables that have rows; a row of the dump replaces one there")
  private boolean isIntoExisting;

  @Option(
      names = "--table",
      paramLabel = "NAME",
      description = "the table for the rows of a dump without a table name, like one of mdb_dump")
  private @Nullable String table;

  LoadCommand(Session session) {
    super(session);
  }

  @Override
  public Integer call() throws Exception {
    try (InputStream in = file.equals("-") ? System.in : Files.newInputStream(Path.of(file))) {
      DumpInput dump = input(in, table, file); // before a database is created
      return session.create(directory, db -> load(db, dump));
    }
  }

  private int load(Database db, DumpInput dump) throws IOException {
    Load load = new Load(db);
    try {
      for (DumpItem item = dump.next(); item != null; item = dump.next()) {
        load.take(item);
      }
      load.finishTable();
    } finally {
      load.closeTable();
    }
    session.err().printf("tables loaded: %,d, rows: %,d%n", load.tables, load.rows);
    return FINE;
  }

  /**
   * A reader of a dump in either form.
   *
   * @param nameOfUnnamed the table for rows of a dump that names none; null to refuse them
   * @param name of the file, for messages
   */
  static DumpInput input(InputStream stream, @Nullable String nameOfUnnamed, String name)
      throws IOException {
    InputStream in = new BufferedInputStream(stream, 1 << 16);
    in.mark(BinaryDump.MAGIC.length);
    byte[] first = in.readNBytes(BinaryDump.MAGIC.length);
    in.reset();
    if (Arrays.equals(first, BinaryDump.MAGIC)) {
      return new BinaryDump.Input(in);
    }
    if (new String(first, StandardCharsets.ISO_8859_1).equals(TextDump.FIRST_LINE)) {
      return new TextDump.Input(in, nameOfUnnamed);
    }
    throw new DumpException(
        name + " is no dump: it begins neither with RVDDUMP1 nor with VERSION=");
  }

  /** The tables that are being loaded, one after the other. */
  private final class Load {
    private final Database db;
    private @Nullable BulkLoad open;
    private @Nullable String created;
    private long rows;
    private long tables;

    Load(Database db) {
      this.db = db;
    }

    void take(DumpItem item) throws IOException {
      switch (item) {
        case DumpItem.OfSequence it -> {
          try {
            db.getOrCreateSequence(it.name(), it.options()).advanceTo(it.position());
          } catch (IllegalArgumentException beyond) {
            throw new DumpException(
                "sequence " + Escapes.shown(it.name()) + ": " + beyond.getMessage());
          }
        }
        case DumpItem.OfTable it -> {
          finishTable();
          open = begin(it);
        }
        case DumpItem.OfRow it -> {
          BulkLoad load = open;
          if (load == null) {
            throw new DumpException("the dump has a row before its first table: it is damaged");
          }
          load.add(it.key(), it.value());
          rows++;
        }
      }
    }

    private BulkLoad begin(DumpItem.OfTable it) {
      TableOptions options =
          it.partitions() == 1
              ? TableOptions.defaults()
              : TableOptions.hashPartitioned(it.partitions());
      created = db.findTable(it.name()) == null ? it.name() : null;
      Table to = db.getOrCreateTable(it.name(), options);
      if (!isIntoExisting && db.read(tx -> tx.count(to, null, null)) > 0) {
        throw new DumpException(
            "table "
                + Escapes.shown(it.name())
                + " has rows already; load into another database, or add --into-existing");
      }
      return db.bulkLoad(to, TransactionOptions.of(Durability.DURABLE));
    }

    void finishTable() {
      BulkLoad load = open;
      if (load != null) {
        load.finish();
        open = null;
        tables++;
      }
    }

    /** Gives a table up that was not finished. */
    void closeTable() {
      BulkLoad load = open;
      String table = created;
      if (load != null) {
        load.close();
        if (table != null) {
          db.dropTable(table);
        }
      }
    }
  }
}

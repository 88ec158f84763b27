package org.revenantdb.engine.admin;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.BackupOptions;
import org.revenantdb.engine.CheckReport;
import org.revenantdb.engine.Cursor;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.RecoveryReport;
import org.revenantdb.engine.Sequence;
import org.revenantdb.engine.SequenceOptions;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.Transaction;
import org.revenantdb.engine.TransactionOptions;

/** The view of a database that this process has open. */
public final class OpenView implements DatabaseView {
  private static final TransactionOptions READING =
      TransactionOptions.lazy().withReadOnly(true); // shows lazy commits, and waits for no force

  private final Database db;
  private final boolean owned;

  /** The moment of the view; begun with its first request. */
  private @Nullable Transaction moment;

  /**
   * The tables as they were soon after the moment: an older snapshot still reads what was dropped
   * or truncated since, through these objects.
   */
  private final Map<String, Table> tables = new TreeMap<>();

  /**
   * Creates a view, whose close leaves the database open.
   *
   * @param db an open database
   */
  public OpenView(Database db) {
    this(db, /* owned= */ false);
  }

  /** Creates a view, whose close closes the database if it is owned. */
  OpenView(Database db, boolean owned) {
    this.db = db;
    this.owned = owned;
  }

  private Transaction moment() {
    Transaction begun = moment;
    if (begun == null) {
      begun = db.begin(READING);
      moment = begun;
      for (String name : db.tableNames()) {
        Table table = db.findTable(name);
        if (table != null) { // it was dropped meanwhile
          tables.put(name, table);
        }
      }
    }
    return begun;
  }

  private Table table(String name) {
    moment();
    Table table = tables.get(name);
    return table == null ? db.table(name) : table;
  }

  @Override
  public Path directory() {
    return db.directory();
  }

  @Override
  public List<AdminReply.TableEntry> tables() {
    moment();
    return tables.values().stream()
        .map(table -> new AdminReply.TableEntry(table.name(), table.options().partitions()))
        .toList();
  }

  @Override
  public List<AdminReply.SequenceEntry> sequences() {
    moment(); // values that its rows have used are used in what follows
    List<AdminReply.SequenceEntry> sequences = new ArrayList<>();
    for (String name : db.sequenceNames()) {
      Sequence sequence = db.findSequence(name);
      if (sequence != null) { // it was dropped meanwhile
        SequenceOptions options = sequence.options();
        sequences.add(
            new AdminReply.SequenceEntry(
                name,
                sequence.position(),
                options.start(),
                options.increment(),
                options.cacheSize(),
                options.order().name()));
      }
    }
    return sequences;
  }

  @Override
  public long count(String table, byte @Nullable [] from, byte @Nullable [] end) {
    return moment().count(table(table), from, end);
  }

  @Override
  public boolean get(String table, byte[] key, OutputStream to) throws IOException {
    try (InputStream value = moment().open(table(table), key)) {
      if (value == null) {
        return false;
      }
      value.transferTo(to);
      return true;
    }
  }

  @Override
  public void scan(AdminRequest.Scan scan, RowSink sink) throws IOException {
    try (Cursor cursor = cursor(scan)) {
      for (long rows = 0; rows < scan.limit() && cursor.next(); rows++) {
        if (scan.keysOnly()) {
          sink.row(cursor.key(), -1, InputStream.nullInputStream());
        } else {
          try (InputStream value = cursor.openValue()) {
            sink.row(cursor.key(), cursor.valueLength(), value);
          }
        }
      }
    }
  }

  private Cursor cursor(AdminRequest.Scan scan) {
    Table table = table(scan.table());
    return scan.descending()
        ? moment().scanDescending(table, scan.from(), scan.end())
        : moment().scan(table, scan.from(), scan.end());
  }

  @Override
  public AdminReply.Checked check() {
    RecoveryReport recovery = db.recoveryReport();
    int prepared = db.preparedTransactions().size();
    CheckReport report = db.check();
    return new AdminReply.Checked(
        recovery.clean(),
        recovery.nanos(),
        recovery.logBytesRead(),
        recovery.pagesPending(),
        recovery.transactionsAborted(),
        prepared,
        report.problems(),
        report.warnings(),
        report.advice(),
        report.tables(),
        report.rows(),
        report.treePages(),
        report.overflowPages(),
        report.pagesToClean(),
        report.freePages(),
        report.contents(),
        report.sequences());
  }

  @Override
  public AdminReply.BackedUp backup(Path target, BackupOptions options) {
    return AdminReply.BackedUp.of(db.backup(target, options));
  }

  @Override
  public AdminReply.BackedUp backup(OutputStream target, BackupOptions options) {
    return AdminReply.BackedUp.of(db.backup(target, options));
  }

  @Override
  public void close() {
    try {
      Transaction begun = moment;
      if (begun != null) {
        moment = null;
        begun.close();
      }
    } finally {
      if (owned) {
        db.close();
      }
    }
  }
}

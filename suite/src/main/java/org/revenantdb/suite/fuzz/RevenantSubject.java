package org.revenantdb.suite.fuzz;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.ObjLongConsumer;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.Cursor;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.RevenantException;
import org.revenantdb.engine.Sequence;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.Transaction;

/** RevenantDB as the subject of a trial. */
record RevenantSubject(Database db) implements Subject {

  private static final int LARGE = 1 << 20;

  /** Opens RevenantDB. */
  static final class Opener implements Subject.Opener {
    @Override
    public Subject open(Path directory, boolean readOnly) {
      return new RevenantSubject(
          Database.open(directory, Place.options().withReadOnly(readOnly).withCreate(false)));
    }

    @Override
    public boolean isRefusal(Throwable thrown) {
      return thrown instanceof RevenantException;
    }

    @Override
    public String threads() {
      return "revenant";
    }
  }

  @Override
  public List<String> tables() {
    return db.tableNames();
  }

  @Override
  public List<String> prepared() {
    return db.preparedTransactions().stream()
        .map(name -> new String(name, StandardCharsets.ISO_8859_1))
        .toList();
  }

  private Table table(String name) {
    Table table = db.findTable(name);
    if (table == null) {
      throw new NotFoundException("table " + name);
    }
    return table;
  }

  @Override
  public void scan(String name, ObjLongConsumer<String> row) throws IOException {
    Table table = table(name);
    try (Transaction tx = db.begin();
        Cursor cursor = tx.scan(table, null, null)) {
      while (cursor.next()) {
        String key = new String(cursor.key(), StandardCharsets.ISO_8859_1);
        row.accept(
            key,
            cursor.valueLength() > LARGE ? mark(cursor.openValue()) : State.mark(cursor.value()));
      }
    }
  }

  @Override
  public @Nullable Long get(String name, String key) throws IOException {
    Table table = table(name);
    try (Transaction tx = db.begin()) {
      InputStream value = tx.open(table, Grower.bytes(key));
      return value == null ? null : mark(value);
    }
  }

  private static long mark(InputStream value) throws IOException {
    CRC32C crc = new CRC32C();
    byte[] buffer = new byte[1 << 15];
    int length = 0;
    try (value) {
      for (int n; (n = value.read(buffer)) >= 0; ) {
        crc.update(buffer, 0, n);
        length += n;
      }
    }
    return crc.getValue() << 32 | length;
  }

  @Override
  public void put(String name, String key, byte[] value) {
    Table table = table(name);
    try (Transaction tx = db.begin()) {
      tx.put(table, Grower.bytes(key), value);
      tx.commit();
    }
  }

  @Override
  public void delete(String name, String key) {
    Table table = table(name);
    try (Transaction tx = db.begin()) {
      tx.delete(table, Grower.bytes(key));
      tx.commit();
    }
  }

  @Override
  public void decide(String prepared, boolean commit) {
    if (commit) {
      db.commitPrepared(Grower.bytes(prepared));
    } else {
      db.rollbackPrepared(Grower.bytes(prepared));
    }
  }

  @Override
  public Map<String, Long> sequences() {
    Map<String, Long> values = new TreeMap<>();
    for (String name : db.sequenceNames()) {
      Sequence sequence = db.findSequence(name);
      if (sequence == null) {
        throw new NotFoundException("sequence " + name);
      }
      values.put(name, sequence.next());
    }
    return values;
  }

  @Override
  public void check() {
    db.check();
  }

  @Override
  public void maintain(int which) {
    switch (which) {
      case 0 -> db.cleanNow();
      case 1 -> db.compact();
      default -> db.checkpoint();
    }
  }

  @Override
  public void close() {
    db.close();
  }
}

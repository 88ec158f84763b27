package org.revenantdb.collections.index;

import java.util.HashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.revenantdb.collections.ByteReader;
import org.revenantdb.collections.ByteWriter;
import org.revenantdb.collections.Keys;
import org.revenantdb.collections.Tuple2;
import org.revenantdb.engine.Cursor;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.Transaction;

/**
 * What a database has stored of its indexes: a row for each, in a table of its own. Its key is the
 * name of the table and that of the index.
 *
 * <pre>
 * value    version of the definition (1 to 10 bytes), kind (1 byte: 1 unique, 2 covering), state (1 byte)
 *          state 0  complete
 *          state 1  being built: the key of the last row that was looked at follows, if there is one
 * </pre>
 */
public final class IndexCatalog {
  /** The name of the table. */
  public static final String TABLE = "revenant.indexes";

  private static final Tuple2.Codec<String, String> KEYS =
      Keys.tuple(Keys.strings(), Keys.strings());

  private static final int UNIQUE = 1;
  private static final int COVERING = 2;

  private IndexCatalog() {}

  /**
   * What is stored of an index.
   *
   * @param version of its definition
   * @param isUnique whether two rows may have the same entry
   * @param isCovering whether entries have part of the row
   * @param isComplete whether it was built to the end
   * @param last key of the last row that the build has looked at; null before the first one
   */
  public record Stored(
      long version,
      boolean isUnique,
      boolean isCovering,
      boolean isComplete,
      byte @Nullable [] last) {
    private byte[] toBytes() {
      ByteWriter out = new ByteWriter();
      out.writeVarLong(version);
      out.writeByte((isUnique ? UNIQUE : 0) | (isCovering ? COVERING : 0));
      out.writeByte(isComplete ? 0 : 1);
      if (last != null) {
        out.writeBytes(last);
      }
      return out.toByteArray();
    }

    private static Stored of(byte[] bytes) {
      ByteReader in = new ByteReader(bytes);
      long version = in.readVarLong();
      int kind = in.readByte();
      boolean isComplete = in.readByte() == 0;
      return new Stored(
          version,
          (kind & UNIQUE) != 0,
          (kind & COVERING) != 0,
          isComplete,
          in.remaining() == 0 ? null : in.readBytes(in.remaining()));
    }
  }

  /** The name of the table with the entries of an index. */
  public static String entriesOf(String table, String index) {
    return TABLE + "/" + table + "/" + index;
  }

  /** What is stored of an index, as a transaction sees it; null if there is none. */
  public static @Nullable Stored find(
      Transaction transaction, Table catalog, String table, String index) {
    byte[] bytes = transaction.get(catalog, KEYS.toBytes(Tuple2.of(table, index)));
    return bytes == null ? null : Stored.of(bytes);
  }

  static void store(
      Transaction transaction, Table catalog, String table, String index, Stored stored) {
    transaction.put(catalog, KEYS.toBytes(Tuple2.of(table, index)), stored.toBytes());
  }

  static void remove(Transaction transaction, Table catalog, String table, String index) {
    boolean _ = transaction.delete(catalog, KEYS.toBytes(Tuple2.of(table, index)));
  }

  /** The names of the indexes of a table. */
  static Set<String> names(Database database, String table) {
    Table catalog = database.findTable(TABLE);
    if (catalog == null) {
      return new HashSet<>();
    }
    byte[] from = KEYS.toBytes(Tuple2.of(table, ""));
    return database.read(tx -> {
      Set<String> names = new HashSet<>();
      try (Cursor rows = tx.scan(catalog, from, null)) {
        while (rows.next()) {
          Tuple2<String, String> key = KEYS.fromBytes(rows.key());
          if (!key.first().equals(table)) {
            break;
          }
          names.add(key.second());
        }
      }
      return names;
    });
  }
}

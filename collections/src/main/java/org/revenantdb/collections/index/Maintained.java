package org.revenantdb.collections.index;

import java.util.Arrays;
import java.util.TreeSet;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.revenantdb.collections.ByteReader;
import org.revenantdb.collections.DuplicateKeyException;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.Transaction;

/**
 * An index that follows the rows of its table.
 *
 * @param tableName the table whose rows it has
 * @param name its name
 * @param entries the table with its entries
 * @param shape what it has of a row
 * @param rowKey reads the key of a row, for messages
 * @param <V> type of the rows
 */
public record Maintained<V>(
    String tableName,
    String name,
    Table entries,
    IndexShape<?, V> shape,
    Function<byte[], Object> rowKey) {
  private static final byte[] NOTHING = {};

  /** What the index has to have of a row; none for no row. */
  public TreeSet<byte[]> of(@Nullable V row) {
    return row == null ? new TreeSet<>(Arrays::compareUnsigned) : shape.of(row);
  }

  /**
   * A change of a row, as far as it concerns this index: computed before anything is written.
   *
   * @param index which
   * @param removed what the row had
   * @param added the entries to add
   */
  public record Change(Maintained<?> index, TreeSet<byte[]> removed, TreeSet<byte[]> added) {
    /** Looks for a row that has one of the new entries, if each may be there once. */
    public void demandUnique(Transaction transaction, byte[] key) {
      if (index.shape.isUnique()) {
        for (byte[] each : added) {
          index.demandUnique(transaction, key, each);
        }
      }
    }

    /** Writes the entries. */
    public void write(Transaction transaction, byte[] key) {
      for (byte[] each : removed) {
        boolean _ = transaction.delete(index.entries, index.entryKey(each, key));
      }
      for (byte[] each : added) {
        transaction.put(
            index.entries, index.entryKey(each, key), index.shape.isUnique() ? key : NOTHING);
      }
    }
  }

  /** What a change of a row, from nothing or to nothing, changes here. */
  public Change change(@Nullable V before, @Nullable V after) {
    TreeSet<byte[]> removed = of(before);
    TreeSet<byte[]> added = of(after);
    TreeSet<byte[]> both = new TreeSet<>(removed);
    both.retainAll(added);
    removed.removeAll(both);
    added.removeAll(both);
    return new Change(this, removed, added);
  }

  private void demandUnique(Transaction transaction, byte[] key, byte[] value) {
    byte[] existing = transaction.get(entries, value);
    if (existing != null && !Arrays.equals(existing, key)) {
      Object indexed = shape.codec().fromBytes(value);
      Object ours = rowKey.apply(key);
      Object theirs = rowKey.apply(existing);
      throw new DuplicateKeyException(
          "table "
              + tableName
              + ": the row with key "
              + ours
              + " has "
              + indexed
              + " for the unique index "
              + name
              + ", and so has the row with key "
              + theirs
              + "; change one of them",
          name,
          ours,
          theirs);
    }
  }

  /** The key of the entry of a row. */
  public byte[] entryKey(byte[] value, byte[] key) {
    if (shape.isUnique()) {
      return value;
    }
    byte[] both = Arrays.copyOf(value, value.length + key.length);
    System.arraycopy(key, 0, both, value.length, key.length);
    return both;
  }

  /** The key of the row that an entry leads to. */
  public byte[] rowKeyOf(byte[] entryKey, byte[] entryValue) {
    if (shape.isUnique()) {
      return entryValue;
    }
    ByteReader in = new ByteReader(entryKey);
    Object _ = shape.codec().decode(in);
    return in.readBytes(in.remaining());
  }
}

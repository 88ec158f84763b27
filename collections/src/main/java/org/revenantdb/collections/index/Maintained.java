package org.revenantdb.collections.index;

import java.util.Arrays;
import java.util.TreeSet;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.revenantdb.collections.ByteReader;
import org.revenantdb.collections.ByteWriter;
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
    Function<byte[], Object> rowKey)
    implements Kept<V> {
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
   * @param added what it is to have, or what it has with another part of the row
   * @param part the part of the row that a covering index has; else null
   */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  public record Entries(
      Maintained<?> index, TreeSet<byte[]> removed, TreeSet<byte[]> added, byte @Nullable [] part)
      implements Change {
    @Override
    public void demandUnique(Transaction transaction, byte[] key, Expired expired) {
      if (index.shape.isUnique()) {
        for (byte[] each : added) {
          index.demandUnique(transaction, key, each, expired);
        }
      }
    }

    @Override
    public void write(Transaction transaction, byte[] key, byte @Nullable [] stored) {
      for (byte[] each : removed) {
        if (index.isEntryOf(transaction, each, key)) {
          boolean _ = transaction.delete(index.entries, index.entryKey(each, key));
        }
      }
      for (byte[] each : added) {
        transaction.put(index.entries, index.entryKey(each, key), index.entryValue(key, part));
      }
    }
  }

  @Override
  public Entries change(@Nullable V before, @Nullable V after) {
    TreeSet<byte[]> removed = of(before);
    TreeSet<byte[]> added = of(after);
    byte[] part = shape.partOf(after);
    TreeSet<byte[]> both = new TreeSet<>(removed);
    both.retainAll(added);
    removed.removeAll(both);
    if (part == null || Arrays.equals(part, shape.partOf(before))) {
      added.removeAll(both);
    }
    return new Entries(this, removed, added, part);
  }

  private void demandUnique(Transaction transaction, byte[] key, byte[] value, Expired expired) {
    byte[] existing = ownerOf(transaction, value);
    if (existing != null
        && !Arrays.equals(existing, key)
        && !expired.remove(transaction, existing)) {
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

  /** False if, while a unique index is being built, the entry is that of another row. */
  private boolean isEntryOf(Transaction transaction, byte[] value, byte[] key) {
    return !shape.isUnique() || Arrays.equals(ownerOf(transaction, value), key);
  }

  /** The key of the row that has an entry of a unique index; null if there is none. */
  private byte @Nullable [] ownerOf(Transaction transaction, byte[] value) {
    byte[] stored = transaction.get(entries, value);
    return stored == null ? null : rowKeyOf(value, stored);
  }

  /** Whether a row has this entry. */
  public boolean hasEntry(V row, byte[] entry, byte[] key) {
    for (byte[] value : of(row)) {
      if (Arrays.equals(entryKey(value, key), entry)) {
        return true;
      }
    }
    return false;
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

  /** The value that the entries of a row have. */
  public byte[] entryValueOf(V row, byte[] key) {
    return entryValue(key, shape.partOf(row));
  }

  private byte[] entryValue(byte[] key, byte @Nullable [] part) {
    if (part == null) {
      return shape.isUnique() ? key : NOTHING;
    }
    if (!shape.isUnique()) {
      return part;
    }
    ByteWriter out = new ByteWriter();
    out.writeVarLong(key.length);
    out.writeBytes(key);
    out.writeBytes(part);
    return out.toByteArray();
  }

  /** The part of the row that an entry of a covering index has. */
  public ByteReader partOf(byte[] entryValue) {
    ByteReader in = new ByteReader(entryValue);
    if (shape.isUnique()) {
      in.skip(Math.toIntExact(in.readVarLong()));
    }
    return new ByteReader(in.readBytes(in.remaining()));
  }

  /** The key of the row that an entry leads to. */
  public byte[] rowKeyOf(byte[] entryKey, byte[] entryValue) {
    if (shape.isUnique()) {
      if (!shape.isCovering()) {
        return entryValue;
      }
      ByteReader in = new ByteReader(entryValue);
      return in.readBytes(Math.toIntExact(in.readVarLong()));
    }
    ByteReader in = new ByteReader(entryKey);
    Object _ = shape.codec().decode(in);
    return in.readBytes(in.remaining());
  }
}

package org.revenantdb.collections;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentNavigableMap;
import java.util.function.BiConsumer;
import java.util.function.BiFunction;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;
import org.revenantdb.collections.expiry.Expiring;
import org.revenantdb.collections.expiry.Remover;
import org.revenantdb.collections.index.IndexBuild;
import org.revenantdb.collections.index.IndexCatalog;
import org.revenantdb.collections.index.IndexShape;
import org.revenantdb.collections.index.Kept;
import org.revenantdb.collections.index.Maintained;
import org.revenantdb.collections.index.TableIndexes;
import org.revenantdb.collections.map.MapWork;
import org.revenantdb.collections.map.TableMap;
import org.revenantdb.collections.row.KeyText;
import org.revenantdb.collections.row.Scratch;
import org.revenantdb.collections.value.ByArrays;
import org.revenantdb.engine.ConflictException;
import org.revenantdb.engine.Cursor;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.Durability;
import org.revenantdb.engine.Isolation;
import org.revenantdb.engine.KeyBatch;
import org.revenantdb.engine.Savepoint;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.TableOptions;
import org.revenantdb.engine.Transaction;
import org.revenantdb.engine.TransactionOptions;

/**
 * A table whose keys and values are objects. Each call is a statement of a transaction; {@link
 * #asMap} has calls that are transactions of their own.
 *
 * {@snippet :
 * TypedTable<Long, Customer> customers =
 *     TypedTable.open(db, "customers", Keys.longs(), Codecs.records(Customer.class));
 * db.run(tx -> customers.put(tx, 1L, new Customer("Ada", "London")));
 * }
 *
 * <p><b>Failures.</b> A statement that throws has changed nothing, as in the engine, and the
 * transaction stays usable. The message of {@link CodecException} has the table and the key. Keys
 * and values must not be null.
 *
 * <p><b>Isolation.</b> Statements that read and then write ({@link #putIfAbsent}, {@link #replace},
 * {@link #compute}, {@link #merge}, {@link #remove}) rely on the rule that the first writer of a
 * row wins. A {@link Isolation#READ_COMMITTED} transaction has no such rule, and is refused with
 * {@link IllegalStateException}.
 *
 * <p><b>Threads.</b> Thread-safe. A transaction is used by one thread at a time.
 *
 * <p><b>Indexes.</b> {@link #index} declares one. From then on each write of a row also changes its
 * index entries, in the same transaction. Code that writes rows as bytes does not change them. If
 * the database has an index of the table that was not declared since the open, the table refuses
 * writes.
 *
 * <p>A table has one codec of keys and one of values for all its life. The table does not store
 * which codecs these are, so always open it with the same ones.
 *
 * @param <K> type of the keys
 * @param <V> type of the values
 */
public final class TypedTable<K, V> {
  /** How the names begin of what is kept as indexes are, and is none. */
  static final String RESERVED = "revenant.";

  /** Rows that are removed in one transaction. */
  private static final int REMOVED = 256;

  private static final byte[] NOTHING = {};

  private static final TransactionOptions REMOVES =
      TransactionOptions.defaults().withDurability(Durability.LAZY).withName("expiry");

  private final Database database;
  private final Table table;
  private final KeyCodec<K> keys;
  private final Codec<V> values;
  private final TableIndexes<V> indexes;
  private final Scratch.Pool scratches = new Scratch.Pool();

  private TypedTable(Database database, Table table, KeyCodec<K> keys, Codec<V> values) {
    this.indexes = TableIndexes.of(database, table.name());
    this.database = database;
    this.table = table;
    this.keys = keys;
    this.values = values;
  }

  /**
   * Opens a table. Creates it if there is none of this name.
   *
   * @param database where it is
   * @param name its name
   * @param keys codec of its keys
   * @param values codec of its values
   * @param <K> type of the keys
   * @param <V> type of the values
   * @return the table
   */
  public static <K, V> TypedTable<K, V> open(
      Database database, String name, KeyCodec<K> keys, Codec<V> values) {
    return of(database, database.getOrCreateTable(name), keys, values);
  }

  /**
   * Opens a table with options. Creates it if there is none of this name.
   *
   * @param database where it is
   * @param name its name
   * @param options of the table
   * @param keys codec of its keys
   * @param values codec of its values
   * @param <K> type of the keys
   * @param <V> type of the values
   * @return the table
   */
  public static <K, V> TypedTable<K, V> open(
      Database database, String name, TableOptions options, KeyCodec<K> keys, Codec<V> values) {
    return of(database, database.getOrCreateTable(name, options), keys, values);
  }

  /**
   * Returns a typed view of a table of the engine.
   *
   * @param database where it is
   * @param table the table; it may be one that an open transaction has created
   * @param keys codec of its keys
   * @param values codec of its values
   * @param <K> type of the keys
   * @param <V> type of the values
   * @return the table
   */
  public static <K, V> TypedTable<K, V> of(
      Database database, Table table, KeyCodec<K> keys, Codec<V> values) {
    Objects.requireNonNull(database, "database must not be null");
    Objects.requireNonNull(table, "table must not be null");
    Objects.requireNonNull(keys, "keys must not be null");
    Objects.requireNonNull(values, "values must not be null");
    return new TypedTable<>(database, table, keys, values);
  }

  /**
   * The name of the table.
   *
   * @return the name
   */
  public String name() {
    return table.name();
  }

  /**
   * The table of the engine.
   *
   * @return the table
   */
  public Table table() {
    return table;
  }

  /**
   * The codec of the keys.
   *
   * @return the codec
   */
  public KeyCodec<K> keys() {
    return keys;
  }

  /**
   * The codec of the values.
   *
   * @return the codec
   */
  public Codec<V> values() {
    return values;
  }

  // ------------------------------------------------------------------------------- codecs

  /** The bytes of a key. */
  byte[] keyBytes(K key) {
    Scratch scratch = scratches.take();
    try {
      return keyBytes(key, scratch);
    } finally {
      scratches.give(scratch);
    }
  }

  private byte[] keyBytes(K key, Scratch scratch) {
    ByteWriter out = scratch.out();
    encode(key, out);
    return out.toByteArray();
  }

  private KeyBatch encode(List<? extends K> all, Scratch scratch) {
    KeyBatch batch = scratch.keys();
    int[] ends = new int[all.size()];
    ByteWriter out = scratch.out();
    for (int i = 0; i < ends.length; i++) {
      encode(all.get(i), out);
      ends[i] = out.length();
    }
    int start = 0;
    for (int end : ends) { // not at once: bytes that were only just written are slow to read
      batch.add(out.buffer(), start, end - start);
      start = end;
    }
    return batch;
  }

  private void encode(K key, ByteWriter out) {
    Objects.requireNonNull(key, "key must not be null");
    try {
      keys.encode(key, out);
    } catch (RuntimeException refused) {
      throw failed("the key", KeyText.of(key), "cannot be written", refused);
    }
  }

  private byte[] valueBytes(K key, V value) {
    Objects.requireNonNull(value, "value must not be null");
    Scratch scratch = scratches.take();
    try {
      ByteWriter out = scratch.out();
      try {
        values.encode(value, out);
      } catch (RuntimeException refused) {
        throw failed("the value of key", KeyText.of(key), "cannot be written", refused);
      }
      return out.toByteArray();
    } finally {
      scratches.give(scratch);
    }
  }

  /** Decodes the key in a reader. */
  K key(ByteReader in, byte[] bytes, int length) {
    try {
      K key = keys.decode(in);
      if (in.remaining() > 0) {
        throw new IllegalArgumentException(
            in.remaining() + " bytes follow behind the key; open the table with its own codecs");
      }
      return key;
    } catch (RuntimeException refused) {
      throw failed("a key", KeyText.ofBytes(bytes, length), "cannot be read", refused);
    }
  }

  /** Decodes the value in a reader. */
  V value(ByteReader in, byte[] key, int length) {
    try {
      return Objects.requireNonNull(values.decode(in), "the codec has returned null");
    } catch (RuntimeException refused) {
      throw failed("the value of key", readable(key, length), "cannot be read", refused);
    }
  }

  /** Decodes the value of a key in a reader. */
  private V value(ByteReader in, K key) {
    try {
      return Objects.requireNonNull(values.decode(in), "the codec has returned null");
    } catch (RuntimeException refused) {
      throw failed("the value of key", KeyText.of(key), "cannot be read", refused);
    }
  }

  /** A key as messages show it, even if its codec throws. */
  private String readable(byte[] key, int length) {
    try {
      return KeyText.of(keys.decode(new ByteReader(key).reset(key, length)));
    } catch (RuntimeException unreadable) {
      return KeyText.ofBytes(key, length);
    }
  }

  private CodecException failed(String what, String which, String how, RuntimeException thrown) {
    Throwable cause =
        thrown instanceof ByArrays.Checked && thrown.getCause() instanceof Exception checked
            ? checked
            : thrown;
    return new CodecException(
        "table "
            + name()
            + ": "
            + what
            + " "
            + which
            + " "
            + how
            + ": "
            + (cause.getMessage() == null ? cause.toString() : cause.getMessage()),
        cause);
  }

  // ------------------------------------------------------------------------------- reads

  /**
   * Reads the value of a key.
   *
   * @param transaction the transaction that reads
   * @param key the key
   * @return the value, or null if there is no such row
   */
  public @Nullable V get(Transaction transaction, K key) {
    return visible(transaction, stored(transaction, keyBytes(key)));
  }

  /** A row that was stored, unless it has expired. */
  private @Nullable V visible(Transaction transaction, @Nullable V row) {
    return visible(transaction, row, indexes.expiring());
  }

  private static <V> @Nullable V visible(
      Transaction transaction, @Nullable V row, @Nullable Expiring<V> expiring) {
    return expiring == null || row == null || !expiring.isOver(transaction, row) ? row : null;
  }

  /** The row that is stored under a key, though it may have expired. */
  @Nullable V stored(Transaction transaction, byte[] key) {
    Scratch scratch = scratches.take();
    try {
      byte[] bytes = scratch.value();
      int length = transaction.get(table, key, bytes, 0);
      if (length < 0) {
        return null;
      }
      if (length > bytes.length) {
        bytes = transaction.get(table, key);
        if (bytes == null) {
          return null; // a READ_COMMITTED transaction may see that
        }
        length = bytes.length;
      }
      return value(scratch.in(bytes, length), key, key.length);
    } finally {
      scratches.give(scratch);
    }
  }

  /**
   * Returns whether there is a row with this key.
   *
   * @param transaction the transaction that reads
   * @param key the key
   * @return true if there is
   */
  public boolean contains(Transaction transaction, K key) {
    return expires() ? get(transaction, key) != null : transaction.exists(table, keyBytes(key));
  }

  /**
   * Reads the values of several keys, as one statement. Keys that lie close to each other in the
   * table are read together, which is faster than a {@code get} for each.
   *
   * @param transaction the transaction that reads
   * @param wanted the keys, in any order
   * @return the existing rows, in the order of the table; a new map, which can be changed
   */
  public Map<K, V> getAll(Transaction transaction, Collection<? extends K> wanted) {
    List<K> all = new ArrayList<>(wanted);
    Map<K, V> found = LinkedHashMap.newLinkedHashMap(all.size());
    readAll(transaction, all, found::put);
    return found;
  }

  /**
   * As {@link #getAll(Transaction, Collection)}, without a map: passes each existing row to an
   * action, in the order of the table. All rows are read before the first one is passed.
   *
   * @param transaction the transaction that reads
   * @param wanted the keys, in any order; a key that is there several times is passed as often
   * @param action receives the keys and the values. It may use the table and the transaction
   */
  public void getAll(
      Transaction transaction,
      Collection<? extends K> wanted,
      BiConsumer<? super K, ? super V> action) {
    readAll(transaction, new ArrayList<K>(wanted), action);
  }

  private void readAll(
      Transaction transaction, List<K> wanted, BiConsumer<? super K, ? super V> action) {
    Scratch scratch = scratches.take();
    try {
      KeyBatch batch = encode(wanted, scratch);
      Expiring<V> expiring = indexes.expiring();
      transaction.getAll(
          table,
          batch,
          (index, bytes, offset, length) -> {
            K key = wanted.get(index);
            V read = value(scratch.in(bytes, offset, length), key);
            V row = visible(transaction, read, expiring);
            if (row != null) {
              action.accept(key, row);
            }
          });
    } finally {
      scratches.give(scratch);
    }
  }

  /**
   * Returns a scan of all rows in the order of the keys; the methods of {@link Scan} narrow it.
   *
   * @param transaction the transaction that reads
   * @return a scan
   */
  public Scan<K, V> scan(Transaction transaction) {
    Objects.requireNonNull(transaction, "transaction must not be null");
    return new Scan<>(this, transaction, null, null, /* isDescending= */ false, Long.MAX_VALUE);
  }

  /** A cursor over the rows of a range that have not expired. */
  TypedCursor<K, V> cursor(
      Transaction transaction,
      byte @Nullable [] from,
      byte @Nullable [] to,
      boolean isDescending,
      long limit) {
    Expiring<V> expiring = indexes.expiring();
    return new TypedCursor<>(
        this,
        isDescending
            ? transaction.scanDescending(table, from, to)
            : transaction.scan(table, from, to),
        limit,
        expiring,
        expiring == null ? 0 : expiring.moment(transaction));
  }

  /** A cursor over all rows, those that have expired as well. */
  TypedCursor<K, V> allRows(Transaction transaction) {
    return new TypedCursor<>(
        this, transaction.scan(table, null, null), Long.MAX_VALUE, /* expiring= */ null, 0);
  }

  /**
   * The number of rows of a range that have not expired. In a READ_COMMITTED transaction it is not
   * exact: rows may be removed between its two statements.
   */
  long count(Transaction transaction, byte @Nullable [] from, byte @Nullable [] to) {
    long all = transaction.count(table, from, to);
    long[] expired = {0};
    forEachExpired(
        transaction,
        (key, _) -> {
          boolean isBehind = from == null || Arrays.compareUnsigned(key, from) >= 0;
          expired[0] += isBehind && (to == null || Arrays.compareUnsigned(key, to) < 0) ? 1 : 0;
        });
    return Math.max(0, all - expired[0]);
  }

  /** Whether rows expire. */
  boolean expires() {
    return indexes.expiring() != null;
  }

  /** Passes the rows that have expired for a transaction and are still there, with their keys. */
  void forEachExpired(Transaction transaction, BiConsumer<byte[], V> action) {
    Expiring<V> expiring = indexes.expiring();
    if (expiring == null) {
      return;
    }
    long moment = expiring.moment(transaction);
    if (!expiring.isComplete(transaction)) { // it began before the rows had entries
      try (TypedCursor<K, V> rows = allRows(transaction)) {
        while (rows.next()) {
          V row = rows.value();
          if (expiring.isOver(row, moment)) {
            action.accept(rows.keyBytes(), row);
          }
        }
      }
      return;
    }
    Maintained<V> index = expiring.index();
    try (Cursor entries = transaction.scan(index.entries(), null, Expiring.endOf(moment))) {
      while (entries.next()) {
        byte[] key = index.rowKeyOf(entries.key(), entries.value());
        V row = stored(transaction, key);
        if (row != null && expiring.isOver(row, moment)) {
          action.accept(key, row);
        }
      }
    }
  }

  // ------------------------------------------------------------------------------- writes

  /**
   * Stores a row. Replaces the value if the key exists.
   *
   * @param transaction the transaction that writes
   * @param key the key
   * @param value the value
   * @throws ConflictException as {@link Transaction#put(Table, byte[], byte[])}; so do the other
   *     statements that write
   */
  public void put(Transaction transaction, K key, V value) {
    byte[] bytes = keyBytes(key);
    byte[] stored = valueBytes(key, value);
    List<Kept<V>> kept = indexes.toWrite();
    if (kept.isEmpty()) {
      transaction.put(table, bytes, stored);
      keepNewOrEnd(transaction, kept, bytes, value, stored);
    } else {
      demandFirstWriter(transaction);
      change(transaction, bytes, stored(transaction, bytes), value, stored);
    }
  }

  /** Writes or deletes a row and changes all its index entries. The former row is known. */
  private void change(
      Transaction transaction,
      byte[] key,
      @Nullable V before,
      @Nullable V after,
      byte @Nullable [] stored) {
    List<Kept<V>> kept = indexes.toWrite();
    if (kept.isEmpty()) {
      write(transaction, key, stored);
      keepNewOrEnd(transaction, kept, key, after, stored);
      return;
    }
    List<Kept.Change> changes = new ArrayList<>(kept.size());
    for (Kept<V> index : kept) { // the functions of the user, which may throw
      changes.add(index.change(before, after));
    }
    for (Kept.Change each : changes) {
      each.demandUnique(transaction, key, this::removeExpired);
    }
    Savepoint savepoint = transaction.savepoint();
    try {
      write(transaction, key, stored);
      for (Kept.Change each : changes) {
        each.write(transaction, key, stored);
      }
      keepNew(transaction, kept, key, after, stored);
    } catch (Throwable refused) {
      transaction.rollbackTo(savepoint);
      transaction.release(savepoint);
      throw refused;
    }
    transaction.release(savepoint);
  }

  private void write(Transaction transaction, byte[] key, byte @Nullable [] stored) {
    if (stored == null) {
      boolean _ = transaction.delete(table, key);
    } else {
      transaction.put(table, key, stored);
    }
  }

  /**
   * Like {@link #keepNew}. The row is written and there is no savepoint, so a failure must not
   * leave half of it to be committed.
   */
  private void keepNewOrEnd(
      Transaction transaction,
      List<Kept<V>> kept,
      byte[] key,
      @Nullable V after,
      byte @Nullable [] stored) {
    try {
      keepNew(transaction, kept, key, after, stored);
    } catch (Throwable refused) {
      transaction.rollback();
      throw refused;
    }
  }

  /** An index that was declared after this write began has no entry of the former row. */
  private void keepNew(
      Transaction transaction,
      List<Kept<V>> kept,
      byte[] key,
      @Nullable V after,
      byte @Nullable [] stored) {
    for (Kept<V> index : indexes.since(kept)) {
      demandFirstWriter(transaction);
      Kept.Change change = index.change(null, after);
      change.demandUnique(transaction, key, this::removeExpired);
      change.write(transaction, key, stored);
    }
  }

  /**
   * Stores a row if there is none with this key.
   *
   * @param transaction the transaction that writes
   * @param key the key
   * @param value the value
   * @return the existing value, which is not changed; null if there was none
   */
  public @Nullable V putIfAbsent(Transaction transaction, K key, V value) {
    demandFirstWriter(transaction);
    byte[] bytes = keyBytes(key);
    byte[] stored = valueBytes(key, value);
    V former = stored(transaction, bytes);
    V before = visible(transaction, former);
    if (before == null) {
      change(transaction, bytes, former, value, stored);
    }
    return before;
  }

  /**
   * Replaces the value of a row that exists.
   *
   * @param transaction the transaction that writes
   * @param key the key
   * @param value the value
   * @return the value before, or null if there is no such row
   */
  public @Nullable V replace(Transaction transaction, K key, V value) {
    demandFirstWriter(transaction);
    byte[] bytes = keyBytes(key);
    byte[] stored = valueBytes(key, value);
    V before = visible(transaction, stored(transaction, bytes));
    if (before != null) {
      change(transaction, bytes, before, value, stored);
    }
    return before;
  }

  /**
   * Replaces the value of a row if it has the expected value.
   *
   * @param transaction the transaction that writes
   * @param key the key
   * @param expected what the value has to be equal to
   * @param value the value
   * @return whether it was replaced
   */
  public boolean replace(Transaction transaction, K key, V expected, V value) {
    demandFirstWriter(transaction);
    Objects.requireNonNull(expected, "expected must not be null");
    byte[] bytes = keyBytes(key);
    byte[] stored = valueBytes(key, value);
    V before = visible(transaction, stored(transaction, bytes));
    if (!expected.equals(before)) {
      return false;
    }
    change(transaction, bytes, before, value, stored);
    return true;
  }

  /**
   * Stores the result of a function for the present value.
   *
   * @param transaction the transaction that writes
   * @param key the key
   * @param change receives key and value, which is null if there is no such row; returns null to
   *     delete the row. It is called once
   * @return the value that is stored now, or null
   */
  public @Nullable V compute(
      Transaction transaction,
      K key,
      BiFunction<? super K, ? super @Nullable V, ? extends @Nullable V> change) {
    demandFirstWriter(transaction);
    byte[] bytes = keyBytes(key);
    V former = stored(transaction, bytes);
    V before = visible(transaction, former);
    V after = change.apply(key, before);
    if (after != null) {
      change(transaction, bytes, former, after, valueBytes(key, after));
    } else if (before != null) {
      change(transaction, bytes, before, null, null);
    }
    return after;
  }

  /**
   * Merges a value into a row. If there is no row, stores the value. Otherwise stores the result of
   * the function for the present value and this one.
   *
   * @param transaction the transaction that writes
   * @param key the key
   * @param value stored if there is no such row
   * @param merge receives both values; returns null to delete the row. It is called at most once
   * @return the value that is stored now, or null
   */
  public @Nullable V merge(
      Transaction transaction,
      K key,
      V value,
      BiFunction<? super V, ? super V, ? extends @Nullable V> merge) {
    Objects.requireNonNull(value, "value must not be null");
    return compute(
        transaction, key, (_, before) -> before == null ? value : merge.apply(before, value));
  }

  /**
   * Returns a merger, for rows that many threads change at once, such as counters. Its calls are
   * transactions of their own with the options of the database, and are combined.
   *
   * @param function receives the present value and the value to merge; returns null to delete the
   *     row
   * @return the merger; thread-safe
   */
  public Merger<K, V> merger(BiFunction<? super V, ? super V, ? extends @Nullable V> function) {
    return merger(TransactionOptions.defaults(), function);
  }

  /**
   * As {@link #merger(BiFunction)}.
   *
   * @param options of the transactions
   * @param function receives both values
   * @return the merger; thread-safe
   */
  public Merger<K, V> merger(
      TransactionOptions options,
      BiFunction<? super V, ? super V, ? extends @Nullable V> function) {
    return new Merger<>(this, database, options, function);
  }

  /**
   * Deletes a row.
   *
   * @param transaction the transaction that writes
   * @param key the key
   * @return whether there was one
   */
  public boolean delete(Transaction transaction, K key) {
    byte[] bytes = keyBytes(key);
    List<Kept<V>> kept = indexes.toWrite();
    if (kept.isEmpty()) {
      boolean wasThere = transaction.delete(table, bytes);
      if (wasThere) {
        keepNewOrEnd(transaction, kept, bytes, null, null);
      }
      return wasThere;
    }
    demandFirstWriter(transaction);
    V before = visible(transaction, stored(transaction, bytes));
    if (before != null) {
      change(transaction, bytes, before, null, null);
    }
    return before != null;
  }

  /**
   * Deletes a row and returns its value.
   *
   * @param transaction the transaction that writes
   * @param key the key
   * @return the value, or null if there was no such row
   */
  public @Nullable V remove(Transaction transaction, K key) {
    demandFirstWriter(transaction);
    byte[] bytes = keyBytes(key);
    V before = visible(transaction, stored(transaction, bytes));
    if (before != null) {
      change(transaction, bytes, before, null, null);
    }
    return before;
  }

  /**
   * Deletes a row if it has the expected value.
   *
   * @param transaction the transaction that writes
   * @param key the key
   * @param expected what the value has to be equal to
   * @return whether it was deleted
   */
  public boolean remove(Transaction transaction, K key, Object expected) {
    demandFirstWriter(transaction);
    byte[] bytes = keyBytes(key);
    V before = visible(transaction, stored(transaction, bytes));
    if (!expected.equals(before)) {
      return false;
    }
    change(transaction, bytes, before, null, null);
    return true;
  }

  long deleteRange(Transaction transaction, byte @Nullable [] from, byte @Nullable [] to) {
    List<Kept<V>> kept = indexes.toWrite();
    if (kept.isEmpty()) {
      Savepoint before = transaction.savepoint();
      boolean isWhole = false;
      try {
        long deleted = transaction.deleteRange(table, from, to);
        isWhole = indexes.since(kept).isEmpty();
        if (isWhole) {
          return deleted;
        }
      } finally {
        if (!isWhole) { // it failed, or an index was declared meanwhile, which needs each row
          transaction.rollbackTo(before);
        }
        transaction.release(before);
      }
    }
    demandFirstWriter(transaction);
    long rows = 0;
    Savepoint savepoint = transaction.savepoint();
    try (Cursor cursor = transaction.scan(table, from, to)) {
      while (cursor.next()) {
        byte[] key = cursor.key();
        V row = readValue(key, cursor.value());
        change(transaction, key, row, null, null);
        rows += visible(transaction, row) == null ? 0 : 1;
      }
    } catch (Throwable refused) {
      transaction.rollbackTo(savepoint);
      transaction.release(savepoint);
      throw refused;
    }
    transaction.release(savepoint);
    return rows;
  }

  // ------------------------------------------------------------------------------- indexes

  /**
   * Declares a secondary index, and returns when it is complete. A new index is built while others
   * read and write the table. After a crash during the build, the next call continues it. After
   * each open, declare every index of a table before the first write.
   *
   * <p>The build first waits, without a time limit, for open transactions that have written to the
   * table. During that wait other transactions that write to the table receive conflicts. Then it
   * locks a few hundred rows at a time. If the call throws an exception that is not listed here,
   * later writes still change the index, and another call continues the build.
   *
   * @param name its name in this table
   * @param definition what the index contains for a row
   * @param <I> type of what is indexed
   * @return the index
   * @throws DuplicateKeyException if two rows have the same entry in a unique index; it is dropped
   * @throws IllegalStateException if it is stored with another definition
   * @throws org.revenantdb.engine.CatalogException if this thread has an open transaction that has
   *     written to the table
   */
  public <I> Index<I, K, V> index(String name, IndexDefinition<I, V> definition) {
    return index(name, definition, _ -> {});
  }

  /**
   * As {@link #index(String, IndexDefinition)}, and reports progress.
   *
   * @param name its name in this table
   * @param definition what the index contains for a row
   * @param progress receives the number of rows that this call has read, after each batch
   * @param <I> type of what is indexed
   * @return the index
   */
  public <I> Index<I, K, V> index(
      String name, IndexDefinition<I, V> definition, LongConsumer progress) {
    Objects.requireNonNull(name, "name must not be null");
    Objects.requireNonNull(progress, "progress must not be null");
    demandFree(name);
    // Refuses until the expiry was declared: expired rows would count as duplicates.
    Expiring<V> _ = indexes.expiring();
    IndexShape<I, V> shape = definition.shape();
    if (!shape.isUnique()) {
      KeyCodec<K> _ = keys.asPart(); // which refuses keys that cannot follow another one
    }
    Maintained<V> kept =
        build().declare(name, definition.version(), shape, this::readKey, progress);
    return new Index<>(this, kept, shape.codec(), database.table(IndexCatalog.TABLE));
  }

  /**
   * Declares a covering index, as {@link #index(String, IndexDefinition)}.
   *
   * @param name its name in this table
   * @param definition what it has of a row
   * @param <I> type of what is indexed
   * @param <C> type of the part of the row that each entry has
   * @return the index
   */
  public <I, C> CoveringIndex<I, K, V, C> index(
      String name, CoveringDefinition<I, V, C> definition) {
    return new CoveringIndex<>(index(name, definition.definition()), definition.codec());
  }

  /** Refuses names that begin as those that are kept for other purposes. */
  private static void demandFree(String name) {
    if (name.startsWith(RESERVED)) {
      throw new IllegalArgumentException(
          "index " + name + ": names that begin with " + RESERVED + " are reserved; use another");
    }
  }

  private IndexBuild<V> build() {
    return new IndexBuild<>(database, table, this::readValue, indexes, this::removeExpired);
  }

  /** The value that has these bytes. */
  V readValue(byte[] key, byte[] value) {
    return value(new ByteReader(value), key, key.length);
  }

  /** Decodes the key with these bytes. */
  K readKey(byte[] bytes) {
    return key(new ByteReader(bytes), bytes, bytes.length);
  }

  /** Reads the row of a key in bytes. */
  @Nullable Row<K, V> row(Transaction transaction, byte[] key) {
    V value = visible(transaction, stored(transaction, key));
    return value == null ? null : new Row<>(readKey(key), value);
  }

  /**
   * Drops an index, declared or not. Waits for the transactions that have written to it.
   *
   * @param name its name
   * @return whether there was one
   */
  public boolean dropIndex(String name) {
    demandFree(name);
    return build().drop(name);
  }

  /**
   * Compares all rows with all indexes: each row has its entries, and each entry leads to a row.
   * The check of a database ({@link Database#check}) cannot do that, because what an index has of a
   * row is code of the application.
   *
   * @param transaction which reads; an index that was not complete when it began is left out
   * @return the differences, at most a hundred for each index; empty if all indexes are correct
   * @throws IllegalStateException if the table has an index that was not declared since the open
   * @throws CodecException if a row cannot be decoded
   */
  public List<String> check(Transaction transaction) {
    List<String> problems = new ArrayList<>();
    Table catalog = database.findTable(IndexCatalog.TABLE);
    for (Kept<V> each : indexes.toWrite()) {
      if (each instanceof Maintained<V> index && catalog != null) {
        IndexCatalog.Stored stored = IndexCatalog.find(transaction, catalog, name(), index.name());
        if (stored != null && stored.isComplete()) {
          IndexCheck.of(this, index, transaction)
              .forEach(problem -> problems.add("index " + index.name() + ": " + problem));
        }
      }
    }
    return List.copyOf(problems);
  }

  /**
   * Keeps something with each write of a row from now on. Called for the first time, it returns
   * when all have ended that had written without it.
   */
  void keep(String as, Kept<V> kept) {
    build().keep(as, kept);
  }

  /** Keeps it no more; returns whether it was kept. */
  boolean keepNoMore(String as) {
    return build().drop(as);
  }

  // ------------------------------------------------------------------------------- expiry

  /**
   * Declares that rows expire. From their time on they are not seen any more, by no statement, map
   * or index of the table, and are removed in the background. As an index, it is declared after
   * each open, before the other indexes and the first use of the table, which are refused until
   * then; it is built beside readers and writers if there are rows already; and what uses the table
   * as bytes does not know of it.
   *
   * <p><b>Time.</b> A transaction has one time for all its statements: that of its first statement
   * on a table with this clock. Statements of a {@link Isolation#READ_COMMITTED} transaction have
   * the time of now.
   *
   * <p><b>Clock.</b> It may be set. If it jumps ahead, rows expire early, and those that are
   * removed then do not come back. If it jumps back, rows that have expired and are not removed yet
   * are seen again until their time.
   *
   * @param expiry when
   * @return this
   */
  public TypedTable<K, V> expire(Expiry<V> expiry) {
    Objects.requireNonNull(expiry, "expiry must not be null");
    KeyCodec<K> _ = keys.asPart(); // which refuses keys that cannot follow another one
    IndexShape<Long, V> shape =
        new IndexShape<>(
            Keys.longs(),
            /* isUnique= */ false,
            row -> {
              long at = expiry.millis(row);
              return at == Long.MAX_VALUE ? List.of() : List.of(at);
            },
            /* part= */ null);
    Maintained<V> index = build().declare(Expiring.NAME, 1, shape, this::readKey, _ -> {});
    indexes.expires(
        new Expiring<>(expiry::millis, expiry.clock(), index, database.table(IndexCatalog.TABLE)));
    if (expiry.hasRemover() && indexes.needsRemover()) {
      Remover.start(database, "revenant-expiry-" + name(), this::removeAndLookAhead);
    }
    return this;
  }

  /**
   * Has rows not expire any more. Those that have expired and are not removed yet are seen again.
   *
   * @return whether they expired
   */
  public boolean dropExpiry() {
    return build().drop(Expiring.NAME);
  }

  /**
   * Removes all rows that have expired by now. A thread in the background does that as well; a call
   * is only needed if {@link Expiry#withRemover} says that there is none.
   *
   * <p>A row that other transactions keep busy is left to the next call.
   *
   * @return how many this call has removed
   * @throws CodecException if a row cannot be read; the others are removed
   */
  public long removeExpired() {
    Expiring<V> expiring = indexes.expiring();
    if (expiring == null) {
      return 0;
    }
    byte[] end = Expiring.endOf(expiring.clock().millis());
    Removal at = new Removal(null, 0, null);
    do {
      Removal former = at;
      at = database.call(REMOVES, tx -> removeSome(tx, expiring, former, end));
    } while (at.last != null);
    if (at.failure != null) {
      throw at.failure;
    }
    return at.rows;
  }

  /**
   * How far a removal is.
   *
   * @param last the last entry that it has looked at; null before the first one, and at the end
   * @param rows how many it has removed
   * @param failure the first row that cannot be read
   */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  private record Removal(byte @Nullable [] last, long rows, @Nullable RuntimeException failure) {}

  private Removal removeSome(Transaction tx, Expiring<V> expiring, Removal former, byte[] end) {
    int most = Math.max(1, REMOVED >> Math.min(8, tx.attempt() - 1)); // smaller after a conflict
    Maintained<V> index = expiring.index();
    byte[] from = former.last == null ? null : Arrays.copyOf(former.last, former.last.length + 1);
    List<byte[]> entries = new ArrayList<>();
    try (Cursor cursor = tx.scan(index.entries(), from, end)) {
      while (entries.size() < most && cursor.next()) {
        entries.add(cursor.key());
      }
    }
    long rows = former.rows;
    RuntimeException failure = former.failure;
    for (byte[] entry : entries) {
      byte[] key = index.rowKeyOf(entry, NOTHING);
      try {
        V row = stored(tx, key);
        if (row != null && index.hasEntry(row, entry, key)) {
          change(tx, key, row, null, null);
          rows++;
        } else { // a function that was changed has left it
          boolean _ = tx.delete(index.entries(), entry);
        }
      } catch (CodecException unreadable) {
        failure = failure == null ? unreadable : failure;
      } catch (ConflictException busy) {
        if (tx.attempt() == 1) {
          throw busy;
        }
        // Another transaction holds the row again. It is left to the next pass.
      }
    }
    return new Removal(entries.size() < most ? null : entries.getLast(), rows, failure);
  }

  /** Called by the thread that removes rows; returns in how many milliseconds the next expires. */
  long removeAndLookAhead() {
    if (indexes.lacksDeclarations()) { // no write is possible yet
      return 0;
    }
    long _ = removeExpired();
    Expiring<V> expiring = indexes.expiring();
    if (expiring == null) {
      indexes.removerEnds(); // a declaration that comes now starts another one
      return indexes.declaredExpiring() != null && indexes.needsRemover() ? 0 : Remover.OVER;
    }
    @Nullable Long first =
        database.<@Nullable Long>read(tx -> {
          byte[] from = Expiring.endOf(expiring.clock().millis());
          try (Cursor entries = tx.scan(expiring.index().entries(), from, null)) {
            return entries.next() ? Keys.longs().decode(new ByteReader(entries.key())) : null;
          }
        });
    return first == null ? Long.MAX_VALUE : Math.max(0, first - expiring.clock().millis());
  }

  /** Removes a row if it has expired. */
  private boolean removeExpired(Transaction transaction, byte[] key) {
    Expiring<V> expiring = indexes.declaredExpiring();
    V row = expiring == null ? null : stored(transaction, key);
    if (expiring == null || row == null || !expiring.isOver(transaction, row)) {
      return false;
    }
    change(transaction, key, row, null, null);
    return true;
  }

  private void demandFirstWriter(Transaction transaction) {
    if (transaction.options().isolation() == Isolation.READ_COMMITTED) {
      throw new IllegalStateException(
          "table "
              + name()
              + ": a READ_COMMITTED transaction may overwrite what was committed since it has read;"
              + " use SNAPSHOT or SERIALIZABLE for statements that read and then write");
    }
  }

  // ------------------------------------------------------------------------------- maps

  /**
   * Returns the table as a map. Each call of the map is a transaction with the options of the
   * database.
   *
   * <p>Calls that write are repeated after conflicts, as by {@link Database#run}. So functions that
   * are passed to {@code compute} and similar methods can be called more than once. Iterators are
   * weakly consistent: they read some rows in one transaction and later rows in another. Entries
   * are copies; {@code setValue} of an iterator's entry is a {@code put}. {@code size} counts all
   * rows.
   *
   * @return the map; thread-safe
   */
  public ConcurrentNavigableMap<K, V> asMap() {
    return new TableMap<>(this, MapWork.each(database, TransactionOptions.defaults()));
  }

  /**
   * Returns the table as a map, as {@link #asMap()} does, with other options.
   *
   * @param options of the transactions
   * @return the map; thread-safe
   */
  public ConcurrentNavigableMap<K, V> asMap(TransactionOptions options) {
    return new TableMap<>(this, MapWork.each(database, options));
  }

  /**
   * Returns the table as a map, as a transaction sees it. All calls are statements of the
   * transaction.
   *
   * @param transaction the transaction that reads and writes
   * @return the map; valid until the transaction ends, used by one thread at a time, as that is
   */
  public ConcurrentNavigableMap<K, V> asMap(Transaction transaction) {
    return new TableMap<>(this, MapWork.of(transaction));
  }

  @Override
  public String toString() {
    return "TypedTable[" + name() + "]";
  }
}

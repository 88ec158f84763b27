package org.revenantdb.collections;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentNavigableMap;
import java.util.function.BiFunction;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;
import org.revenantdb.collections.index.IndexBuild;
import org.revenantdb.collections.index.IndexCatalog;
import org.revenantdb.collections.index.IndexShape;
import org.revenantdb.collections.index.Maintained;
import org.revenantdb.collections.index.TableIndexes;
import org.revenantdb.collections.map.MapWork;
import org.revenantdb.collections.map.TableMap;
import org.revenantdb.collections.row.KeyText;
import org.revenantdb.collections.row.Scratch;
import org.revenantdb.engine.ConflictException;
import org.revenantdb.engine.Cursor;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.Isolation;
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
    Objects.requireNonNull(key, "key must not be null");
    ByteWriter out = scratch.out();
    try {
      keys.encode(key, out);
    } catch (RuntimeException refused) {
      throw failed("the key", KeyText.of(key), "cannot be written", refused);
    }
    return out.toByteArray();
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

  /** A key as messages show it, even if its codec throws. */
  private String readable(byte[] key, int length) {
    try {
      return KeyText.of(keys.decode(new ByteReader(key).reset(key, length)));
    } catch (RuntimeException unreadable) {
      return KeyText.ofBytes(key, length);
    }
  }

  private CodecException failed(String what, String which, String how, RuntimeException cause) {
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
    return get(transaction, keyBytes(key));
  }

  private @Nullable V get(Transaction transaction, byte[] key) {
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
    return transaction.exists(table, keyBytes(key));
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
    Scratch scratch = scratches.take();
    try {
      List<Wanted<K>> sorted = new ArrayList<>(wanted.size());
      for (K key : wanted) {
        sorted.add(Wanted.of(key, keyBytes(key, scratch)));
      }
      sorted.sort(null);
      List<byte[]> bytes = new ArrayList<>(sorted.size());
      for (Wanted<K> each : sorted) {
        bytes.add(each.bytes);
      }
      List<byte @Nullable []> read = transaction.getAll(table, bytes);
      Map<K, V> found = LinkedHashMap.newLinkedHashMap(sorted.size());
      for (int i = 0; i < read.size(); i++) {
        byte[] value = read.get(i);
        if (value != null) {
          byte[] key = bytes.get(i);
          found.put(sorted.get(i).key, value(scratch.in(value, value.length), key, key.length));
        }
      }
      return found;
    } finally {
      scratches.give(scratch);
    }
  }

  /**
   * A key that is looked up.
   *
   * @param head its first eight bytes as a number, followed by zeros if it is shorter: two keys
   *     with different heads are in the order of these
   */
  @SuppressWarnings("ArrayRecordComponent") // never compared but by compareTo
  private record Wanted<K>(K key, byte[] bytes, long head) implements Comparable<Wanted<K>> {
    private static <K> Wanted<K> of(K key, byte[] bytes) {
      long head = 0;
      for (int i = 0; i < Long.BYTES; i++) {
        head = head << Byte.SIZE | (i < bytes.length ? bytes[i] & 0xFF : 0);
      }
      return new Wanted<>(key, bytes, head);
    }

    @Override
    public int compareTo(Wanted<K> other) {
      return head == other.head
          ? Arrays.compareUnsigned(bytes, other.bytes)
          : Long.compareUnsigned(head, other.head);
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
    List<Maintained<V>> kept = indexes.toWrite();
    if (kept.isEmpty()) {
      transaction.put(table, bytes, stored);
      keepNewOrEnd(transaction, kept, bytes, value);
    } else {
      demandFirstWriter(transaction);
      change(transaction, bytes, get(transaction, bytes), value, stored);
    }
  }

  /** Writes or deletes a row and changes all its index entries. The former row is known. */
  private void change(
      Transaction transaction,
      byte[] key,
      @Nullable V before,
      @Nullable V after,
      byte @Nullable [] stored) {
    List<Maintained<V>> kept = indexes.toWrite();
    if (kept.isEmpty()) {
      write(transaction, key, stored);
      keepNewOrEnd(transaction, kept, key, after);
      return;
    }
    List<Maintained.Change> changes = new ArrayList<>(kept.size());
    for (Maintained<V> index : kept) { // the functions of the user, which may throw
      changes.add(index.change(before, after));
    }
    for (Maintained.Change each : changes) {
      each.demandUnique(transaction, key);
    }
    Savepoint savepoint = transaction.savepoint();
    try {
      write(transaction, key, stored);
      for (Maintained.Change each : changes) {
        each.write(transaction, key);
      }
      keepNew(transaction, kept, key, after);
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
      Transaction transaction, List<Maintained<V>> kept, byte[] key, @Nullable V after) {
    try {
      keepNew(transaction, kept, key, after);
    } catch (Throwable refused) {
      transaction.rollback();
      throw refused;
    }
  }

  /** An index that was declared after this write began has no entry of the former row. */
  private void keepNew(
      Transaction transaction, List<Maintained<V>> kept, byte[] key, @Nullable V after) {
    for (Maintained<V> index : indexes.since(kept)) {
      demandFirstWriter(transaction);
      Maintained.Change change = index.change(null, after);
      change.demandUnique(transaction, key);
      change.write(transaction, key);
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
    V before = get(transaction, bytes);
    if (before == null) {
      change(transaction, bytes, null, value, stored);
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
    V before = get(transaction, bytes);
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
    V before = get(transaction, bytes);
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
    V before = get(transaction, bytes);
    V after = change.apply(key, before);
    if (after != null) {
      change(transaction, bytes, before, after, valueBytes(key, after));
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
    if (indexes.toWrite().isEmpty()) {
      return transaction.delete(table, bytes);
    }
    demandFirstWriter(transaction);
    V before = get(transaction, bytes);
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
    V before = get(transaction, bytes);
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
    V before = get(transaction, bytes);
    if (!expected.equals(before)) {
      return false;
    }
    change(transaction, bytes, before, null, null);
    return true;
  }

  long deleteRange(Transaction transaction, byte @Nullable [] from, byte @Nullable [] to) {
    if (indexes.toWrite().isEmpty()) {
      return transaction.deleteRange(table, from, to);
    }
    demandFirstWriter(transaction);
    long rows = 0;
    Savepoint savepoint = transaction.savepoint();
    try (Cursor cursor = transaction.scan(table, from, to)) {
      while (cursor.next()) {
        byte[] key = cursor.key();
        change(
            transaction, key, value(new ByteReader(cursor.value()), key, key.length), null, null);
        rows++;
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
    IndexShape<I, V> shape = definition.shape();
    if (!shape.isUnique()) {
      KeyCodec<K> _ = keys.asPart(); // which refuses keys that cannot follow another one
    }
    Maintained<V> kept =
        build().declare(name, definition.version(), shape, this::readKey, progress);
    return new Index<>(this, kept, shape.codec(), database.table(IndexCatalog.TABLE));
  }

  private IndexBuild<V> build() {
    return new IndexBuild<>(database, table, this::readValue, indexes);
  }

  private V readValue(byte[] key, byte[] value) {
    return value(new ByteReader(value), key, key.length);
  }

  /** Decodes the key with these bytes. */
  K readKey(byte[] bytes) {
    return key(new ByteReader(bytes), bytes, bytes.length);
  }

  /** Reads the row of a key in bytes. */
  @Nullable Row<K, V> row(Transaction transaction, byte[] key) {
    V value = get(transaction, key);
    return value == null ? null : new Row<>(readKey(key), value);
  }

  /**
   * Drops an index, declared or not. Waits for the transactions that have written to it.
   *
   * @param name its name
   * @return whether there was one
   */
  public boolean dropIndex(String name) {
    return build().drop(name);
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

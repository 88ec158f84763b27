package org.revenantdb.engine;

import java.io.ByteArrayInputStream;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.lang.invoke.ConstantBootstraps;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.lang.ref.Reference;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.access.Misuse;
import org.revenantdb.engine.btree.Tree;
import org.revenantdb.engine.catalog.TableTrees;
import org.revenantdb.engine.overflow.OverflowInput;
import org.revenantdb.engine.overflow.OverflowWriter;
import org.revenantdb.engine.page.KeyBuffer;
import org.revenantdb.engine.page.LeafCell;
import org.revenantdb.engine.serial.SerialReads;
import org.revenantdb.engine.session.Engine;
import org.revenantdb.engine.session.KeptReading;
import org.revenantdb.engine.session.StreamedValue;
import org.revenantdb.engine.session.TransactionCore;
import org.revenantdb.engine.session.TransactionState;
import org.revenantdb.engine.version.GroupRead;
import org.revenantdb.engine.version.MergedScan;
import org.revenantdb.engine.version.Reading;
import org.revenantdb.engine.version.RowBatch;
import org.revenantdb.engine.version.RowConflict;
import org.revenantdb.engine.version.RowRange;
import org.revenantdb.engine.version.RowReader;
import org.revenantdb.engine.version.RowScan;
import org.revenantdb.engine.version.RowWriter;
import org.revenantdb.engine.version.StoredValue;
import org.revenantdb.engine.version.ValueBuffer;

/**
 * A transaction. It reads the database as of its begin, and its own writes. Its writes become
 * visible and durable together, or not at all.
 *
 * <p><b>Isolation.</b> The default is snapshot isolation; {@link TransactionOptions#withIsolation}
 * selects another level. If two transactions write the same row, the first one wins. The second one
 * receives a {@link ConflictException}. With a {@linkplain TransactionOptions#withLockTimeout lock
 * timeout} the second one waits for the end of the first: it continues after a rollback, and
 * receives the exception after a commit. Reads conflict with nothing, with two exceptions for
 * {@link Isolation#SERIALIZABLE} transactions: a read of a row that a {@linkplain #prepare
 * prepared} transaction has written, and the validation at the commit.
 *
 * <p>There is one false conflict. A transaction first writes long after its begin, and many rows of
 * the table were deleted in between. It can then receive a conflict for a row that no other
 * transaction has written. {@link Database#run} repeats it.
 *
 * <p><b>Failures.</b> A statement that throws has changed nothing; the description of the exception
 * says whether the transaction can go on. All calls throw {@link DatabaseStoppedException} after
 * the log has failed.
 *
 * <p><b>Durability.</b> A call of a {@link Durability#DURABLE} transaction may wait for the disk if
 * its result depends on a commit that is not durable yet.
 *
 * <p><b>Tables.</b> A table that was dropped before the begin throws {@link CatalogException}. The
 * first write to a table is a conflict if another transaction is dropping or truncating it, or has
 * truncated it since the begin. The use of a table that was created since the begin is a conflict
 * as well.
 *
 * <p><b>Threads.</b> A transaction can move from thread to thread, but two threads must not use it
 * at the same time: the second one receives {@link TransactionStateException.Reason#IN_USE}. An
 * interrupt does not disturb a call, and the thread stays interrupted. A transaction that is never
 * ended is rolled back and reported.
 */
public final class Transaction implements AutoCloseable {
  private static final int MAX_ARRAY = Integer.MAX_VALUE - 8;

  /** Leaves of a range that are visited before other threads may close or check the database. */
  private static final int LEAVES_AT_ONCE = 64;

  private static final VarHandle WORD =
      ConstantBootstraps.fieldVarHandle(
          MethodHandles.lookup(), "word", VarHandle.class, Transaction.class, Object.class);

  /*
   * Word        null             open and not used yet: it has only this object and its slot
   *             TransactionCore  used; the core has the state
   *             State            it ended without being used
   *
   * Transitions null -> core     CAS  with the first use, by its user; or by the sweep, if it stays open
   *             null -> State    CAS  by its user, at commit or rollback; or by the close of the database
   *
   * So without a core exactly one thread frees the slot: the one that has set the State. With a core the end of the
   * core frees it. No other thread has seen a core that lost the CAS.
   *
   * Why         A transaction that is begun and ended without use costs only this object
   *             (protocols.md §38).
   */
  private final Engine engine;

  private final int slot;
  private final long snapshot;
  private final TransactionOptions options;

  private volatile @Nullable Object word;

  /** The savepoints that have not ended, the earliest first; most transactions have none. */
  private List<Savepoint> savepoints = List.of();

  /** What libraries have added to it; most transactions have nothing. */
  private @Nullable Additions additions;

  /** In an object of its own, so that a transaction without it is no larger. */
  private static final class Additions {
    /** Run as the last part of the transaction. One of them can add another. */
    final List<Runnable> beforeCommit = new ArrayList<>();

    final List<Runnable> afterCommit = new ArrayList<>();
    final Map<Object, Object> attachments = new HashMap<>(4);

    /** What an action before the commit has thrown. */
    @Nullable RuntimeException ofAction;
  }

  /**
   * A transaction that takes over an open slot.
   *
   * @param begun the stack that began it, or null without leak traces
   * @param reads what it has read; null unless it is serializable
   */
  Transaction(
      Engine engine,
      int slot,
      TransactionOptions options,
      @Nullable Throwable begun,
      @Nullable SerialReads reads) {
    this.engine = engine;
    this.slot = slot;
    this.snapshot = engine.snapshots().snapshot(slot);
    this.options = options;
    if (begun != null || reads != null) {
      word = new TransactionCore(engine, slot, snapshot, options, begun, reads);
    }
    engine.open().begin(slot, this);
  }

  /**
   * The id of this transaction, as {@link ConflictException}, {@link LeakedTransaction} and {@link
   * OldestSnapshot} report it. The order of ids is not the order of begins or commits. Any thread
   * may call this at any time, even after the end of the transaction.
   *
   * @return the id; 0 before the first attempt to write
   */
  public long id() {
    try {
      TransactionCore used = usedCore();
      return used == null ? 0 : used.id();
    } catch (RuntimeException failure) {
      throw told(failure);
    }
  }

  /**
   * The options of this transaction. Any thread may call this at any time, even after the end of
   * the transaction.
   *
   * @return the options it was begun with; {@link TransactionOptions#durability} is that of the
   *     database if they left it open
   */
  public TransactionOptions options() {
    return options;
  }

  /**
   * The number of this attempt of {@link Database#run}.
   *
   * @return 1 for the first attempt, and for a transaction that {@code begin} has returned
   */
  public int attempt() {
    try {
      return core().attempt();
    } catch (RuntimeException failure) {
      throw told(failure);
    }
  }

  /**
   * The conflict with which the attempt before this one failed.
   *
   * @return the conflict, or null in the first attempt
   */
  public @Nullable ConflictException lastConflict() {
    try {
      return core().previousConflict();
    } catch (RuntimeException failure) {
      throw told(failure);
    }
  }

  /** Name, id, isolation and state, for messages and debuggers; does not change the transaction. */
  @Override
  public String toString() {
    StringBuilder text = new StringBuilder("Transaction[");
    if (options.name() != null) {
      text.append('"').append(options.name()).append("\", ");
    }
    Object used = word;
    boolean isOpen = used == null || (used instanceof TransactionCore core && core.isOpen());
    long id = used instanceof TransactionCore core ? core.id() : 0;
    return text.append(id == 0 ? "nothing written" : "id " + id)
        .append(", ")
        .append(options.isolation())
        .append(isOpen ? ", open]" : ", ended]")
        .toString();
  }

  /** Its name from the options; null if it has none. */
  @Nullable String name() {
    return options.name();
  }

  /**
   * The part of the transaction that outlives this object, so that a leaked transaction can still
   * be rolled back.
   */
  TransactionCore core() {
    return word instanceof TransactionCore core ? core : makeCore();
  }

  private TransactionCore makeCore() {
    Object found = word;
    if (found == null) {
      TransactionCore made = new TransactionCore(engine, slot, snapshot, options, null, null);
      found = WORD.compareAndExchange(this, null, made);
      if (found == null) {
        return made;
      }
    }
    return found instanceof TransactionCore core
        ? core
        : TransactionCore.ended(engine, slot, snapshot, options, (TransactionState.State) found);
  }

  /** Its core, if it was used; otherwise it holds only its slot. */
  @Nullable TransactionCore usedCore() {
    return word instanceof TransactionCore core ? core : null;
  }

  /** Its core, which can be ended without this object; null if the transaction has ended. */
  @Nullable TransactionCore openCore() {
    TransactionCore core = core();
    return core.isOpen() ? core : null;
  }

  /** The database is being closed, and no thread is inside this transaction. */
  void databaseCloses() {
    if (!endsUnused(TransactionState.State.CLOSED)) {
      TransactionCore used = usedCore();
      if (used != null) {
        used.databaseCloses();
      }
    }
  }

  /** Ends it if it was not used yet; otherwise returns false. */
  private boolean endsUnused(TransactionState.State state) {
    if (word != null || !WORD.compareAndSet(this, null, state)) {
      return false;
    }
    engine.open().end(slot);
    engine.snapshots().close(slot);
    return true;
  }

  /**
   * Returns the value of a key.
   *
   * @param table a table of this database
   * @param key 1 to {@link Database#MAX_KEY_BYTES} bytes
   * @return a copy, or null if there is no such row
   * @throws ConflictException if the table is too new, or, in a serializable transaction, if a
   *     prepared transaction has written the row
   * @throws LimitException with {@link LimitException.Reason#VALUE_LENGTH} if the value does not
   *     fit in an array; use {@link #open}
   */
  public byte @Nullable [] get(Table table, byte[] key) {
    Objects.requireNonNull(table, "table must not be null");
    checkKey(key);
    try {
      beginStatement();
      StoredValue value = read(table, key);
      return value == null ? null : value.isOverflow() ? materialise(value) : value.bytes();
    } catch (RuntimeException failure) {
      throw told(failure);
    }
  }

  /**
   * Copies the value of a key into an array of the caller. Allocates nothing.
   *
   * @param table a table of this database
   * @param key 1 to {@link Database#MAX_KEY_BYTES} bytes
   * @param into receives the value, or its beginning if the array is too short
   * @param offset where the value begins in the array
   * @return the length of the value, which may be more than was copied; -1 if there is no such row.
   *     The array may change even if there is none
   * @throws ConflictException as {@link #get(Table, byte[])}
   * @throws LimitException with {@link LimitException.Reason#VALUE_LENGTH} if the value is longer
   *     than the longest array; use {@link #open}
   */
  public int get(Table table, byte[] key, byte[] into, int offset) {
    Objects.requireNonNull(table, "table must not be null");
    checkKey(key);
    Objects.checkFromIndexSize(offset, 0, into.length);
    try {
      beginStatement();
      Tree tree = treeToRead(table, key);
      int length;
      try {
        length = core().read(tree, key, into, offset);
      } finally {
        Reference.reachabilityFence(this);
      }
      return length != RowReader.LATCHED ? length : getSlowly(tree, key, into, offset);
    } catch (RuntimeException failure) {
      throw told(failure);
    }
  }

  /**
   * Returns the values of several keys, as one statement. Keys that lie close to each other in the
   * table are read together. That is faster than a {@code get} for each, especially if the keys are
   * in ascending order.
   *
   * @param table a table of this database
   * @param keys each 1 to {@link Database#MAX_KEY_BYTES} bytes, in any order; a key may occur
   *     several times
   * @return for each key, in the order of the keys, a copy of its value, or null if there is no
   *     such row
   * @throws ConflictException as {@link #get(Table, byte[])}
   * @throws LimitException with {@link LimitException.Reason#VALUE_LENGTH} if a value does not fit
   *     in an array; use {@link #open} for that key. With {@link LimitException.Reason#KEY_LENGTH}
   *     if the keys together have more bytes than a {@link KeyBatch} takes
   */
  public List<byte @Nullable []> getAll(Table table, List<byte[]> keys) {
    KeyBatch batch = new KeyBatch();
    for (byte[] key : keys) {
      batch.add(key);
    }
    List<byte @Nullable []> found = new ArrayList<>(batch.size());
    for (int i = 0; i < batch.size(); i++) {
      found.add(null);
    }
    ValueBuffer values = batch.values();
    visitAll(table, batch, (index, place) -> found.set(index, values.toArray(place)));
    return found;
  }

  /**
   * Reads the rows of several keys, as one statement, and passes them to a visitor in the order of
   * the table. That is faster than {@link #getAll(Table, List)}: neither a key nor a value needs an
   * array of its own.
   *
   * <p>The visitor is called when all rows have been read, by the thread of the caller. It may use
   * the transaction, but not the batch. What it throws is passed on.
   *
   * @param table a table of this database
   * @param keys the keys, in any order; a key that was added several times is visited as often
   * @param visitor receives the rows that exist
   * @throws ConflictException as {@link #get(Table, byte[])}
   * @throws LimitException with {@link LimitException.Reason#VALUE_LENGTH} if a value does not fit
   *     in an array; use {@link #open} for that key
   */
  public void getAll(Table table, KeyBatch keys, ValueVisitor visitor) {
    Objects.requireNonNull(table, "table must not be null");
    Objects.requireNonNull(keys, "keys must not be null");
    Objects.requireNonNull(visitor, "visitor must not be null");
    ValueBuffer values = keys.values();
    visitAll(
        table,
        keys,
        (index, place) -> {
          StoredValue other = values.other(place);
          if (other != null) {
            visitor.value(index, other.bytes(), 0, other.bytes().length);
          } else {
            visitor.value(index, values.array(place), values.offset(place), values.length(place));
          }
        });
  }

  /** Receives the number of a key, and the place of its value in the buffer of the batch. */
  private interface PlaceVisitor {
    void row(int index, int place);
  }

  private void visitAll(Table table, KeyBatch keys, PlaceVisitor visitor) {
    keys.begin();
    try {
      readAll(table, keys);
      KeyBuffer order = keys.keys();
      ValueBuffer values = keys.values();
      for (int place = 0; place < order.size(); place++) {
        if (values.exists(place)) {
          visitor.row(order.at(place), place);
        }
      }
    } finally {
      keys.end();
    }
  }

  private void readAll(Table table, KeyBatch keys) {
    try {
      beginStatement();
      GroupRead read = readOf(table, keys);
      while (read.hasMore()) {
        inside(() -> {
          read.readSome();
          return null;
        });
      }
      ValueBuffer values = keys.values();
      if (values.hasOthers()) {
        for (int place = 0; place < keys.size(); place++) {
          StoredValue other = values.other(place);
          if (other != null && other.isOverflow()) {
            values.replace(place, new StoredValue(0, materialise(other)));
          }
        }
      }
    } catch (RuntimeException failure) {
      throw told(failure);
    }
  }

  private GroupRead readOf(Table table, KeyBatch keys) {
    Reading reading = core().reading();
    TableTrees trees = core().trees(table, reading.snapshot());
    if (core().notesReads()) {
      note(reads -> {
        for (int i = 0; i < keys.size(); i++) {
          reads.read(trees.all(), keys.key(i));
        }
      });
    }
    Engine session = core().engine();
    return new GroupRead(
        session.storage(),
        session.reader(),
        reading,
        trees.all(),
        trees::of,
        keys.keys(),
        keys.values());
  }

  private int getSlowly(Tree tree, byte[] key, byte[] into, int offset) {
    StoredValue value = read(tree, key);
    return value == null ? RowReader.NO_ROW : copy(value, into, offset);
  }

  /** Copies as much of a value as fits; returns the length of the value. */
  int copy(StoredValue value, byte[] into, int offset) {
    if (value.length() > MAX_ARRAY) {
      throw tooLargeForArray(value);
    }
    int count = (int) Math.min(value.length(), into.length - offset);
    if (value.isOverflow()) {
      inside(() -> {
        overflow(value).readPages(into, offset, count);
        return null;
      });
    } else {
      System.arraycopy(value.bytes(), 0, into, offset, count);
    }
    return (int) value.length();
  }

  /**
   * Returns whether there is a row with this key.
   *
   * @param table a table of this database
   * @param key 1 to {@link Database#MAX_KEY_BYTES} bytes
   * @return true if there is one
   * @throws ConflictException as {@link #get(Table, byte[])}
   */
  public boolean exists(Table table, byte[] key) {
    Objects.requireNonNull(table, "table must not be null");
    checkKey(key);
    try {
      beginStatement();
      return read(table, key) != null;
    } catch (RuntimeException failure) {
      throw told(failure);
    }
  }

  /**
   * Returns the value of a key as a stream, for values that do not fit in memory.
   *
   * @param table a table of this database
   * @param key 1 to {@link Database#MAX_KEY_BYTES} bytes
   * @return a stream, or null if there is no such row. It is valid until the transaction ends. A
   *     {@link Isolation#READ_COMMITTED} transaction must close it
   * @throws ConflictException as {@link #get(Table, byte[])}
   */
  public @Nullable InputStream open(Table table, byte[] key) {
    Objects.requireNonNull(table, "table must not be null");
    checkKey(key);
    try {
      KeptReading kept = keepReading(); // before anything is looked up in it
      try {
        Reading reading = readingOf(kept);
        Tree tree = treeToRead(table, key, reading);
        StoredValue value = inside(() -> core().engine().reader().read(tree, key, reading));
        return value == null ? null : stream(value, kept);
      } finally {
        letGo(kept);
      }
    } catch (RuntimeException failure) {
      throw told(failure);
    }
  }

  private Reading readingOf(@Nullable KeptReading kept) {
    return kept == null ? core().reading() : kept.reading();
  }

  private @Nullable KeptReading keepReading() {
    try {
      return core().keepReading();
    } finally {
      Reference.reachabilityFence(this);
    }
  }

  /** The call that used the transaction has ended. */
  void letGo(@Nullable KeptReading kept) {
    try {
      core().letGo(kept);
    } finally {
      Reference.reachabilityFence(this);
    }
  }

  /** The engine of its database. */
  Engine engine() {
    return engine;
  }

  /** What a caller gets of a failure. */
  @SuppressWarnings("ReferenceEquality") // whether it is the one that an action has thrown
  RuntimeException told(RuntimeException failure) {
    Additions added = additions;
    return added != null && failure == added.ofAction ? failure : engine.told(failure);
  }

  private void beginStatement() {
    try {
      core().beginStatement();
    } finally {
      Reference.reachabilityFence(this);
    }
  }

  private void beginStatement(Table table) {
    try {
      core().beginStatement(table);
    } finally {
      Reference.reachabilityFence(this);
    }
  }

  private @Nullable StoredValue read(Table table, byte[] key) {
    return read(treeToRead(table, key), key);
  }

  private @Nullable StoredValue read(Tree tree, byte[] key) {
    return inside(() -> core().engine().reader().read(tree, key, core().reading()));
  }

  /**
   * Stores a row. Replaces the value if the key exists.
   *
   * @param table a table of this database
   * @param key 1 to {@link Database#MAX_KEY_BYTES} bytes
   * @param value at most {@link Database#MAX_VALUE_BYTES} bytes
   * @throws ConflictException if another transaction wrote the row first, or changed the table;
   *     {@link ConflictReason} has the cases
   */
  public void put(Table table, byte[] key, byte[] value) {
    Objects.requireNonNull(table, "table must not be null");
    checkKey(key);
    Objects.requireNonNull(value, "value must not be null");
    StreamedValue.checkLength(engine.maxValueBytes, value.length);
    try {
      beginStatement(table);
      Tree tree = treeOf(table, key);
      put(table, tree, key, value);
    } catch (RuntimeException failure) {
      throw told(failure);
    }
  }

  private void put(Table table, Tree tree, byte[] key, byte[] value) {
    if (value.length <= LeafCell.maxInlineValue(key.length)) {
      write(table, writer -> writer.put(tree, core().id(), core().snapshot(), key, value));
    } else {
      putLarge(table, tree, key, value);
    }
  }

  private void putLarge(Table table, Tree tree, byte[] key, byte[] value) {
    boolean[] isStored = new boolean[1]; // once, however often the row is waited for
    int pagesBefore = engine.filePages();
    try {
      write(
          table,
          writer -> {
            if (!isStored[0]) {
              writer.overflow().writeWhole(core().id(), value);
              isStored[0] = true;
            }
            return writer.putOverflow(tree, core().id(), core().snapshot(), key, writer.overflow());
          });
    } catch (Throwable refusal) {
      engine.giveBackRefused(pagesBefore, refusal);
      throw refusal;
    }
  }

  /** Runs a statement whose writer reports conflicts. */
  private RowWriter.Outcome write(Table table, Function<RowWriter, RowWriter.Outcome> statement) {
    return write(table, null, statement, TransactionCore.NOTHING_READ);
  }

  /** Like {@link TransactionCore#write}. The transaction does not count as leaked meanwhile. */
  RowWriter.Outcome write(
      Table table,
      @Nullable RowConflict met,
      Function<RowWriter, RowWriter.Outcome> statement,
      TransactionCore.Renewal renewal) {
    try {
      return core().write(table, met, statement, renewal);
    } finally {
      Reference.reachabilityFence(this);
    }
  }

  /**
   * Locks a row without changing it. To other transactions it looks as if this transaction had
   * written the current value again; a large value is copied for that. A row that does not exist
   * cannot be locked, and another transaction may insert it.
   *
   * @param table a table of this database
   * @param key 1 to {@link Database#MAX_KEY_BYTES} bytes
   * @return a copy of the value, or null if there is no such row; nothing is locked then
   * @throws ConflictException if another transaction wrote the row first, or changed the table;
   *     {@link ConflictReason} has the cases
   * @throws LimitException with {@link LimitException.Reason#VALUE_LENGTH} if the value does not
   *     fit in an array
   */
  public byte @Nullable [] lockForUpdate(Table table, byte[] key) {
    Objects.requireNonNull(table, "table must not be null");
    checkKey(key);
    try {
      core().demandWrites();
      if (core().readsCommitted()) {
        return lockNewest(table, key);
      }
      Tree tree = treeOf(table, key);
      byte[] value = get(table, key); // no later one can be locked, but for the transaction's own
      if (value != null) {
        lock(table, tree, key, value);
      }
      return value;
    } catch (RuntimeException failure) {
      throw told(failure);
    }
  }

  private void lock(Table table, Tree tree, byte[] key, byte[] value) {
    try {
      put(table, tree, key, value);
    } catch (ConflictException conflict) {
      conflict.isOfLock();
      throw conflict;
    }
  }

  private byte @Nullable [] lockNewest(Table table, byte[] key) {
    beginStatement(table);
    LockedRow row = new LockedRow(treeOf(table, key), key);
    inside(() -> {
      row.run();
      return null;
    });
    if (row.value != null) {
      try {
        write(table, null, row::write, row);
      } catch (ConflictException conflict) {
        conflict.isOfLock();
        throw conflict;
      }
    }
    return row.value;
  }

  /**
   * The locked value is the one that was read last. If another transaction wrote the row in
   * between, it is read again.
   */
  private final class LockedRow implements TransactionCore.Renewal {
    private final Tree tree;
    private final byte[] key;
    private byte @Nullable [] value;

    /** A large value is stored once, after it was read. */
    private boolean isStored;

    LockedRow(Tree tree, byte[] key) {
      this.tree = tree;
      this.key = key;
    }

    @Override
    public void run() {
      StoredValue newest = core().engine().reader().read(tree, key, core().reading());
      value = newest == null ? null : materialiseInside(newest);
      isStored = false;
    }

    RowWriter.Outcome write(RowWriter writer) {
      byte[] read = value;
      if (read == null) {
        return RowWriter.Outcome.NOTHING;
      }
      if (read.length <= LeafCell.maxInlineValue(key.length)) {
        return writer.put(tree, core().id(), core().snapshot(), key, read);
      }
      if (!isStored) {
        writer.overflow().writeWhole(core().id(), read);
        isStored = true;
      }
      return writer.putOverflow(tree, core().id(), core().snapshot(), key, writer.overflow());
    }
  }

  /**
   * Stores a row with a value from a stream. Reads the stream to its end and does not close it.
   *
   * @param table a table of this database
   * @param key 1 to {@link Database#MAX_KEY_BYTES} bytes
   * @param value at most {@link Database#MAX_VALUE_BYTES} bytes
   * @throws ConflictException if another transaction wrote the row first, or changed the table;
   *     {@link ConflictReason} has the cases
   * @throws LimitException with {@link LimitException.Reason#VALUE_LENGTH} if the stream is longer
   *     than a value can be. The row is unchanged, and the pages of the value are free again
   * @throws IOException if the stream throws it; the row is unchanged, as above
   */
  public void put(Table table, byte[] key, InputStream value) throws IOException {
    Objects.requireNonNull(table, "table must not be null");
    checkKey(key);
    Objects.requireNonNull(value, "value must not be null");
    demandWritable(table, key); // a refusal comes before the stream is touched
    StreamedValue.demandShort(engine, value);
    byte[] chunk = value.readNBytes(OverflowWriter.CHUNK);
    if (chunk.length < OverflowWriter.CHUNK) {
      put(table, key, chunk);
      return;
    }
    // This statement has a writer of its own, because the user's stream may use this transaction
    // while it is read.
    OverflowWriter overflow =
        StreamedValue.write(
            engine,
            chunk,
            value,
            () -> {
              OverflowWriter fresh = core().writer(table).newOverflowWriter();
              fresh.begin(core().id());
              return fresh;
            },
            this::toldInside);
    putStreamed(table, key, overflow);
  }

  private void demandWritable(Table table, byte[] key) {
    try {
      beginStatement(table);
      treeOf(table, key);
    } catch (RuntimeException failure) {
      throw told(failure);
    }
  }

  /** Like {@link #inside}, for a step between two pieces of the user's code. */
  private <T extends @Nullable Object> T toldInside(Supplier<T> step) {
    try {
      return inside(step);
    } catch (RuntimeException failure) {
      throw told(failure);
    }
  }

  private void putStreamed(Table table, byte[] key, OverflowWriter overflow) {
    try {
      write(
          table,
          writer -> {
            Tree tree =
                treeOf(table, key); // of what the key is now: reading the stream may change it
            return writer.putOverflow(tree, core().id(), core().snapshot(), key, overflow);
          });
    } catch (RuntimeException failure) {
      throw told(failure);
    }
  }

  /**
   * Deletes a row.
   *
   * @param table a table of this database
   * @param key 1 to {@link Database#MAX_KEY_BYTES} bytes
   * @return whether the row existed
   * @throws ConflictException if another transaction wrote the row first, or changed the table;
   *     {@link ConflictReason} has the cases
   */
  public boolean delete(Table table, byte[] key) {
    Objects.requireNonNull(table, "table must not be null");
    checkKey(key);
    try {
      beginStatement(table);
      Tree tree = treeToRead(table, key);
      return write(table, writer -> delete(writer, tree, key)) == RowWriter.Outcome.DONE;
    } catch (RuntimeException failure) {
      throw told(failure);
    }
  }

  private RowWriter.Outcome delete(RowWriter writer, Tree tree, byte[] key) {
    RowWriter.Outcome outcome = writer.delete(tree, core().id(), core().snapshot(), key);
    if (outcome != RowWriter.Outcome.CONFLICT) {
      core().witness().saw(writer.metLsn());
    }
    return outcome;
  }

  /**
   * Counts the rows of a range. Reads no value and keeps nothing in memory, so the range can have
   * any size.
   *
   * @param table a table of this database
   * @param from first key, inclusive; null for the first
   * @param to last key, exclusive; null for after the last
   * @return the number of rows
   * @throws ConflictException as {@link #get(Table, byte[])}
   */
  public long count(Table table, byte @Nullable [] from, byte @Nullable [] to) {
    Objects.requireNonNull(table, "table must not be null");
    try {
      beginStatement();
      List<RowRange> ranges = ranges(table, from, to, core().reading());
      checkOpen();
      long rows = 0;
      for (RowRange range : ranges) {
        while (range.hasMore()) {
          rows +=
              inside(() -> {
                long some = 0;
                for (int leaf = 0; leaf < LEAVES_AT_ONCE && range.hasMore(); leaf++) {
                  some += range.count();
                }
                return some;
              });
        }
      }
      return rows;
    } catch (RuntimeException failure) {
      throw told(failure);
    }
  }

  /**
   * Deletes all rows of a range that this transaction sees. Rows that other transactions insert
   * meanwhile stay.
   *
   * <p>Each row is a change of its own in the log, and the range can have any size. The statement
   * first checks all rows for conflicts. If it finds one, nothing has changed, and the transaction
   * can go on. After an exception during the deletion itself, the transaction can only be rolled
   * back, as a whole or to a savepoint: half a statement must not be committed.
   *
   * @param table a table of this database
   * @param from first key, inclusive; null for the first
   * @param to last key, exclusive; null for after the last
   * @return number of deleted rows
   * @throws ConflictException if another transaction wrote one of the rows first, or changed the
   *     table; {@link ConflictReason} has the cases
   */
  public long deleteRange(Table table, byte @Nullable [] from, byte @Nullable [] to) {
    Objects.requireNonNull(table, "table must not be null");
    try {
      return deleteRange(table, from, to, () -> {});
    } catch (RuntimeException failure) {
      throw told(failure);
    }
  }

  /** For tests: runs between the check of all rows and their deletion. */
  long deleteRange(
      Table table, byte @Nullable [] from, byte @Nullable [] to, Runnable beforeDeletion) {
    beginStatement(table);
    KeptReading kept = keepReading(); // it may have to see later ones before it ends
    try {
      return deleteRange(table, from, to, readingOf(kept), beforeDeletion);
    } finally {
      letGo(kept);
    }
  }

  private long deleteRange(
      Table table,
      byte @Nullable [] from,
      byte @Nullable [] to,
      Reading reading,
      Runnable beforeDeletion) {
    List<RowRange> looks = ranges(table, from, to, reading);
    List<RowRange> ranges = ranges(table, from, to, reading);
    inside(() -> core().writer(table));
    looks.forEach(range -> refuseConflicts(table, range));
    beforeDeletion.run();
    long rows = 0;
    try {
      for (RowRange range : ranges) {
        while (range.hasMore()) {
          rows += deleteLeaf(table, range);
        }
      }
    } catch (Throwable failure) {
      core().spoil("a deleteRange of this transaction failed half way");
      throw failure;
    }
    return rows;
  }

  private void refuseConflicts(Table table, RowRange range) {
    while (range.hasMore()) {
      write(
          table,
          range,
          writer -> {
            for (int leaf = 0; leaf < LEAVES_AT_ONCE && range.hasMore(); leaf++) {
              if (range.findConflict(/* ofCommitted= */ !core().readsCommitted())) {
                return RowWriter.Outcome.CONFLICT;
              }
            }
            return RowWriter.Outcome.DONE;
          },
          TransactionCore.NOTHING_READ);
    }
  }

  private long deleteLeaf(Table table, RowRange range) {
    Deque<byte[]> keys = new ArrayDeque<>();
    long[] rows = new long[1];
    write(
        table,
        writer -> {
          if (keys.isEmpty()) {
            keys.addAll(range.keys());
          }
          for (byte[] key = keys.peek(); key != null; key = keys.peek()) {
            RowWriter.Outcome outcome = delete(writer, range.tree(), key);
            if (outcome == RowWriter.Outcome.CONFLICT) {
              return outcome; // it is the first one when this goes on
            }
            rows[0] += outcome == RowWriter.Outcome.DONE ? 1 : 0;
            keys.remove();
          }
          return RowWriter.Outcome.DONE;
        });
    return rows[0];
  }

  /** Returns the tree of a key, for a write. */
  private Tree treeOf(Table table, byte[] key) {
    return core().trees(table).of(key);
  }

  /** Returns the tree of a key, for a read. */
  private Tree treeToRead(Table table, byte[] key) {
    return treeToRead(table, key, core().reading());
  }

  private Tree treeToRead(Table table, byte[] key, Reading reading) {
    TableTrees trees = core().trees(table, reading.snapshot());
    if (core().notesReads()) {
      note(reads -> reads.read(trees.all(), key));
    }
    return trees.of(key);
  }

  private void note(Consumer<SerialReads> what) {
    try {
      core().note(what);
    } finally {
      Reference.reachabilityFence(this);
    }
  }

  private List<Tree> treesOf(Table table, Reading reading) {
    return core().trees(table, reading.snapshot()).all();
  }

  /** Returns the ranges in each tree of the table, for a read of all rows in them. */
  private List<RowRange> ranges(
      Table table, byte @Nullable [] from, byte @Nullable [] to, Reading reading) {
    Engine engine = core().engine();
    List<Tree> trees = treesOf(table, reading);
    byte[] first = from == null ? null : from.clone();
    byte[] end = to == null ? null : to.clone();
    if (core().notesReads()) {
      note(reads -> reads.read(trees, first, end));
    }
    List<RowRange> ranges = new ArrayList<>(trees.size());
    for (Tree tree : trees) {
      ranges.add(new RowRange(engine.storage(), engine.reader(), tree, reading, first, end));
    }
    return ranges;
  }

  /**
   * Opens a cursor over the rows of a range in key order.
   *
   * @param table a table of this database
   * @param from first key, inclusive; null for the first
   * @param to last key, exclusive; null for after the last
   * @return a cursor before the first row
   * @throws ConflictException if the table was created after this transaction began
   */
  public Cursor scan(Table table, byte @Nullable [] from, byte @Nullable [] to) {
    Objects.requireNonNull(table, "table must not be null");
    try {
      return cursor(table, from, to, /* descending= */ false);
    } catch (RuntimeException failure) {
      throw told(failure);
    }
  }

  /**
   * Opens a cursor over the rows of a range in reverse key order.
   *
   * @param table a table of this database
   * @param from first key, inclusive; null for the first
   * @param to last key, exclusive; null for after the last
   * @return a cursor after the last row
   * @throws ConflictException if the table was created after this transaction began
   */
  public Cursor scanDescending(Table table, byte @Nullable [] from, byte @Nullable [] to) {
    Objects.requireNonNull(table, "table must not be null");
    try {
      return cursor(table, from, to, /* descending= */ true);
    } catch (RuntimeException failure) {
      throw told(failure);
    }
  }

  private Cursor cursor(
      Table table, byte @Nullable [] from, byte @Nullable [] to, boolean descending) {
    KeptReading kept = keepReading(); // before anything is looked up in it
    Reading reading = readingOf(kept);
    List<Tree> trees;
    try {
      trees = treesOf(table, reading);
      checkOpen();
    } catch (Throwable refused) {
      letGo(kept);
      throw refused;
    }
    return new Cursor(
        this,
        kept,
        core().notesReads() ? (first, end) -> note(reads -> reads.read(trees, first, end)) : null,
        trees.size() == 1
            ? (first, end) -> scan(trees.getFirst(), reading, first, end, descending)
            : merged(trees, reading, descending),
        descending,
        from == null ? null : from.clone(),
        to == null ? null : to.clone());
  }

  private Cursor.Range merged(List<Tree> trees, Reading reading, boolean descending) {
    RowBatch[] batches = MergedScan.batches(trees.size()); // the cursor has one scan at a time
    return (first, end) -> {
      List<RowScan> scans = new ArrayList<>(trees.size());
      for (Tree tree : trees) {
        scans.add(scan(tree, reading, first, end, descending));
      }
      return new MergedScan(scans, batches, descending);
    };
  }

  private RowScan scan(
      Tree tree,
      Reading reading,
      byte @Nullable [] from,
      byte @Nullable [] to,
      boolean descending) {
    Engine engine = core().engine();
    return new RowScan(engine.storage(), engine.reader(), tree, reading, descending, from, to);
  }

  /**
   * Creates an ordinary table as part of this transaction. Other transactions see the table after
   * the commit. After a rollback it never existed.
   *
   * @param name 1 to {@link Database#MAX_KEY_BYTES} bytes of UTF-8
   * @return the table; before the commit only this transaction can use it
   * @throws CatalogException with {@link CatalogException.Reason#EXISTS} if a table of that name
   *     exists, or if this transaction has dropped one
   * @throws ConflictException if another open transaction has created, dropped or truncated a table
   *     of that name
   * @throws IllegalStateException if this transaction has a savepoint
   */
  public Table createTable(String name) {
    return createTable(name, TableOptions.defaults());
  }

  /**
   * Creates a table with options, as {@link #createTable(String)} does.
   *
   * @param name 1 to {@link Database#MAX_KEY_BYTES} bytes of UTF-8
   * @param options options of the table; they never change
   * @return the table; before the commit only this transaction can use it
   * @throws CatalogException with {@link CatalogException.Reason#EXISTS} if a table of that name
   *     exists, or if this transaction has dropped one
   * @throws ConflictException if another open transaction has created, dropped or truncated a table
   *     of that name
   * @throws IllegalStateException if this transaction has a savepoint
   */
  public Table createTable(String name, TableOptions options) {
    Objects.requireNonNull(name, "name must not be null");
    Objects.requireNonNull(options, "options must not be null");
    try {
      return core().createTable(name, options);
    } catch (RuntimeException failure) {
      throw told(failure);
    } finally {
      Reference.reachabilityFence(this);
    }
  }

  /**
   * Drops a table as part of this transaction. Until the commit other transactions can read the
   * table, but cannot begin to write to it. After a rollback the table is as it was. The time does
   * not depend on the size of the table. Its pages are freed after the commit, when all
   * transactions that began before have ended. A table that this transaction has created is gone at
   * once, and its name is free.
   *
   * <p>The call waits, without a time limit, for the transactions that have written to the table.
   * Rows that they commit are dropped as well, even though this transaction does not see them.
   *
   * @param table a table of this database
   * @throws CatalogException with {@link CatalogException.Reason#DROPPED} if it was dropped already
   * @throws ConflictException if it was truncated after this transaction began
   * @throws CatalogException with {@link CatalogException.Reason#IN_USE} if a prepared transaction
   *     or another open transaction of this thread has written to it, or if two transactions would
   *     wait for each other
   * @throws IllegalStateException if this transaction has a savepoint
   */
  public void dropTable(Table table) {
    Objects.requireNonNull(table, "table must not be null");
    try {
      core().dropTable(table);
    } catch (RuntimeException failure) {
      throw told(failure);
    } finally {
      Reference.reachabilityFence(this);
    }
  }

  /**
   * Removes all rows of a table as part of this transaction. The table receives new, empty pages,
   * so the time does not depend on the number of rows. Until the commit other transactions can read
   * the rows, but cannot begin to write to the table. After a rollback all rows are there. The
   * {@link Table} stays the same. An open cursor of this transaction still returns the former rows.
   *
   * <p>The call waits, without a time limit, for the transactions that have written to the table.
   * Rows that they commit are removed as well, even though this transaction does not see them.
   *
   * @param table a table of this database
   * @throws CatalogException with {@link CatalogException.Reason#DROPPED} if it was dropped
   * @throws ConflictException if it was truncated after this transaction began
   * @throws CatalogException with {@link CatalogException.Reason#IN_USE} if a prepared transaction
   *     or another open transaction of this thread has written to it, or if two transactions would
   *     wait for each other
   * @throws IllegalStateException if this transaction has a savepoint
   */
  public void truncate(Table table) {
    Objects.requireNonNull(table, "table must not be null");
    try {
      core().truncate(table);
    } catch (RuntimeException failure) {
      throw told(failure);
    } finally {
      Reference.reachabilityFence(this);
    }
  }

  /**
   * Returns the table that has a name now. That includes a table that this transaction has created,
   * and excludes one that it has dropped. The result can be a table that another transaction has
   * created since the begin; its use is a conflict.
   *
   * @param name its name
   * @return the table, or null if there is none of this name
   */
  public @Nullable Table findTable(String name) {
    Objects.requireNonNull(name, "name must not be null");
    try {
      return core().findTable(name);
    } catch (RuntimeException failure) {
      throw told(failure);
    } finally {
      Reference.reachabilityFence(this);
    }
  }

  /**
   * Sets a savepoint. {@link #rollbackTo} undoes the later writes, and the transaction can go on.
   * Savepoints can be nested. While there is a savepoint, the transaction keeps the versions of its
   * own rows that it overwrites. They are in memory up to a bound, and beyond that in a file
   * ({@link DatabaseOptions#versionMemory}).
   *
   * @return the savepoint; it belongs to this transaction
   */
  public Savepoint savepoint() {
    try {
      Savepoint savepoint = new Savepoint(core().savepoint());
      if (savepoints.isEmpty()) {
        savepoints = new ArrayList<>();
      }
      savepoints.add(savepoint);
      return savepoint;
    } catch (RuntimeException failure) {
      throw told(failure);
    }
  }

  /**
   * Undoes all writes after a savepoint. The savepoint stays; later ones end. Other transactions
   * can write the rows again that were first written after the savepoint. The call takes as long as
   * the undone writes did.
   *
   * <p>The transaction can go on, even if a statement after the savepoint has failed half way. If
   * this call throws, the transaction can only be rolled back, as a whole or to an earlier
   * savepoint.
   *
   * @param savepoint a savepoint of this transaction that has not ended
   * @throws IllegalArgumentException if it has ended, or belongs to another transaction
   */
  public void rollbackTo(Savepoint savepoint) {
    Objects.requireNonNull(savepoint, "savepoint must not be null");
    try {
      int index = indexOf(savepoint);
      core().rollbackTo(savepoint.overwritten());
      savepoints.subList(index + 1, savepoints.size()).clear();
    } catch (RuntimeException failure) {
      throw told(failure);
    }
  }

  /**
   * Ends a savepoint and all later ones, and keeps the writes after it.
   *
   * @param savepoint a savepoint of this transaction that has not ended
   * @throws IllegalArgumentException if it has ended, or belongs to another transaction
   */
  public void release(Savepoint savepoint) {
    Objects.requireNonNull(savepoint, "savepoint must not be null");
    try {
      int index = indexOf(savepoint);
      if (index == 0) {
        core().noSavepoint();
      }
      savepoints.subList(index, savepoints.size()).clear();
    } catch (RuntimeException failure) {
      throw told(failure);
    }
  }

  private int indexOf(Savepoint savepoint) {
    for (int i = savepoints.size() - 1; i >= 0; i--) {
      if (savepoint.equals(savepoints.get(i))) {
        return i;
      }
    }
    throw new Misuse.OfArgument(
        "the savepoint has ended, or belongs to another transaction; set another one");
  }

  /**
   * Commits. Returns when the commit is durable. With {@link Durability#LAZY} it returns when the
   * death of the process cannot undo it. That is at once, with two exceptions. The first lazy
   * commit after an open waits until the file {@code revenant.ring} is made. If the disk has no
   * room for that file, lazy commits wait until they are durable.
   *
   * @throws ConflictException with {@link ConflictReason#NOT_SERIALIZABLE} if this transaction is
   *     {@link Isolation#SERIALIZABLE}, and one that has committed or was prepared since has
   *     changed what it has read. It is not committed and can only be rolled back
   * @throws TransactionStateException with {@link TransactionStateException.Reason#FINISHED} if it
   *     has ended, {@link TransactionStateException.Reason#PREPARED} if it is prepared, {@link
   *     TransactionStateException.Reason#ROLLBACK_ONLY} if it can only be rolled back
   * @throws OutcomeUnknownException if the log failed before the commit was durable. A lazy commit
   *     throws it if the log failed before the commit could outlive the process
   */
  public void commit() {
    commit(/* isReserved= */ false);
  }

  /** As {@link #commit}, for a caller that has checked that there is stack. */
  void commitReserved() {
    commit(/* isReserved= */ true);
  }

  private void commit(boolean isReserved) {
    try {
      if (endsUnused(TransactionState.State.COMMITTED)) {
        return;
      }
      try {
        core().commit(lastSteps(), isReserved);
      } finally {
        Reference.reachabilityFence(this);
      }
    } catch (RuntimeException failure) {
      throw told(failure);
    }
    runAfterCommit();
  }

  /**
   * Has something done as the last part of this transaction, in the order of the commits. When the
   * transaction commits, the action runs on the thread that commits, as part of the transaction,
   * and can write. From its begin until the commit has its place among the commits, no other
   * transaction of the database that has such an action does the same. So if actions take numbers,
   * the numbers are in the order in which other transactions see the commits. Waiting for the disk
   * is not part of that time. Several actions run in the order in which they were added.
   *
   * <p>If an action throws, {@link #commit} and {@link #commitAsync} throw that. The transaction
   * has not been committed, is open, and can be rolled back or committed again; then all actions
   * run again. Nothing runs at a rollback, and {@link #rollbackTo} does not take an action back. A
   * transaction with such an action cannot be {@linkplain #prepare prepared}: its place among the
   * commits would be known only later.
   *
   * <p>An action does not wait for rows: one that meets a row of another open transaction receives
   * a {@link ConflictException} at once, whatever the lock timeout. That transaction may be waiting
   * for its own place among the commits.
   *
   * @param action what is done; it is short, because others wait for it. It must not wait for
   *     another thread, and must not begin or end a transaction
   */
  public void beforeCommit(Runnable action) {
    Objects.requireNonNull(action, "action must not be null");
    try {
      core().checkOpen();
    } catch (RuntimeException failure) {
      throw told(failure);
    }
    additions().beforeCommit.add(action);
  }

  private Additions additions() {
    Additions made = additions;
    if (made == null) {
      made = new Additions();
      additions = made;
    }
    return made;
  }

  private boolean hasLastSteps() {
    Additions added = additions;
    return added != null && !added.beforeCommit.isEmpty();
  }

  private @Nullable Runnable lastSteps() {
    return hasLastSteps() ? this::runBeforeCommit : null;
  }

  private void runBeforeCommit() {
    Additions added = additions();
    for (int i = 0; i < added.beforeCommit.size(); i++) { // an action can add another one
      try {
        added.beforeCommit.get(i).run();
      } catch (RuntimeException thrown) {
        added.ofAction = thrown;
        throw thrown;
      }
    }
  }

  /**
   * An object that a library keeps with this transaction, for example what it has counted. It lives
   * as long as this object, is not stored, and {@link #rollbackTo} does not change it.
   *
   * @param key whose object it is; compared by {@code equals}
   * @param first makes the object when there is none for this key
   * @param <T> type of the object
   * @return the object
   */
  @SuppressWarnings("unchecked") // the key is of one library, which gives it one type
  public <T> T attachment(Object key, Supplier<? extends T> first) {
    Map<Object, Object> attachments = additions().attachments;
    Object found = attachments.get(Objects.requireNonNull(key, "key must not be null"));
    if (found == null) {
      found = Objects.requireNonNull(first.get(), "an attachment must not be null");
      attachments.put(key, found);
    }
    return (T) found;
  }

  /**
   * Has something done when this transaction has committed: a cache is told, a waiting thread is
   * woken. The action runs once, on the thread that commits, before {@link #commit} or {@link
   * #commitAsync} returns. By then other transactions see the commit. Several actions run in the
   * order in which they were added.
   *
   * <p>Nothing runs after a rollback, after a commit that throws, or for a {@linkplain #prepare
   * prepared} transaction. {@link #rollbackTo} does not take an action back. If an action throws,
   * the exception is passed to the uncaught exception handler of the thread, because the commit
   * stands. After a crash an action is lost, so do not use it for work that must be done.
   *
   * @param action the action; it can begin other transactions
   */
  public void afterCommit(Runnable action) {
    Objects.requireNonNull(action, "action must not be null");
    try {
      core().checkOpen();
    } catch (RuntimeException failure) {
      throw told(failure);
    }
    additions().afterCommit.add(action);
  }

  /** An exception of the handler must not make a commit look failed. */
  private static void report(Throwable thrown) {
    Thread thread = Thread.currentThread();
    try {
      thread.getUncaughtExceptionHandler().uncaughtException(thread, thrown);
    } catch (Throwable ofHandler) {
      return; // as the virtual machine does
    }
  }

  private void runAfterCommit() {
    Additions added = additions;
    if (added == null) {
      return;
    }
    for (Runnable action : added.afterCommit) {
      try {
        action.run();
      } catch (Throwable thrown) { // the transaction is committed, whatever was thrown
        report(thrown);
      }
    }
  }

  /**
   * Prepares the transaction for a coordinator that decides later. Its rows stay locked, through
   * all crashes and restarts, until {@link Database#commitPrepared} or {@link
   * Database#rollbackPrepared} is called with the name. The preparation is durable on return, and
   * this object has ended. Until the decision, writes of other transactions to its rows are
   * conflicts, and its tables cannot be dropped.
   *
   * @param name name at the coordinator, 1 to {@link Database#MAX_PREPARED_NAME_BYTES} bytes;
   *     unique among prepared transactions
   * @return false if it has written nothing; it has ended, and needs no decision
   * @throws LimitException with {@link LimitException.Reason#NAME_LENGTH} if the name is empty or
   *     too long: the transaction is still open
   * @throws TransactionStateException with {@link TransactionStateException.Reason#NOT_PREPARABLE}
   *     if the name is in use, if too many transactions are prepared, or if this one has created,
   *     dropped or truncated tables, or has an action of {@link #beforeCommit}; it is still open
   * @throws ConflictException as {@link #commit}; it can only be rolled back
   * @throws TransactionStateException with {@link TransactionStateException.Reason#FINISHED} if it
   *     has ended, {@link TransactionStateException.Reason#PREPARED} if it is prepared, {@link
   *     TransactionStateException.Reason#ROLLBACK_ONLY} if it can only be rolled back
   * @throws OutcomeUnknownException if the log failed before the preparation was durable; after the
   *     next open {@link Database#preparedTransactions} shows whether it is prepared
   */
  public boolean prepare(byte[] name) {
    Database.checkName(name);
    try {
      core().checkOpen();
      if (hasLastSteps()) {
        throw new TransactionStateException(
            TransactionStateException.Reason.NOT_PREPARABLE,
            "the transaction has an action that needs its place among the commits, for example because it has written"
                + " to a table with a change feed, and cannot be prepared: commit it");
      }
      return core().prepare(name);
    } catch (RuntimeException failure) {
      throw told(failure);
    } finally {
      Reference.reachabilityFence(this);
    }
  }

  /**
   * Commits and returns at once. Other transactions see the commit; {@link #whenDurable} completes
   * when it is durable. For a {@link Durability#DURABLE} transaction the engine forces the log. A
   * {@link Durability#LAZY} transaction waits as in {@link #commit}: for the file of its first lazy
   * commit, and while the disk has no room for that file.
   *
   * @return as {@link #whenDurable}
   * @throws ConflictException as {@link #commit}; it can only be rolled back
   * @throws TransactionStateException with {@link TransactionStateException.Reason#FINISHED} if it
   *     has ended, {@link TransactionStateException.Reason#PREPARED} if it is prepared, {@link
   *     TransactionStateException.Reason#ROLLBACK_ONLY} if it can only be rolled back
   * @throws OutcomeUnknownException if the log failed and it is unknown whether the commit survives
   *     the process; a later failure completes the stage instead
   */
  public CompletionStage<@Nullable Void> commitAsync() {
    try {
      core().commitAsync(lastSteps());
    } catch (RuntimeException failure) {
      throw told(failure);
    } finally {
      Reference.reachabilityFence(this);
    }
    runAfterCommit();
    return whenDurable();
  }

  /**
   * Returns a stage that completes when this committed transaction is durable. So a server can send
   * its answer then, and no thread has to wait. The call does not make a lazy commit durable
   * earlier.
   *
   * @return a stage that completes when no crash can undo the commit, nor anything that the
   *     transaction has read; completes exceptionally, with an {@link OutcomeUnknownException}, if
   *     the log fails first. Dependent actions run on a virtual thread of the engine, or on the
   *     thread that adds them. Stages of several transactions complete in any order. Each pending
   *     stage has a virtual thread; their number is not bounded
   * @throws IllegalStateException if the transaction has not been committed
   */
  public CompletionStage<@Nullable Void> whenDurable() {
    try {
      return core().whenDurable();
    } catch (RuntimeException failure) {
      throw told(failure);
    }
  }

  /** Rolls back, in constant time. Does nothing if the transaction has ended. */
  public void rollback() {
    try {
      if (endsUnused(TransactionState.State.ROLLED_BACK)) {
        return;
      }
      try {
        core().rollback();
      } finally {
        Reference.reachabilityFence(this);
      }
    } catch (RuntimeException failure) {
      throw told(failure);
    }
  }

  /** Rolls back if the transaction has not ended. */
  @Override
  public void close() {
    try {
      if (isOpen()) {
        rollback();
      }
    } catch (DatabaseClosedException e) {
      // then it has been rolled back
    } catch (RuntimeException failure) {
      throw told(failure);
    }
  }

  private boolean isOpen() {
    Object found = word;
    return found instanceof TransactionCore core ? core.isOpen() : found == null;
  }

  /** Runs a call in the transaction. The transaction does not count as leaked meanwhile. */
  <T extends @Nullable Object> T inside(Supplier<T> action) {
    try {
      return core().inside(action);
    } finally {
      // Otherwise it could count as leaked during its last call.
      Reference.reachabilityFence(this);
    }
  }

  void checkOpen() {
    core().checkOpen();
  }

  /** The value in a new array. */
  byte[] materialise(StoredValue value) {
    return value.isOverflow() ? inside(() -> materialiseInside(value)) : value.bytes();
  }

  private byte[] materialiseInside(StoredValue value) {
    if (!value.isOverflow()) {
      return value.bytes();
    }
    if (value.length() > MAX_ARRAY) {
      throw tooLargeForArray(value);
    }
    // This comes first: it compares the length with the existing pages, so a wrong length allocates
    // nothing.
    OverflowInput pages = overflow(value);
    byte[] bytes = new byte[(int) value.length()];
    pages.readPages(bytes, 0, bytes.length);
    return bytes;
  }

  private static LimitException tooLargeForArray(StoredValue value) {
    return new LimitException(
        LimitException.Reason.VALUE_LENGTH,
        "the value has " + value.length() + " bytes, too many for an array; read it as a stream");
  }

  /**
   * The value as a stream.
   *
   * @param kept the snapshot of the read, if it ends before the transaction
   */
  InputStream stream(StoredValue value, @Nullable KeptReading kept) {
    if (!value.isOverflow()) {
      return new ByteArrayInputStream(value.bytes());
    }
    InputStream stream =
        inside(() -> {
          OverflowInput pages = overflow(value);
          if (kept != null) {
            kept.share();
          }
          return pages;
        });
    if (kept == null) {
      return stream;
    }
    return new FilterInputStream(stream) {
      private boolean closed;

      @Override
      public void close() throws IOException {
        if (!closed) {
          closed = true;
          in = InputStream.nullInputStream(); // the snapshot of its read is released
          in.close();
          endReading(kept);
        }
      }
    };
  }

  private void endReading(KeptReading kept) {
    try {
      letGo(kept);
    } catch (RuntimeException failure) {
      throw told(failure);
    }
  }

  private OverflowInput overflow(StoredValue value) {
    return new OverflowInput(core().engine().storage().pool(), this::toldInside, value.reference());
  }

  /** Refuses a key that is empty or too long. */
  static void checkKey(byte[] key) {
    checkKeyLength(Objects.requireNonNull(key, "key must not be null").length);
  }

  static void checkKeyLength(int length) {
    if (length == 0) {
      throw new LimitException(
          LimitException.Reason.KEY_LENGTH, "a key must not be empty; give it at least one byte");
    }
    if (length > Database.MAX_KEY_BYTES) {
      throw new LimitException(
          LimitException.Reason.KEY_LENGTH,
          "a key may have "
              + Database.MAX_KEY_BYTES
              + " bytes, and this one has "
              + length
              + "; shorten it, or take a hash of it as the key and keep the whole in the value");
    }
  }
}

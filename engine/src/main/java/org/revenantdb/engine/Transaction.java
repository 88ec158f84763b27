package org.revenantdb.engine;

import java.io.IOException;
import java.io.InputStream;
import java.lang.ref.Cleaner;
import java.lang.ref.Reference;
import java.util.Objects;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.btree.Tree;
import org.revenantdb.engine.overflow.OverflowInput;
import org.revenantdb.engine.overflow.OverflowWriter;
import org.revenantdb.engine.page.LeafCell;
import org.revenantdb.engine.version.RowScan;
import org.revenantdb.engine.version.RowWriter;
import org.revenantdb.engine.version.StoredValue;

/**
 * A transaction: sees the database as it was when it began, and its own writes; all of them become
 * visible together, and durable together, or none does.
 *
 * <p>What is asked of a {@link Durability#DURABLE} transaction may wait for the disk, as its answer
 * may depend on a commit that is not durable yet. Everything throws {@link
 * DatabaseStoppedException} once the log has failed.
 *
 * <p>Isolation is snapshot isolation; the first updater of a row wins, a second one gets {@link
 * ConflictException}. A statement that throws has changed nothing, and the transaction goes on;
 * what it has streamed in is given back.
 *
 * <p>A transaction may be handed from thread to thread, but only one may use it at a time; a second
 * one gets {@link TransactionInUseException}. An interrupted thread is not disturbed and stays
 * interrupted. A transaction that is forgotten open is rolled back and reported.
 */
public final class Transaction implements AutoCloseable {
  private static final Cleaner FORGOTTEN = Cleaner.create();

  private final TransactionCore core;
  private final Cleaner.Cleanable forgotten;

  Transaction(TransactionCore core) {
    this.core = core;
    this.forgotten = FORGOTTEN.register(this, core);
  }

  /** What is left to do for it when it has ended without a commit. */
  TransactionCore core() {
    return core;
  }

  /**
   * The value of a key.
   *
   * @param table a table of this database
   * @param key 1 to {@link Database#MAX_KEY_BYTES} bytes
   * @return a copy, or null if there is no such row
   * @throws ValueTooLargeException if the value does not fit in an array; use {@link #open}
   */
  public byte @Nullable [] get(Table table, byte[] key) {
    StoredValue value = read(table, key);
    return value == null ? null : value.isOverflow() ? materialise(value) : value.bytes();
  }

  /**
   * Whether there is a row with this key.
   *
   * @param table a table of this database
   * @param key 1 to {@link Database#MAX_KEY_BYTES} bytes
   * @return true if there is
   */
  public boolean exists(Table table, byte[] key) {
    return read(table, key) != null;
  }

  /**
   * The value of a key as a stream, for values that are too large to be held in memory.
   *
   * @param table a table of this database
   * @param key 1 to {@link Database#MAX_KEY_BYTES} bytes
   * @return a stream that is valid as long as the transaction, or null if there is no such row
   */
  public @Nullable InputStream open(Table table, byte[] key) {
    StoredValue value = read(table, key);
    return value == null ? null : stream(value);
  }

  private @Nullable StoredValue read(Table table, byte[] key) {
    Tree tree = Objects.requireNonNull(table, "table").treeOf(core.engine());
    checkKey(key);
    return inside(
        () -> core.engine().reader().read(tree, key, core.snapshot(), core.id(), core.witness()));
  }

  /**
   * Stores a row, whether there is one with this key or not.
   *
   * @param table a table of this database
   * @param key 1 to {@link Database#MAX_KEY_BYTES} bytes
   * @param value at most {@link Database#MAX_VALUE_BYTES} bytes
   * @throws ConflictException if another transaction wrote the row first
   */
  public void put(Table table, byte[] key, byte[] value) {
    Tree tree = Objects.requireNonNull(table, "table").treeOf(core.engine());
    checkKey(key);
    Objects.requireNonNull(value, "value");
    checkLength(value.length);
    inside(() -> {
      putWhole(table, tree, key, value);
      return null;
    });
  }

  private void putWhole(Table table, Tree tree, byte[] key, byte[] value) {
    RowWriter writer = core.writer();
    RowWriter.Outcome outcome;
    if (value.length <= LeafCell.maxInlineValue(key.length)) {
      outcome = writer.put(tree, core.id(), core.snapshot(), key, value);
    } else {
      writer.overflow().writeWhole(core.id(), value);
      outcome = writer.putOverflow(tree, core.id(), core.snapshot(), key, writer.overflow());
    }
    throwOnConflict(outcome, writer, table);
  }

  /**
   * Stores a row whose value comes from a stream, which is read to its end and not closed.
   *
   * @param table a table of this database
   * @param key 1 to {@link Database#MAX_KEY_BYTES} bytes
   * @param value at most {@link Database#MAX_VALUE_BYTES} bytes
   * @throws ConflictException if another transaction wrote the row first
   * @throws ValueTooLargeException if the stream does not end in time; the row is unchanged
   * @throws IOException if the stream throws; the row is unchanged
   */
  public void put(Table table, byte[] key, InputStream value) throws IOException {
    Tree tree = Objects.requireNonNull(table, "table").treeOf(core.engine());
    checkKey(key);
    Objects.requireNonNull(value, "value");
    byte[] chunk = value.readNBytes(OverflowWriter.CHUNK);
    if (chunk.length < OverflowWriter.CHUNK) {
      put(table, key, chunk);
      return;
    }
    // A writer of its own: reading the user's stream may use this transaction in between.
    OverflowWriter overflow =
        inside(() -> {
          OverflowWriter fresh = core.writer().newOverflowWriter();
          fresh.begin(core.id());
          return fresh;
        });
    int count = chunk.length;
    while (count > 0) {
      checkLength(overflow.length() + count);
      int bytes = count;
      inside(() -> {
        overflow.append(chunk, 0, bytes);
        return null;
      });
      count = value.readNBytes(chunk, 0, chunk.length);
    }
    inside(() -> {
      RowWriter writer = core.writer();
      throwOnConflict(
          writer.putOverflow(tree, core.id(), core.snapshot(), key, overflow), writer, table);
      return null;
    });
  }

  /**
   * Deletes a row.
   *
   * @param table a table of this database
   * @param key 1 to {@link Database#MAX_KEY_BYTES} bytes
   * @return whether there was one
   * @throws ConflictException if another transaction wrote the row first
   */
  public boolean delete(Table table, byte[] key) {
    Tree tree = Objects.requireNonNull(table, "table").treeOf(core.engine());
    checkKey(key);
    return inside(() -> {
      RowWriter writer = core.writer();
      RowWriter.Outcome outcome = writer.delete(tree, core.id(), core.snapshot(), key);
      throwOnConflict(outcome, writer, table);
      core.witness().saw(writer.metLsn());
      return outcome == RowWriter.Outcome.DONE;
    });
  }

  private void throwOnConflict(RowWriter.Outcome outcome, RowWriter writer, Table table) {
    if (outcome != RowWriter.Outcome.CONFLICT) {
      return;
    }
    boolean committed = writer.conflictLsn() != 0;
    core.witness().saw(writer.conflictLsn());
    throw new ConflictException(
        "transaction "
            + writer.conflictingWriter()
            + (committed ? " changed and committed" : " is changing")
            + " this row of table "
            + table.name()
            + (committed ? " after this transaction began" : "")
            + "; roll back and try again, or use Database.run, which does",
        writer.conflictLsn());
  }

  /**
   * The rows of a range in key order.
   *
   * @param table a table of this database
   * @param from first key, inclusive; null for the first
   * @param to last key, exclusive; null for after the last
   * @return a cursor before the first row
   */
  public Cursor scan(Table table, byte @Nullable [] from, byte @Nullable [] to) {
    return cursor(table, from, to, /* descending= */ false);
  }

  /**
   * The rows of a range, backwards.
   *
   * @param table a table of this database
   * @param from first key, inclusive; null for the first
   * @param to last key, exclusive; null for after the last
   * @return a cursor after the last row
   */
  public Cursor scanDescending(Table table, byte @Nullable [] from, byte @Nullable [] to) {
    return cursor(table, from, to, /* descending= */ true);
  }

  private Cursor cursor(
      Table table, byte @Nullable [] from, byte @Nullable [] to, boolean descending) {
    Tree tree = Objects.requireNonNull(table, "table").treeOf(core.engine());
    checkOpen();
    Engine engine = core.engine();
    return new Cursor(
        this,
        new RowScan(
            engine.storage(),
            engine.reader(),
            tree,
            core.snapshot(),
            core::id,
            core.witness(),
            descending,
            from == null ? null : from.clone(),
            to == null ? null : to.clone()));
  }

  /**
   * Commits, and returns when that is durable; if the transaction is {@link Durability#LAZY}, at
   * once.
   *
   * @throws OutcomeUnknownException if the log failed meanwhile
   */
  public void commit() {
    try {
      core.commit();
      forgotten.clean();
    } finally {
      Reference.reachabilityFence(this);
    }
  }

  /**
   * Commits, and returns at once: others see it; {@link #onDurable} tells when it is durable. If
   * the transaction is {@link Durability#DURABLE}, the log is being forced for it.
   *
   * @return as {@link #onDurable}
   */
  public CompletionStage<@Nullable Void> commitAsync() {
    try {
      core.commitAsync();
      forgotten.clean();
      return core.onDurable();
    } finally {
      Reference.reachabilityFence(this);
    }
  }

  /**
   * Tells when a committed transaction is durable, so that somebody can be answered then and no
   * thread has to wait for it. Asking does not hurry a lazy one.
   *
   * @return completed when no crash can take back the commit, nor anything that the transaction has
   *     read; exceptionally, with an {@link OutcomeUnknownException}, if the log failed first. What
   *     hangs on it runs on a virtual thread of the engine's, or on the thread that hangs it on;
   *     the stages of several transactions are completed in any order. Each that is pending has a
   *     virtual thread, and nothing bounds their number
   * @throws IllegalStateException if the transaction has not been committed
   */
  public CompletionStage<@Nullable Void> onDurable() {
    return core.onDurable();
  }

  /** Rolls back, in constant time; nothing happens if the transaction has ended. */
  public void rollback() {
    try {
      core.rollback();
      forgotten.clean();
    } finally {
      Reference.reachabilityFence(this);
    }
  }

  /** Rolls back if the transaction has not ended. */
  @Override
  public void close() {
    if (core.isOpen()) {
      try {
        rollback();
      } catch (DatabaseClosedException e) {
        // then it has been rolled back
      }
    }
  }

  /** Runs something in the transaction, which is not forgotten as long as that lasts. */
  <T extends @Nullable Object> T inside(Supplier<T> action) {
    try {
      return core.inside(action);
    } finally {
      // Or it could count as forgotten while it is in use for the last time.
      Reference.reachabilityFence(this);
    }
  }

  void checkOpen() {
    core.checkOpen();
  }

  /** The value in an array that nobody else has. */
  byte[] materialise(StoredValue value) {
    if (!value.isOverflow()) {
      return value.bytes().clone();
    }
    if (value.length() > Integer.MAX_VALUE - 8) {
      throw new ValueTooLargeException(
          "the value has " + value.length() + " bytes, too many for an array; read it as a stream");
    }
    return inside(() -> {
      byte[] bytes = new byte[(int) value.length()];
      overflow(value).readPages(bytes, 0, bytes.length);
      return bytes;
    });
  }

  /** The value as a stream. */
  InputStream stream(StoredValue value) {
    if (!value.isOverflow()) {
      return new java.io.ByteArrayInputStream(value.bytes());
    }
    return inside(() -> overflow(value));
  }

  private OverflowInput overflow(StoredValue value) {
    return new OverflowInput(
        core.engine().storage().pool(), this::inside, value.head(), value.length());
  }

  private static void checkKey(byte[] key) {
    Objects.requireNonNull(key, "key");
    if (key.length == 0) {
      throw new KeyException("a key must not be empty");
    }
    if (key.length > Database.MAX_KEY_BYTES) {
      throw new KeyException(
          "a key may have " + Database.MAX_KEY_BYTES + " bytes; this one has " + key.length);
    }
  }

  /** Refuses a value that is too long. */
  static void checkLength(long length) {
    if (length > Database.MAX_VALUE_BYTES) {
      throw new ValueTooLargeException(
          "a value may have "
              + Database.MAX_VALUE_BYTES
              + " bytes; this one has "
              + length
              + " or more");
    }
  }
}

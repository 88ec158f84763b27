package org.revenantdb.engine.catalog;

import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.LongPredicate;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.page.SlogEntry;
import org.revenantdb.engine.page.TableRow;
import org.revenantdb.recovery.file.DiskFullException;
import org.revenantdb.recovery.file.FileException;
import org.revenantdb.recovery.log.LogStoppedException;

/**
 * The changes of transactions to tables, step by step, and their completion when the transactions
 * have ended: the SLog of "Constant Time Recovery in Azure SQL Database" (VLDB 2019), §3.4.
 *
 * <p>Threads: inside the gate with the catalogue's lock; any thread may call {@link #holds} and
 * {@link #hasSettled}.
 */
public final class Slog {
  /*
   * Protocol    docs/protocols.md §31.
   *
   * State       of a name       none     -> OPEN       by a transaction's first step
   *                             OPEN     -> settled    COMMITTED or ABORTED, by its end; or by the restart
   *                             OPEN     -> none       a table that the transaction has made and dropped
   *                             settled  -> none       its record is published, by the next caller
   * Failure     A step that could not be published has changed nothing. A change that could not be finished because
   *             the disk is full stays settled.
   */
  private final CatalogueWriter writer;
  private final Consumer<String> ownTrees;

  /** By name. */
  private final Map<String, NameChange> changes = new ConcurrentHashMap<>();

  /**
   * Makes a log without changes.
   *
   * @param ownTrees refuses a name that shares trees with another one
   */
  Slog(CatalogueWriter writer, Consumer<String> ownTrees) {
    this.writer = writer;
    this.ownTrees = ownTrees;
  }

  /** The change of a transaction to the table of a name, finished or not; null if there is none. */
  public @Nullable NameChange of(String name) {
    return changes.get(name);
  }

  /** The changes of a transaction, by name. */
  public Map<String, NameChange> changesOf(long transaction) {
    Map<String, NameChange> found = new HashMap<>(changes);
    found.values().removeIf(change -> change.transaction() != transaction);
    return found;
  }

  /** Whether a transaction has changes that are not finished: it must not be forgotten. */
  boolean holds(long transaction) {
    return changes.values().stream().anyMatch(change -> change.transaction() == transaction);
  }

  /** Whether there is something to finish. */
  boolean hasSettled() {
    return changes.values().stream().anyMatch(NameChange::isSettled);
  }

  /** Records that a transaction creates a table. */
  public void create(
      String name, byte[] key, long transaction, TableRow row, NewTrees trees, Runnable after) {
    NameChange change = new NameChange(transaction, key);
    CatalogueRecord record = writer.record(transaction).insert(key, row.bytes());
    begin(
        name,
        change,
        insertCreated(record, change, row),
        trees,
        () -> {
          change.created(row);
          after.run();
        });
  }

  /** Records that a transaction drops a table that all see. */
  public void drop(String name, byte[] key, long transaction, TableRow former, Runnable after) {
    NameChange change = new NameChange(transaction, key);
    begin(
        name,
        change,
        insertDropped(writer.record(transaction), change, former),
        null,
        () -> {
          change.former(former);
          after.run();
        });
  }

  /** Records that a transaction truncates a table that all see. */
  public void truncate(
      String name,
      byte[] key,
      long transaction,
      TableRow former,
      TableRow row,
      NewTrees trees,
      Runnable after) {
    NameChange change = new NameChange(transaction, key);
    CatalogueRecord record = insertDropped(writer.record(transaction), change, former);
    begin(
        name,
        change,
        insertCreated(record, change, row),
        trees,
        () -> {
          change.former(former);
          change.created(row);
          after.run();
        });
  }

  private void begin(
      String name,
      NameChange change,
      CatalogueRecord record,
      @Nullable NewTrees trees,
      Runnable after) {
    changes.put(name, change); // before there is a row that is not for all
    boolean isPublished = false;
    try {
      writer.publish(() -> record.publish(trees), after);
      isPublished = true;
    } finally {
      if (!isPublished) {
        changes.remove(name); // or the engine has stopped
      }
    }
  }

  /** Records that a transaction drops a table that it has created itself. */
  public void dropCreated(String name, NameChange change, Runnable after) {
    TableRow created = Objects.requireNonNull(change.created());
    boolean isAll = change.former() == null;
    CatalogueRecord record = writer.record(0);
    NameChange.drop(record, created);
    if (isAll) {
      record.remove(change.key());
    }
    writer.publishDrop(
        () -> record.publish(null),
        change.key(),
        created,
        () -> {
          change.created(null);
          if (isAll) {
            changes.remove(name);
          }
          after.run();
        });
  }

  /** Records that a transaction truncates a table that it has created itself. */
  public void truncateCreated(NameChange change, TableRow newer, NewTrees trees, Runnable after) {
    TableRow created = Objects.requireNonNull(change.created());
    CatalogueRecord record = writer.record(change.transaction());
    NameChange.drop(record, created);
    insertCreated(record, change, newer);
    if (change.former() == null) {
      record.replace(change.key(), newer.bytes());
    }
    writer.publishDrop(
        () -> record.publish(trees),
        change.key(),
        created,
        () -> {
          change.created(newer);
          after.run();
        });
  }

  private static CatalogueRecord insertCreated(
      CatalogueRecord record, NameChange change, TableRow row) {
    SlogEntry entry = change.entry(row, SlogEntry.Step.CREATED);
    return record.insert(entry.key(), entry.bytes());
  }

  private static CatalogueRecord insertDropped(
      CatalogueRecord record, NameChange change, TableRow row) {
    SlogEntry entry = change.entry(row, SlogEntry.Step.DROPPED);
    return record.insert(entry.key(), entry.bytes());
  }

  /**
   * Finishes the settled changes, as far as possible now. A change that cannot be finished, because
   * the disk is full, a page cannot be read, or the engine has stopped, is left to the next call or
   * the next life.
   *
   * @param waits whether to wait for room in the log, or leave the change to the next call
   */
  public void finishSettled(boolean waits) {
    for (Map.Entry<String, NameChange> entry : changes.entrySet()) {
      if (!entry.getValue().isSettled()) {
        continue;
      }
      try {
        finish(entry.getKey(), entry.getValue(), waits);
      } catch (DiskFullException | LogStoppedException | VirtualMachineError later) {
        return;
      } catch (FileException unreadable) {
        // other changes may be finished
      }
    }
  }

  /**
   * Finishes the change of a name, if its transaction has ended.
   *
   * @throws DiskFullException if there is no room for that
   */
  public void finish(String name) {
    NameChange change = changes.get(name);
    if (change != null && change.isSettled()) {
      finish(name, change, /* waits= */ true);
    }
  }

  private void finish(String name, NameChange change, boolean waits) {
    CatalogueRecord record = writer.record(0);
    change.finish(record);
    LongSupplier published = waits ? () -> record.publish(null) : record::publishAtOnce;
    TableRow garbage = change.garbage();
    if (garbage != null) {
      ownTrees.accept(name); // else its pages would be taken from the other one
    }
    Runnable after = () -> changes.remove(name);
    if (garbage == null) {
      writer.publish(published, after);
    } else {
      writer.publishDrop(published, change.key(), garbage, after);
    }
  }

  /**
   * Settles the changes that former lives have left.
   *
   * @param entries all entries
   * @param aborted whether a transaction has aborted; otherwise it has committed
   */
  void load(List<SlogEntry> entries, LongPredicate aborted) {
    for (SlogEntry entry : entries) {
      long transaction = entry.transaction();
      NameChange change =
          changes.computeIfAbsent(
              new String(entry.name(), StandardCharsets.UTF_8),
              name -> new NameChange(transaction, entry.name()));
      change.add(entry);
      change.settle(!aborted.test(transaction));
      writer.treesOf(entry.trees(), /* since= */ 0); // the cleaner may come to their pages
    }
  }
}

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
import org.revenantdb.recovery.file.StorageException;
import org.revenantdb.recovery.log.LogStoppedException;

/**
 * What transactions do to tables, step by step, and what becomes of it when they have ended: the
 * SLog of "Constant Time Recovery in Azure SQL Database" (VLDB 2019), §3.4.
 *
 * <p>Threads: inside the gate with the catalogue's lock; {@link #holds} and {@link #hasSettled} may
 * be asked by any.
 */
public final class Slog {
  /*
   * Protocol    docs/protocols.md §31.
   *
   * State       of a name       none     -> OPEN       by a transaction's first step
   *                             OPEN     -> settled    COMMITTED or ABORTED, by its end; or by the restart
   *                             OPEN     -> none       a table that the transaction has made and dropped
   *                             settled  -> none       its record is published, by whoever is next
   * Failure     A step that could not be published has changed nothing. What could not be finished, as the disk is
   *             full, stays settled.
   */
  private final CatalogueWriter writer;
  private final Consumer<String> ownTrees;

  /** By name. */
  private final Map<String, NameChange> changes = new ConcurrentHashMap<>();

  /**
   * Nothing has been done to any name.
   *
   * @param ownTrees refuses a name whose trees are those of another one, too
   */
  Slog(CatalogueWriter writer, Consumer<String> ownTrees) {
    this.writer = writer;
    this.ownTrees = ownTrees;
  }

  /** What a transaction is doing to the table of a name, or has done; null if nothing. */
  public @Nullable NameChange of(String name) {
    return changes.get(name);
  }

  /** What a transaction has done to each name, if to any. */
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

  /** A transaction creates a table. */
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

  /** A transaction drops a table that everybody sees. */
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

  /** A transaction truncates a table that everybody sees. */
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
    changes.put(name, change); // before there is a row that is not everybody's
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

  /** A transaction drops what it has made itself. */
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

  /** A transaction truncates what it has made itself. */
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
   * Finishes what has been settled, as far as that is possible now; what is left, as the disk is
   * full, a page cannot be read, or the engine has stopped, the next one finishes, or the next
   * life.
   *
   * @param waits whether to wait for room in the log, or leave it to the next one
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
      } catch (StorageException unreadable) {
        // others may be finished
      }
    }
  }

  /**
   * Finishes what was done to a name, if its transaction has ended.
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
      ownTrees.accept(name); // or its pages would be taken from the other one
    }
    Runnable after = () -> changes.remove(name);
    if (garbage == null) {
      writer.publish(published, after);
    } else {
      writer.publishDrop(published, change.key(), garbage, after);
    }
  }

  /**
   * Settles what former lives have left.
   *
   * @param entries all of them
   * @param aborted whether a transaction has aborted; it has committed else
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

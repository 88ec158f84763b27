package org.revenantdb.suite.model;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.CatalogException;
import org.revenantdb.engine.CheckReport;
import org.revenantdb.engine.Cursor;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.DatabaseStatistics;
import org.revenantdb.engine.RecoveryReport;
import org.revenantdb.engine.Savepoint;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.Transaction;
import org.revenantdb.engine.TransactionStateException;

/**
 * RevenantDB as a store of the model: small log segments and a short log, so that checkpoints are
 * frequent.
 *
 * <p>Threads: as {@link Database}.
 */
public final class RevenantStore implements Store {

  private static final int SEGMENT = 1 << 20;

  private final Database db;
  private final Map<String, Table> tables = new ConcurrentHashMap<>();
  private final AtomicLong phases = new AtomicLong();

  private RevenantStore(Database db) {
    this.db = db;
  }

  /** Opens RevenantDB. */
  public static final class Opener implements Store.Opener {

    /** Creates the opener. */
    public Opener() {}

    @Override
    public Store open(Path dir, Limits limits) {
      Database db =
          Database.open(
              dir,
              DatabaseOptions.defaults()
                  .withPoolBytes(limits.poolBytes())
                  .withLogSegmentBytes(SEGMENT)
                  .withMaxRecoveryLog(limits.logBytes())
                  .withShortTransactionRows(4) // rollbacks of both kinds
                  .withCleanerThreads(1 + (int) (limits.poolBytes() % 3)) // drawn with the limits
                  .withCountersFile(false));
      db.preparedTransactions().forEach(name -> decide(db, name));
      return new RevenantStore(db);
    }

    /** The outcome was not reported, so both are right. */
    private static void decide(Database db, byte[] name) {
      if (name[name.length - 1] % 2 == 0) {
        db.commitPrepared(name);
      } else {
        db.rollbackPrepared(name);
      }
    }
  }

  /** A committed table; null if it does not exist. */
  private @Nullable Table known(String name) {
    Table known = tables.get(name);
    if (known == null) {
      known = db.findTable(name);
      if (known != null) {
        tables.put(name, known);
      }
    }
    return known;
  }

  @Override
  public Tx begin() {
    return new RevenantTx(db.begin());
  }

  @Override
  public Recovery recovery() {
    RecoveryReport report = db.recoveryReport();
    return new Recovery(
        report.clean(), report.nanos(), report.logBytesRead(), report.pagesPending());
  }

  @Override
  public Counters counters() {
    DatabaseStatistics s = db.statistics();
    return new Counters(
        s.files().splits(),
        s.files().merges(),
        s.pool().evictions(),
        s.files().overflowValues(),
        s.files().checkpoints());
  }

  @Override
  public Check check() {
    CheckReport report = db.check();
    return new Check(report.problems(), report.pagesToClean());
  }

  @Override
  public void checkpoint() {
    db.checkpoint();
  }

  @Override
  public void clean() {
    db.cleanNow();
    db.compact(); // no effect may be visible
  }

  @Override
  public void close() {
    db.close();
  }

  /**
   * The first transaction that writes to a table creates it: before, or on request in that
   * transaction. A transaction that began before the creating one committed does not know the
   * table, so for it the table has no rows.
   */
  private final class RevenantTx implements Tx {

    private final Transaction tx;
    private boolean hasSavepoint;

    RevenantTx(Transaction tx) {
      this.tx = tx;
    }

    private @Nullable Table findTable(String name) {
      Table known = known(name);
      return known == null ? tx.findTable(name) : known;
    }

    /** The table, which is created if needed. */
    private Table table(String name) {
      Table known = findTable(name);
      if (known != null) {
        return known;
      }
      return db.getOrCreateTable(name);
    }

    @Override
    public void makeTable(String name) {
      if (hasSavepoint || findTable(name) != null) {
        return; // a transaction with a savepoint creates none
      }
      try {
        tx.createTable(name);
      } catch (org.revenantdb.engine.ConflictException e) {
        throw new ConflictException(e);
      } catch (CatalogException e) {
        throw conflictIfExists(e);
      }
    }

    /** An existing table means a conflict: another transaction has created it meanwhile. */
    private static RuntimeException conflictIfExists(CatalogException e) {
      return e.reason() == CatalogException.Reason.EXISTS ? new ConflictException(e) : e;
    }

    @Override
    public byte @Nullable [] get(String table, byte[] key) {
      Table known = findTable(table);
      try {
        return known == null ? null : tx.get(known, key);
      } catch (org.revenantdb.engine.ConflictException tooNew) {
        return null;
      }
    }

    @Override
    public @Nullable InputStream open(String table, byte[] key) {
      Table known = findTable(table);
      try {
        return known == null ? null : tx.open(known, key);
      } catch (org.revenantdb.engine.ConflictException tooNew) {
        return null;
      }
    }

    @Override
    public void put(String table, byte[] key, byte[] value) {
      try {
        tx.put(table(table), key, value);
      } catch (org.revenantdb.engine.ConflictException e) {
        throw new ConflictException(e);
      } catch (CatalogException e) {
        throw conflictIfExists(e);
      }
    }

    @Override
    public void put(String table, byte[] key, InputStream value) throws IOException {
      try {
        tx.put(table(table), key, value);
      } catch (org.revenantdb.engine.ConflictException e) {
        throw new ConflictException(e);
      } catch (CatalogException e) {
        throw conflictIfExists(e);
      }
    }

    @Override
    public boolean delete(String table, byte[] key) {
      Table known = findTable(table);
      if (known == null) {
        return false;
      }
      try {
        return tx.delete(known, key);
      } catch (org.revenantdb.engine.ConflictException e) {
        throw new ConflictException(e);
      }
    }

    @Override
    public Rows scan(
        String table, byte @Nullable [] from, byte @Nullable [] to, boolean descending) {
      Table known = findTable(table);
      if (known == null) {
        return new RevenantRows(null);
      }
      try {
        return new RevenantRows(
            descending ? tx.scanDescending(known, from, to) : tx.scan(known, from, to));
      } catch (org.revenantdb.engine.ConflictException tooNew) {
        return new RevenantRows(null);
      }
    }

    @Override
    public void commitInTwoPhases() {
      byte[] name = Long.toString(phases.getAndIncrement()).getBytes(StandardCharsets.US_ASCII);
      try {
        if (tx.prepare(name)) {
          db.commitPrepared(name);
        }
      } catch (TransactionStateException refused) {
        if (refused.reason() != TransactionStateException.Reason.NOT_PREPARABLE) {
          throw refused;
        }
        // It has created a table.
        tx.commit();
      }
    }

    @Override
    public @Nullable Runnable savepoint() {
      Savepoint here = tx.savepoint();
      hasSavepoint = true;
      return () -> {
        tx.rollbackTo(here);
        tx.release(here);
        hasSavepoint = false;
      };
    }

    @Override
    public void commit() {
      tx.commit();
    }

    @Override
    public void rollback() {
      tx.rollback();
    }

    @Override
    public void close() {
      tx.close();
    }
  }

  /** The engine's cursor; null for a table that does not exist. */
  private record RevenantRows(@Nullable Cursor cursor) implements Rows {

    @Override
    public boolean next() {
      return cursor != null && cursor.next();
    }

    @Override
    public byte[] key() {
      return known().key();
    }

    @Override
    public byte[] value() {
      return known().value();
    }

    @Override
    public InputStream openValue() {
      return known().openValue();
    }

    private Cursor known() {
      return Objects.requireNonNull(cursor, "there is no row");
    }

    @Override
    public void close() {
      if (cursor != null) {
        cursor.close();
      }
    }
  }
}

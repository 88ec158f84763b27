package org.revenantdb.engine.testing;

import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.revenantdb.engine.Savepoint;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.TableOptions;
import org.revenantdb.engine.Transaction;
import org.revenantdb.recovery.log.RecordType;

/**
 * A database to which a {@link CrashScript} does something, and its expected content: the test that
 * cuts it off records what is true at which position.
 */
public abstract class Scene {
  private Contents contents;
  private final List<Session> open = new ArrayList<>();

  /** Begins with what is there. */
  Scene(Contents contents) {
    this.contents = contents;
  }

  abstract Transaction begin();

  /** A table; it is created if it is not there. */
  abstract Table table(String name, TableOptions options);

  final Table table(String name) {
    return table(name, TableOptions.defaults());
  }

  /** One pass of the cleaner. */
  abstract void pass();

  abstract void checkpoint();

  /** Gives a prepared transaction its outcome. */
  abstract void decidePrepared(byte[] name, boolean commits);

  /** Checks that a transaction that begins now sees the expected rows. */
  public abstract void look();

  /** The next action in words, for the message of a failure. */
  public abstract void point(String name);

  /**
   * Does a step behind which something else is true.
   *
   * @param by the kind of record that makes it so
   */
  abstract void turn(Contents before, Contents after, RecordType by, Runnable step);

  /** All that is committed and prepared. */
  final Contents contents() {
    return contents;
  }

  private void turn(Contents after, RecordType by, Runnable step) {
    turn(contents, after, by, step);
    contents = after;
  }

  final void decide(String name, boolean commits) {
    turn(
        contents.decided(name, commits),
        commits ? RecordType.COMMIT : RecordType.ABORT,
        () -> decidePrepared(Samples.bytes(name), commits));
  }

  /** Creates a table, outside of all transactions. */
  public final void create(String name, TableOptions options) {
    Contents after = contents.copy();
    after.create(name);
    turn(after, RecordType.PAGES, () -> table(name, options));
  }

  public final Session session() {
    Session session = new Session();
    open.add(session);
    return session;
  }

  /** Rolls back all transactions that have not ended. */
  final void endAll() {
    List.copyOf(open).forEach(Session::rollBack);
  }

  static byte[] key(int number) {
    return CommittedStates.key(number);
  }

  /** A transaction, and what it would change. */
  public final class Session {
    private final Transaction tx = begin();
    private final List<Consumer<Contents>> effects = new ArrayList<>();
    private final Map<Savepoint, Integer> savepoints = new IdentityHashMap<>();

    Transaction tx() {
      return tx;
    }

    /** A row of the table "t". */
    public Session put(int key, byte[] value) {
      return put("t", key, value);
    }

    public Session put(String table, int key, byte[] value) {
      tx.put(own(table), key(key), value);
      effects.add(all -> all.rows(table).put(key, value));
      return this;
    }

    public Session delete(int key) {
      return delete("t", key);
    }

    public Session delete(String table, int key) {
      tx.delete(own(table), key(key));
      effects.add(all -> all.rows(table).remove(key));
      return this;
    }

    public void create(String table, TableOptions options) {
      tx.createTable(table, options);
      effects.add(all -> all.create(table));
    }

    public void drop(String table) {
      tx.dropTable(own(table));
      effects.add(all -> all.drop(table));
    }

    public void truncate(String table) {
      tx.truncate(own(table));
      effects.add(all -> all.rows(table).clear());
    }

    private Table own(String table) {
      Table found = tx.findTable(table);
      if (found == null) {
        throw new AssertionError("no table " + table);
      }
      return found;
    }

    Savepoint savepoint() {
      Savepoint savepoint = tx.savepoint();
      savepoints.put(savepoint, effects.size());
      return savepoint;
    }

    void goBackTo(Savepoint savepoint) {
      tx.rollbackTo(savepoint);
      effects.subList(savepoints.get(savepoint), effects.size()).clear();
    }

    public void commit() {
      turn(contents.with(effects), RecordType.COMMIT, tx::commit);
      open.remove(this);
    }

    public void rollBack() {
      tx.rollback();
      open.remove(this);
    }

    void prepare(String name) {
      Contents after = contents.copy();
      after.prepare(name, effects);
      turn(after, RecordType.PREPARE, () -> tx.prepare(Samples.bytes(name)));
      open.remove(this);
    }
  }
}

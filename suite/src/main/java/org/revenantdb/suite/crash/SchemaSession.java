package org.revenantdb.suite.crash;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.revenantdb.chaos.crash.Seeds;
import org.revenantdb.chaos.subject.Promises;
import org.revenantdb.engine.CatalogException;
import org.revenantdb.engine.ConflictException;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.RevenantException;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.TableOptions;
import org.revenantdb.engine.TransactionOptions;
import org.revenantdb.suite.crash.RevenantSubject.Tables;

/**
 * A session that creates, drops, truncates and writes tables in transactions, and reports each step
 * before it makes it.
 *
 * <p>Threads: one.
 */
final class SchemaSession {
  /*
   * Own names     No other session uses them, so the session has a model of them. Each transaction
   *               also writes a row with the model's digest. After a crash that row must match the
   *               tables, so all of a transaction is there or nothing of it, tables and rows. This
   *               works even where promises do not help, because one absence looks like another.
   *               The transaction itself must see the content of the model, and none of its steps
   *               may be refused.
   * Shared names  All sessions use them, so they wait for each other, conflict, or are refused.
   *               Only these have promises. A step that empties a table also removes rows that the
   *               session does not see: it promises the absence of every key that any session uses.
   * Left open     A name that a transaction left open has changed stays taken as long as the
   *               database is open. The session does not use it any more.
   */

  /** The table for the digests of sessions. */
  static final String DIGESTS = "digests";

  private static final List<String> SHARED = List.of("shared-a", "shared-b");
  private static final String OWNER = "owner-";
  private static final int OWN_NAMES = 5;
  private static final int FEWEST_NAMES = 2;
  private static final int KEYS = 24;
  private static final int MOST_STEPS = 6;
  private static final int MOST_WRITES = 12;
  private static final int MOST_PARTITIONS = 4;

  private final Database db;
  private final Promises promises;
  private final SchemaTransaction.Beginner beginner;
  private final RandomGenerator random;
  private final long values;
  private final int owner;
  private final Table digests;
  private final List<String> names;
  private final List<String> usable;
  private SchemaModel model;
  private long written;

  /** Whether the transaction uses a shared name. */
  private boolean metOthers;

  /**
   * Begins a session with the existing tables of an owner.
   *
   * @param number different from other sessions of this life, so that its values differ, too
   */
  SchemaSession(
      Database db,
      Promises promises,
      SchemaTransaction.Beginner beginner,
      int owner,
      int number,
      RandomGenerator random) {
    this.db = db;
    this.promises = promises;
    this.beginner = beginner;
    this.random = random;
    this.values = Seeds.of(promises.seed(), number);
    this.owner = owner;
    this.digests = db.getOrCreateTable(DIGESTS);
    this.names = names(owner);
    this.usable = new ArrayList<>(names);
    this.usable.removeIf(name -> !isFree(name));
    this.model = read(db, owner);
  }

  /** Whether no transaction that a former session left open holds a name. */
  private boolean isFree(String name) {
    try (SchemaTransaction tx = new SchemaTransaction(db, TransactionOptions.durable())) {
      Table table = tx.find(name);
      if (table == null) {
        tx.create(name, TableOptions.defaults());
      } else {
        tx.put(table, Tables.key(0), new byte[0]);
      }
      return true;
    } catch (RevenantException refused) {
      if (!isRefusal(refused)) {
        throw refused;
      }
      return false;
    }
  }

  private static String owner(int number) {
    return OWNER + number;
  }

  private static byte[] ascii(String text) {
    return text.getBytes(StandardCharsets.US_ASCII);
  }

  private static List<String> names(int owner) {
    List<String> names = new ArrayList<>();
    for (int i = 0; i < OWN_NAMES; i++) {
      names.add(owner(owner) + (char) ('a' + i));
    }
    return names;
  }

  /** An owner's tables. */
  static SchemaModel read(Database db, int owner) {
    try (SchemaTransaction tx = new SchemaTransaction(db, TransactionOptions.durable())) {
      return SchemaModel.read(tx, names(owner));
    }
  }

  /** The form of an owner's digest in promises. */
  static byte[] digestKey(int owner) {
    return Cell.key(DIGESTS, ascii(owner(owner)));
  }

  /** The digest in a value of {@link #DIGESTS}. */
  static long digest(byte[] value) {
    return ByteBuffer.wrap(value).getLong();
  }

  /** The form of the existence of a table in promises; its value is the options. */
  static byte[] tableKey(String name) {
    return Cell.key("table", ascii(name));
  }

  /** The value of {@link #tableKey}. */
  static byte[] tableValue(Table table) {
    return new byte[] {(byte) table.options().partitions()};
  }

  /** Whether sessions create tables with this name. */
  static boolean isName(String name) {
    return SHARED.contains(name) || name.startsWith(OWNER);
  }

  /** One transaction, or another step of sessions. */
  void step() {
    switch (random.nextInt(14)) {
      case 0 -> emptyAtOnce(SHARED.get(random.nextInt(SHARED.size())));
      case 1 -> witness(anyName());
      case 2, 3 -> transaction(TransactionOptions.durable(), /* commits= */ false);
      case 4, 5, 6, 7 -> transaction(TransactionOptions.lazy(), /* commits= */ true);
      default -> transaction(TransactionOptions.durable(), /* commits= */ true);
    }
  }

  private String anyName() {
    return random.nextInt(4) == 0
        ? SHARED.get(random.nextInt(SHARED.size()))
        : usable.get(random.nextInt(usable.size()));
  }

  private void transaction(TransactionOptions options, boolean commits) {
    Promises.Group group = promises.begin();
    metOthers = false;
    try (SchemaTransaction tx = beginner.begin(db, options)) {
      Steps steps = new Steps(tx, group);
      String name = anyName();
      for (int left = random.nextInt(1, MOST_STEPS); left > 0; left--) {
        steps.any(name); // often the same name again
        name = random.nextBoolean() ? name : anyName();
      }
      steps.demandModelIsSeen();
      if (commits) {
        steps.putDigest();
        group.committing();
        tx.commit();
        switch (Objects.requireNonNull(options.durability())) {
          case DURABLE -> group.durable();
          case LAZY -> group.lazy();
        }
        model = steps.after;
        return;
      }
    } catch (RevenantException refused) {
      if (!isRefusal(refused) || !metOthers) {
        throw refused;
      }
    }
    group.rolledBack();
  }

  /**
   * A transaction that is left open: none of its steps may survive. It begins with a table step, so
   * that the next session on the same open database knows that the name is taken.
   */
  void leaveOpen() {
    if (usable.size() <= FEWEST_NAMES) {
      return;
    }
    String name = usable.remove(random.nextInt(usable.size()));
    Steps steps = new Steps(beginner.begin(db, TransactionOptions.durable()), promises.begin());
    steps.change(name);
    for (int left = random.nextInt(1, MOST_STEPS); left > 0; left--) {
      steps.any(name);
    }
  }

  /** Empties or drops a table for all sessions, outside the session's transactions. */
  private void emptyAtOnce(String name) {
    Promises.Group group = promises.begin();
    promiseEmpty(group, name);
    boolean drops = random.nextBoolean();
    if (drops) {
      group.put(tableKey(name), null);
    }
    group.committing();
    boolean done = false;
    try {
      done = drops ? db.dropTable(name) : db.truncateTable(name);
    } catch (RevenantException refused) {
      if (!isRefusal(refused)) {
        throw refused;
      }
    }
    if (done) {
      group.durable();
    } else {
      group.rolledBack();
    }
  }

  /** Checks whether a table exists; the answer is durable. */
  private void witness(String name) {
    Table table = db.findTable(name);
    promises.durableRead(tableKey(name), table == null ? null : tableValue(table));
  }

  private static void promiseEmpty(Promises.Group group, String name) {
    for (int key = 0; key < KEYS; key++) {
      group.put(Cell.key(name, Tables.key(key)), null);
    }
  }

  /** The refusals that other sessions may cause. */
  private static boolean isRefusal(RevenantException e) {
    if (e instanceof CatalogException table) {
      return switch (table.reason()) {
        case DROPPED, EXISTS, IN_USE -> true;
        case MISSING, NOT_COMMITTED, OTHER_OPTIONS -> false;
      };
    }
    return e instanceof ConflictException;
  }

  /** The steps of one transaction, each reported and then made. */
  private final class Steps {

    private final SchemaTransaction tx;
    private final Promises.Group group;
    private final SchemaModel after;
    private final Set<String> created = new HashSet<>();

    private Steps(SchemaTransaction tx, Promises.Group group) {
      this.tx = tx;
      this.group = group;
      this.after = model.copy();
    }

    private void any(String name) {
      Table table = find(name);
      if (table == null || random.nextInt(7) < 3) {
        change(name, table);
      } else {
        write(table);
      }
    }

    /** Creates, drops or truncates. */
    private void change(String name) {
      change(name, find(name));
    }

    private void change(String name, @Nullable Table table) {
      if (table != null) {
        if (random.nextInt(3) == 0 && mayDrop(name)) {
          drop(table);
        } else {
          truncate(table);
        }
      } else if (model.isThere(name)) {
        demandTaken(name);
      } else {
        write(create(name));
      }
    }

    private @Nullable Table find(String name) {
      boolean shared = SHARED.contains(name);
      metOthers |= shared;
      Table table = tx.find(name);
      if (!shared && after.isThere(name) != (table != null)) {
        throw new IllegalStateException(name + ": there is " + table + ", and not " + after);
      }
      return table;
    }

    /**
     * A name that is created and dropped in one transaction is free at once, whatever the outcome.
     * So no promise of the commit may refer to a shared name.
     */
    private boolean mayDrop(String name) {
      return !SHARED.contains(name) || !created.contains(name);
    }

    private Table create(String name) {
      int partitions = random.nextBoolean() ? 1 : random.nextInt(2, MOST_PARTITIONS + 1);
      group.put(tableKey(name), new byte[] {(byte) partitions});
      Table made = tx.create(name, TableOptions.hashPartitioned(partitions));
      created.add(name);
      after.create(name, partitions);
      return made;
    }

    /** Checks that a name which the transaction has dropped is not free before the commit. */
    private void demandTaken(String name) {
      try {
        tx.create(name, TableOptions.defaults());
      } catch (CatalogException refused) {
        if (refused.reason() != CatalogException.Reason.EXISTS) {
          throw refused;
        }
        return;
      }
      throw new IllegalStateException(name + " was dropped and created in one transaction");
    }

    private void drop(Table table) {
      promiseEmpty(group, table.name());
      group.put(tableKey(table.name()), null);
      tx.drop(table);
      after.drop(table.name());
    }

    private void truncate(Table table) {
      promiseEmpty(group, table.name());
      tx.truncate(table);
      after.truncate(table.name());
    }

    private void write(Table table) {
      for (int left = random.nextInt(MOST_WRITES); left > 0; left--) {
        byte[] key = Tables.key(random.nextInt(KEYS));
        if (random.nextInt(4) == 0) {
          delete(table, key);
        } else {
          put(table, key);
        }
      }
    }

    private void put(Table table, byte[] key) {
      byte[] value = Cell.value(Seeds.of(values, written++), length());
      byte[] promised = Cell.promised(value);
      group.put(Cell.key(table.name(), key), promised);
      tx.put(table, key, value);
      after.put(table.name(), key, promised);
    }

    /** A delete that finds nothing is not a write: other sessions may write the row meanwhile. */
    private void delete(Table table, byte[] key) {
      if (tx.exists(table, key)) {
        group.put(Cell.key(table.name(), key), null);
        tx.delete(table, key);
        after.delete(table.name(), key);
      }
    }

    /** Mostly short, some long enough to split leaves, a few in pages of their own. */
    private int length() {
      return switch (random.nextInt(12)) {
        case 0 -> random.nextInt(5_000, 20_000);
        case 1, 2, 3 -> random.nextInt(600, 1_200);
        default -> random.nextInt(16, 60);
      };
    }

    private void demandModelIsSeen() {
      SchemaModel seen = SchemaModel.read(tx, names);
      if (seen.digest() != after.digest()) {
        throw new IllegalStateException("a transaction sees " + seen + ", and not " + after);
      }
    }

    private void putDigest() {
      byte[] value =
          ByteBuffer.allocate(2 * Long.BYTES)
              .putLong(after.digest())
              .putLong(Seeds.of(values, written++))
              .array();
      group.put(digestKey(owner), value);
      tx.put(digests, ascii(owner(owner)), value);
    }
  }
}

package org.revenantdb.suite.fuzz;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.revenantdb.chaos.disk.DiskImage;
import org.revenantdb.chaos.disk.MemoryFileSystem;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.TableOptions;
import org.revenantdb.engine.Transaction;

/**
 * Builds a database on a disk in memory and records its content.
 *
 * <p>One thread commits everything durably, so at each moment it is known what the files must
 * contain. Threads: one.
 */
final class Grower implements AutoCloseable {

  private static final int KEYS = 160;

  private final SplittableRandom random;
  private final DatabaseOptions options;
  private final List<Moment> moments = new ArrayList<>();
  private final Map<Transaction, Map<String, Map<String, @Nullable Long>>> written =
      new HashMap<>();
  private final Map<String, Long> numbers = new TreeMap<>();
  private List<State> states = new ArrayList<>(List.of(State.EMPTY));
  private MemoryFileSystem disk = MemoryFileSystem.of(new DiskImage());
  private @Nullable Database open;

  Grower(long seed, DatabaseOptions options) {
    this.random = new SplittableRandom(seed);
    this.options = options;
  }

  SplittableRandom random() {
    return random;
  }

  Family family() {
    return new Family(moments);
  }

  // ---- lives and moments ----

  /** Begins a life on the files of the last one. */
  Database begin() {
    Path directory = disk.root().resolve(Place.DIRECTORY);
    try {
      Files.createDirectories(directory);
    } catch (IOException e) {
      throw new UncheckedIOException("a disk in memory is never full", e);
    }
    open = Database.open(directory, options);
    return open;
  }

  Database db() {
    if (open == null) {
      throw new IllegalStateException("no life has begun");
    }
    return open;
  }

  /** Keeps a moment: the killed database of this instant. The database lives on. */
  void killedHere(String name) {
    keep(name, /* closed= */ false, disk.snapshot());
  }

  /** Ends the life as a kill does: the files of the last moment are left. */
  void kill(String name) {
    DiskImage left = disk.snapshot();
    keep(name, /* closed= */ false, left);
    end(left);
  }

  /** Ends the life without a moment. */
  private void end(DiskImage left) {
    disk.close();
    try {
      db().close();
    } catch (RuntimeException dead) {
      // It can no longer write, which is intended.
    }
    open = null;
    written.clear();
    disk = MemoryFileSystem.of(left.fork());
  }

  /** Closes the database, and keeps the moment. */
  void closeCleanly(String name) {
    db().close();
    open = null;
    keep(name, /* closed= */ true, disk.image().fork());
  }

  private void keep(String name, boolean closed, DiskImage image) {
    moments.add(new Moment(name, closed, onlyDatabase(image), List.copyOf(states)));
  }

  /** The directory of the database as a root. */
  private static DiskImage onlyDatabase(DiskImage whole) {
    DiskImage image = whole.fork();
    Integer directory = image.lookup(DiskImage.ROOT, Place.DIRECTORY);
    if (directory == null) {
      throw new IllegalStateException("there is no database");
    }
    return image;
  }

  /** Later damage can restore only states from here on, because the log before is released. */
  void forgetHistory() {
    states = new ArrayList<>(List.of(states.getLast()));
  }

  // ---- operations ----

  State state() {
    return states.getLast();
  }

  Table table(String name, int partitions) {
    Table table =
        partitions == 1
            ? db().getOrCreateTable(name)
            : db().getOrCreateTable(name, TableOptions.hashPartitioned(partitions));
    if (!state().tables().containsKey(name)) {
      add(state().with(name, new TreeMap<>()));
    }
    return table;
  }

  /** Takes a number of a sequence; it is durable with the next commit. */
  void number(KnownSequence sequence) {
    numbers.put(sequence.text(), KnownSequence.next(db(), sequence));
  }

  /** Numbers given out before a commit are durable with it. */
  private void add(State next) {
    states.add(next.withNumbers(numbers));
  }

  void dropTable(String name) {
    db().dropTable(name);
    add(state().without(name));
  }

  void truncate(String name) {
    db().truncateTable(name);
    add(state().with(name, new TreeMap<>()));
  }

  /** A transaction whose content {@link #put} and {@link #delete} record. */
  Transaction transaction() {
    Transaction tx = db().begin();
    written.put(tx, new TreeMap<>());
    return tx;
  }

  void put(Transaction tx, String table, String key, byte[] value) {
    tx.put(found(tx, table), bytes(key), value);
    book(tx, table).put(key, State.mark(value));
  }

  /** In several pieces, like a stream. */
  void putStream(Transaction tx, String table, String key, byte[] value) {
    try {
      tx.put(found(tx, table), bytes(key), new ByteArrayInputStream(value));
    } catch (IOException e) {
      throw new UncheckedIOException("memory can be read", e);
    }
    book(tx, table).put(key, State.mark(value));
  }

  void delete(Transaction tx, String table, String key) {
    tx.delete(found(tx, table), bytes(key));
    book(tx, table).put(key, null);
  }

  private Table found(Transaction tx, String table) {
    Table known = tx.findTable(table);
    if (known == null) {
      throw new IllegalStateException("there is no table " + table);
    }
    return known;
  }

  private Map<String, @Nullable Long> book(Transaction tx, String table) {
    return written
        .computeIfAbsent(tx, any -> new TreeMap<>())
        .computeIfAbsent(table, any -> new TreeMap<>());
  }

  void commit(Transaction tx) {
    tx.commit();
    enter(tx);
  }

  private void enter(Transaction tx) {
    State now = state();
    Map<String, Map<String, @Nullable Long>> changes = written.remove(tx);
    if (changes == null) {
      throw new IllegalStateException("the content of this transaction was not recorded");
    }
    for (Map.Entry<String, Map<String, @Nullable Long>> table : changes.entrySet()) {
      Map<String, Long> rows = new TreeMap<>(now.tables().get(table.getKey()));
      table
          .getValue()
          .forEach((key, mark) -> {
            if (mark == null) {
              rows.remove(key);
            } else {
              rows.put(key, mark);
            }
          });
      now = now.with(table.getKey(), rows);
    }
    add(now);
  }

  void prepare(Transaction tx, String name) {
    tx.prepare(bytes(name));
    written.remove(tx); // both outcomes are possible; a trial decides
    TreeSet<String> names = new TreeSet<>(state().prepared());
    names.add(name);
    add(state().withPrepared(names));
  }

  /** Some rows in one transaction: new ones, small and large changes, deletions. */
  void work(String table, int rows, int largest) {
    Transaction tx = transaction();
    for (int i = 0; i < rows; i++) {
      change(tx, table, "k", largest);
    }
    commit(tx);
  }

  /** One row among few, so that it often has a former version. */
  void change(Transaction tx, String table, String prefix, int largest) {
    String key = key(prefix, random.nextInt(KEYS));
    if (random.nextInt(8) == 0) {
      delete(tx, table, key);
    } else {
      put(tx, table, key, value(key, largest));
    }
  }

  String key(String prefix, int number) {
    String key = prefix + "%04d".formatted(number);
    return number % 7 == 3 ? key + "-" + "long".repeat(number % 40) : key;
  }

  /**
   * Values of one key begin and end alike, as those of real rows do, so that a former value is kept
   * as a difference.
   */
  byte[] value(String key, int largest) {
    int length =
        switch (random.nextInt(6)) {
          case 0 -> random.nextInt(9);
          case 1, 2 -> 60 + key.length();
          case 3 -> random.nextInt(Math.min(1200, largest) + 1);
          default -> random.nextInt(largest + 1);
        };
    byte[] value =
        ("value of " + key + " ").repeat(length / 12 + 1).getBytes(StandardCharsets.ISO_8859_1);
    byte[] cut = java.util.Arrays.copyOf(value, length);
    for (int i = 0; i < 3 && length > 0; i++) {
      cut[random.nextInt(length)] = (byte) random.nextInt();
    }
    return cut;
  }

  static byte[] bytes(String key) {
    return key.getBytes(StandardCharsets.ISO_8859_1);
  }

  @Override
  public void close() {
    if (open != null) {
      end(disk.snapshot());
    }
  }
}

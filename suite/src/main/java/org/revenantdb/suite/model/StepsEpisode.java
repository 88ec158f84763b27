package org.revenantdb.suite.model;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import java.util.NavigableMap;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;
import org.revenantdb.chaos.crash.Seeds;
import org.revenantdb.chaos.oracle.SnapshotModel;
import org.revenantdb.suite.model.Store.ConflictException;
import org.revenantdb.suite.model.Store.Limits;
import org.revenantdb.suite.model.Store.Rows;
import org.revenantdb.suite.model.Store.Tx;

/**
 * One thread drives several sessions in turn against the store and a {@link SnapshotModel}; each
 * answer is predicted.
 *
 * <p>The same seed gives exactly the same steps (apart from background work of the store). In
 * between the store is closed in order and opened again, takes checkpoints, and is cleaned while
 * snapshots are open.
 */
final class StepsEpisode {

  private static final int SESSIONS = 5;
  private static final int STEPS = 6_000;

  /** Before this step more is written than the pool holds, so that pages are evicted. */
  private static final int OUTGROWS_AT = 5_400;

  private static final long LARGEST_OUTGROWN = 16 << 20;

  /** The number of rows used in a table: few, so that rows are used repeatedly. */
  private static final int ROWS = 400;

  private final ModelOptions options;
  private final Path database;
  private final SplittableRandom random;
  private final Tally tally;
  private final Store.Opener opener;
  private final SnapshotModel<RowKey, Value> model = new SnapshotModel<>();
  private final @Nullable Client[] clients = new @Nullable Client[SESSIONS];
  private Store store;
  private long lastVersion;
  private int step;

  StepsEpisode(ModelOptions options, Path dir, long seed, Tally tally) {
    this.options = options;
    this.database = dir.resolve("db");
    this.random = new SplittableRandom(Seeds.of(seed, 0));
    this.tally = tally;
    this.opener = options.newOpener();
    this.store = opener.open(database, Limits.draw(random, options.poolBytes()));
  }

  /** The content of a row: its bytes follow from these. */
  private record Value(long version, int length) {

    byte[] bytes() {
      return Values.of(version, length);
    }
  }

  /** A session: the store's transaction and the model's, side by side. */
  private record Client(Tx tx, SnapshotModel<RowKey, Value>.Session twin) {}

  void run() {
    try {
      for (step = 1; step <= STEPS; step++) {
        if (step == OUTGROWS_AT) {
          outgrowPool();
        }
        step();
        tally.steps++;
      }
      reopen();
      closeStore();
    } catch (RuntimeException | IOException e) {
      throw new ModelFailure("step " + step + ": " + e.getMessage(), e);
    }
  }

  private void step() throws IOException {
    int dice = random.nextInt(1_000);
    if (dice < 3) {
      reopen();
    } else if (dice < 8) {
      store.checkpoint();
    } else if (dice < 16) {
      store.clean();
    } else {
      int slot = random.nextInt(SESSIONS);
      Client client = clients[slot];
      if (client == null) {
        clients[slot] = new Client(store.begin(), model.begin());
      } else if (!operation(client)) {
        clients[slot] = null;
      }
    }
  }

  private void outgrowPool() throws IOException {
    abandonAll();
    Client client = new Client(store.begin(), model.begin());
    int length = (int) (Math.min(options.poolBytes(), LARGEST_OUTGROWN) * 3 / 2 / ROWS);
    for (int number = 0; number < ROWS; number++) {
      RowKey row = KeySpace.WIDE.row(number);
      Value value = new Value(++lastVersion, length);
      client.tx.put(row.table(), row.bytes(), value.bytes());
      client.twin.change(row, value);
    }
    client.tx.commit();
    client.tx.close();
    client.twin.commit();
  }

  /** One operation; returns false when the transaction has ended. */
  private boolean operation(Client client) throws IOException {
    int dice = random.nextInt(100);
    try {
      if (dice < 45) {
        put(client, anyRow());
      } else if (dice < 47) {
        putBroken(client, anyRow());
      } else if (dice < 55) {
        delete(client, anyRow());
      } else if (dice < 67) {
        get(client, anyRow());
      } else if (dice < 77) {
        scan(client);
      } else if (dice < 80) {
        fill(client);
      } else if (dice < 83) {
        sweep(client);
      } else if (dice < 94) {
        client.tx.commit();
        client.tx.close();
        client.twin.commit();
        return false;
      } else {
        abandon(client);
        return false;
      }
      return true;
    } catch (ConflictException e) {
      tally.conflicts++;
      abandon(client);
      return false;
    }
  }

  private void abandon(Client client) {
    client.tx.rollback();
    client.tx.close();
    client.twin.rollback();
  }

  private void abandonAll() {
    for (int slot = 0; slot < SESSIONS; slot++) {
      Client client = clients[slot];
      if (client != null) {
        abandon(client);
        clients[slot] = null;
      }
    }
  }

  private RowKey anyRow() {
    KeySpace space = KeySpace.ALL.get(random.nextInt(KeySpace.ALL.size()));
    return space.row(random.nextInt(Math.min(ROWS, space.rows())));
  }

  private void put(Client client, RowKey row) throws IOException {
    Value value = new Value(++lastVersion, length(row));
    boolean conflict = client.twin.conflicts(row);
    try {
      if (random.nextInt(4) == 0) {
        client.tx.put(row.table(), row.bytes(), Values.stream(value.version, value.length));
      } else {
        client.tx.put(row.table(), row.bytes(), value.bytes());
      }
    } catch (ConflictException e) {
      demand(conflict, "a put of %s met a conflict where there is none", row);
      throw e;
    }
    demand(!conflict, "a put of %s met no conflict where there is one", row);
    client.twin.change(row, value);
  }

  /** The value's stream throws half way: nothing has changed, and the transaction continues. */
  private void putBroken(Client client, RowKey row) throws IOException {
    int length = row.space().valueLength(random);
    try {
      client.tx.put(row.table(), row.bytes(), new BrokenStream(length));
      throw new ModelFailure("a put of " + row + " from a stream that throws did not throw");
    } catch (BrokenStream.Broken e) {
      get(client, row);
    }
  }

  private int length(RowKey row) {
    if (random.nextInt(8) == 0) {
      return random.nextInt(Values.NAMED);
    }
    int length = row.space().valueLength(random);
    return random.nextInt(10) == 0 ? length : Math.min(length, 40_000);
  }

  private void delete(Client client, RowKey row) {
    boolean conflict = client.twin.conflicts(row);
    boolean there = client.twin.rows().containsKey(row);
    boolean deleted;
    try {
      deleted = client.tx.delete(row.table(), row.bytes());
    } catch (ConflictException e) {
      demand(conflict, "a delete of %s met a conflict where there is none", row);
      throw e;
    }
    // If this transaction sees no row, both answers to a change by others are right: nothing to do,
    // or a conflict.
    demand(!conflict || !there, "a delete of %s met no conflict where there is one", row);
    demand(deleted == there, "a delete of %s returned " + deleted, row);
    if (there) {
      client.twin.change(row, null);
    }
  }

  private void get(Client client, RowKey row) throws IOException {
    Value expected = client.twin.rows().get(row);
    byte[] found;
    if (random.nextInt(3) == 0) {
      try (InputStream in = client.tx.open(row.table(), row.bytes())) {
        found = in == null ? null : in.readAllBytes();
      }
    } else {
      found = client.tx.get(row.table(), row.bytes());
    }
    demandSame(row, expected, found);
  }

  private void scan(Client client) {
    RowKey one = anyRow();
    while (one.space() == KeySpace.EXTRA) {
      one = anyRow();
    }
    KeySpace space = one.space();
    int end = one.number() + random.nextInt(1, 150);
    boolean descending = random.nextBoolean();
    boolean bounded = random.nextInt(8) != 0;
    NavigableMap<RowKey, Value> expected =
        bounded
            ? client.twin.rows().subMap(one, true, space.row(end), false)
            : client.twin.rows().subMap(space.row(0), true, space.row(Integer.MAX_VALUE), false);
    if (descending) {
      expected = expected.descendingMap();
    }
    byte[] from = bounded ? one.bytes() : null;
    byte[] to = bounded ? space.key(end) : null;
    try (Rows rows = client.tx.scan(one.table(), from, to, descending)) {
      compare(rows, expected, space);
    }
  }

  private void compare(Rows rows, Map<RowKey, Value> expected, KeySpace space) {
    for (Map.Entry<RowKey, Value> entry : expected.entrySet()) {
      demand(rows.next(), "a scan ends before %s", entry.getKey());
      RowKey found = space.rowOf(rows.key());
      demand(
          found.equals(entry.getKey()),
          "a scan shows " + found + " where %s is expected",
          entry.getKey());
      demandSame(found, entry.getValue(), rows.value());
    }
    if (rows.next()) {
      throw new ModelFailure(
          "a scan shows " + space.rowOf(rows.key()) + " where its end is expected");
    }
  }

  private void fill(Client client) throws IOException {
    int first = random.nextInt(ROWS);
    for (int i = random.nextInt(1, 120); i > 0; i--) {
      put(client, KeySpace.RANGE.row(first + i));
    }
  }

  private void sweep(Client client) {
    int first = random.nextInt(ROWS);
    for (int i = 0; i < 100; i++) {
      delete(client, KeySpace.RANGE.row(first + i));
    }
  }

  /** Ends all sessions, or leaves that to the close; closes, opens, and compares everything. */
  private void reopen() throws IOException {
    if (random.nextInt(4) == 0) {
      closeStore();
      open();
      return;
    }
    abandonAll();
    if (random.nextInt(3) == 0) {
      Verifier.demandCleanable(store);
    }
    closeStore();
    open();
  }

  private void open() throws IOException {
    for (int slot = 0; slot < SESSIONS; slot++) {
      Client client = clients[slot];
      if (client != null) {
        client.tx.close();
        client.twin.rollback();
        clients[slot] = null;
      }
    }
    store = opener.open(database, Limits.draw(random, options.poolBytes()));
    tally.reopenings++;
    Verifier.demandSound(store, "after a clean close");
    try (Tx tx = store.begin()) {
      for (KeySpace space : KeySpace.ALL) {
        compareTables(tx, space);
      }
      tx.rollback();
    }
  }

  private void compareTables(Tx tx, KeySpace space) {
    int[] first = space.tables().toArray();
    for (int i = 0; i < first.length; i++) {
      int end = i + 1 < first.length ? first[i + 1] : Integer.MAX_VALUE;
      NavigableMap<RowKey, Value> expected =
          model.committed().subMap(space.row(first[i]), true, space.row(end), false);
      try (Rows rows = tx.scan(space.table(first[i]), null, null, false)) {
        compare(rows, expected, space);
      }
    }
  }

  private void closeStore() {
    tally.count(store.counters());
    store.close();
    tally.cleanCloses++;
  }

  private static void demandSame(RowKey row, @Nullable Value expected, byte @Nullable [] found) {
    byte[] bytes = expected == null ? null : expected.bytes();
    if (!Arrays.equals(bytes, found)) {
      throw new ModelFailure(
          "%s: %s is read where %s is expected"
              .formatted(
                  row,
                  found == null ? "nothing" : found.length + " bytes " + head(found),
                  expected == null ? "nothing" : expected + " " + head(expected.bytes())));
    }
  }

  private static String head(byte[] value) {
    return Arrays.toString(Arrays.copyOf(value, Math.min(value.length, Values.NAMED)));
  }

  private static void demand(boolean holds, String complaint, RowKey row) {
    if (!holds) {
      throw new ModelFailure(complaint.formatted(row));
    }
  }
}

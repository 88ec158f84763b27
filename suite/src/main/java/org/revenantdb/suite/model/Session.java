package org.revenantdb.suite.model;

import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.revenantdb.chaos.crash.ChildPipe;
import org.revenantdb.chaos.oracle.Attempt;
import org.revenantdb.suite.model.Store.ConflictException;
import org.revenantdb.suite.model.Store.Rows;
import org.revenantdb.suite.model.Store.Tx;

/**
 * One client of the store in the child: random transactions, each reported to the parent.
 *
 * <p>A row is read before it is written, so that the parent learns which version was replaced. The
 * operations of a transaction are reported before its commit is requested at the latest, and the
 * acknowledgement at once.
 *
 * <p>Threads: the one that runs the session.
 */
final class Session {

  private static final int SAY_AT = 4_096;
  private static final int STREAM_FROM = 64 * 1024;

  private final int number;
  private final SplittableRandom random;
  private final Store store;
  private final ChildPipe pipe;
  private final Ticks ticks;
  private final StringBuilder told = new StringBuilder();
  private long lastVersion;

  Session(int number, int life, long seed, Store store, ChildPipe pipe, Ticks ticks) {
    this.number = number;
    this.random = new SplittableRandom(seed);
    this.store = store;
    this.pipe = pipe;
    this.ticks = ticks;
    this.lastVersion = (long) life << 44 | (long) number << 36;
  }

  void transaction(int n) throws IOException {
    housekeeping();
    long before = ticks.next();
    Tx tx = store.begin();
    try (tx) {
      tell(WorkerMain.hex("T", number, n, before, ticks.next()));
      body(tx);
      if (random.nextInt(10) == 0) {
        tx.rollback();
        tell(WorkerMain.hex("X", number));
      } else {
        tell(WorkerMain.hex("C", number));
        say();
        commit(tx);
        tell(WorkerMain.hex("A", number, ticks.next()));
        say();
      }
    } catch (ConflictException e) {
      // It was closed on the way here, which rolled it back.
      tell(WorkerMain.hex("X", number));
    }
  }

  /** Commits, sometimes on an interrupted thread, which must make no difference. */
  private void commit(Tx tx) {
    boolean interrupted = random.nextInt(30) == 0;
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
    if (random.nextInt(5) == 0) {
      tx.commitInTwoPhases();
    } else {
      tx.commit();
    }
    if (Thread.interrupted() != interrupted) {
      throw new ModelFailure("a commit " + (interrupted ? "swallowed" : "made") + " an interrupt");
    }
  }

  private void housekeeping() {
    switch (random.nextInt(400)) {
      case 0 -> store.checkpoint();
      case 1 -> store.clean();
      default -> {}
    }
  }

  private void body(Tx tx) throws IOException {
    int kind = random.nextInt(100);
    if (kind < 50) {
      few(tx);
    } else if (kind < 62) {
      fill(tx);
    } else if (kind < 74) {
      sweep(tx);
    } else if (kind < 82) {
      write(tx, KeySpace.BLOB.row(random.nextInt(KeySpace.BLOB.rows())));
    } else if (kind < 90) {
      look(tx);
    } else if (kind < 97) {
      lookTwice(tx);
    } else {
      many(tx);
    }
  }

  /** A few single operations. */
  private void few(Tx tx) throws IOException {
    for (int i = random.nextInt(1, 9); i > 0; i--) {
      RowKey row = anyRow();
      int operation = random.nextInt(20);
      if (operation < 11) {
        write(tx, row);
      } else if (operation < 14) {
        delete(tx, row);
      } else if (operation < 17) {
        read(tx, row);
      } else if (operation < 18) {
        putBroken(tx, row);
      } else if (operation < 19) {
        writeAndTakeBack(tx, row);
      } else {
        RowKey from = rowToWalkFrom();
        walk(tx, from.space(), from.number(), from.number() + random.nextInt(1, 20));
      }
    }
  }

  /** Writes a run of neighbouring rows. */
  private void fill(Tx tx) throws IOException {
    int count = random.nextInt(20, 200);
    int first = random.nextInt(KeySpace.RANGE.rows() - count);
    for (int i = 0; i < count; i++) {
      write(tx, KeySpace.RANGE.row(first + i));
    }
  }

  /** Removes a run of neighbouring rows, so that leaves become empty. */
  private void sweep(Tx tx) {
    KeySpace space = random.nextInt(4) == 0 ? KeySpace.WIDE : KeySpace.RANGE;
    int first = random.nextInt(space.rows());
    for (RowKey row : walk(tx, space, first, first + random.nextInt(50, 600))) {
      delete(tx, row);
    }
  }

  /** Only reads; both directions must give the same. */
  private void look(Tx tx) {
    KeySpace space = rowToWalkFrom().space();
    int first = random.nextInt(space.rows());
    int end = first + random.nextInt(1, 200);
    List<RowKey> up = walk(tx, space, first, end);
    List<RowKey> down = new ArrayList<>();
    try (Rows rows = tx.scan(space.table(first), space.key(first), space.key(end), true)) {
      while (rows.next()) {
        down.addFirst(space.rowOf(rows.key()));
      }
    }
    if (!up.equals(down)) {
      throw new ModelFailure(
          "%s, rows %d to %d: upwards there are %s, downwards %s"
              .formatted(space, first, end, up, down));
    }
  }

  /** Reads the same rows at the beginning and at the end, with the work of others in between. */
  private void lookTwice(Tx tx) throws IOException {
    List<RowKey> rows = new ArrayList<>();
    for (int i = random.nextInt(1, 30); i > 0; i--) {
      rows.add(anyRow());
    }
    for (RowKey row : rows) {
      read(tx, row);
    }
    look(tx);
    for (RowKey row : rows) {
      read(tx, row);
    }
  }

  /** Writes more than the pool of pages holds. */
  private void many(Tx tx) throws IOException {
    for (int i = random.nextInt(200, 1_000); i > 0; i--) {
      write(tx, KeySpace.WIDE.row(random.nextInt(KeySpace.WIDE.rows())));
    }
  }

  private RowKey anyRow() {
    return random.nextInt(50) == 0
        ? KeySpace.EXTRA.row(random.nextInt(KeySpace.EXTRA.rows()))
        : rowToWalkFrom();
  }

  /** A row of a space that is one table. */
  private RowKey rowToWalkFrom() {
    int dice = random.nextInt(20);
    KeySpace space =
        dice < 4
            ? KeySpace.HOT
            : dice < 12
                ? KeySpace.WIDE
                : dice < 15 ? KeySpace.LONG : dice < 19 ? KeySpace.RANGE : KeySpace.BLOB;
    return space.row(random.nextInt(space.rows()));
  }

  /** Reads the row and reports it. */
  private long read(Tx tx, RowKey row) {
    long version = version(tx, row);
    tellRead(row, version);
    return version;
  }

  private long version(Tx tx, RowKey row) {
    String table = row.table();
    if (row.space() == KeySpace.BLOB && random.nextBoolean()) {
      InputStream in = tx.open(table, row.bytes());
      return in == null ? Attempt.ABSENT : Values.verify(in);
    }
    byte[] value = tx.get(table, row.bytes());
    return value == null ? Attempt.ABSENT : Values.verify(value);
  }

  private void write(Tx tx, RowKey row) throws IOException {
    long replaced = version(tx, row);
    long version = ++lastVersion;
    int length = row.space().valueLength(random);
    if (row.space() == KeySpace.EXTRA && random.nextBoolean()) {
      tx.makeTable(row.table());
    }
    if (length >= STREAM_FROM && random.nextBoolean()) {
      tx.put(row.table(), row.bytes(), Values.stream(version, length));
    } else {
      tx.put(row.table(), row.bytes(), Values.of(version, length));
    }
    tellWrite(row, version, replaced);
  }

  /** The value's stream throws half way: nothing has changed, and the transaction continues. */
  private void putBroken(Tx tx, RowKey row) throws IOException {
    try {
      tx.put(row.table(), row.bytes(), new BrokenStream(row.space().valueLength(random)));
      throw new ModelFailure("a put of " + row + " from a stream that throws did not throw");
    } catch (BrokenStream.Broken e) {
      read(tx, row);
    }
  }

  /** Writes some rows and goes back to the savepoint; the parent need not know about it. */
  private void writeAndTakeBack(Tx tx, RowKey first) throws IOException {
    List<RowKey> rows = new ArrayList<>(List.of(first));
    for (int i = random.nextInt(8); i > 0; i--) {
      rows.add(anyRow());
    }
    long[] before = new long[rows.size()];
    for (int i = 0; i < before.length; i++) {
      before[i] = version(tx, rows.get(i));
    }
    Runnable takeBack = tx.savepoint();
    if (takeBack == null) {
      return;
    }
    for (RowKey row : rows) {
      if (random.nextInt(4) == 0) {
        tx.delete(row.table(), row.bytes());
      } else {
        int length = row.space().valueLength(random);
        tx.put(row.table(), row.bytes(), Values.of(++lastVersion, length));
      }
    }
    takeBack.run();
    for (int i = 0; i < before.length; i++) {
      long after = version(tx, rows.get(i));
      if (after != before[i]) {
        throw new ModelFailure(
            "%s was %s before a savepoint, and %s after going back to it"
                .formatted(rows.get(i), Long.toHexString(before[i]), Long.toHexString(after)));
      }
    }
  }

  private void delete(Tx tx, RowKey row) {
    long replaced = version(tx, row);
    boolean deleted = tx.delete(row.table(), row.bytes());
    if (deleted != (replaced != Attempt.ABSENT)) {
      throw new ModelFailure(
          "delete of %s returned %s, but the transaction had seen %s"
              .formatted(row, deleted, Long.toHexString(replaced)));
    }
    if (deleted) {
      tellWrite(row, Attempt.ABSENT, replaced);
    } else {
      tellRead(row, replaced);
    }
  }

  /** Scans upwards and reports each row; returns the rows found. */
  private List<RowKey> walk(Tx tx, KeySpace space, int first, int end) {
    List<RowKey> seen = new ArrayList<>();
    int next = first;
    try (Rows rows = tx.scan(space.table(first), space.key(first), space.key(end), false)) {
      while (rows.next()) {
        RowKey row = space.rowOf(rows.key());
        if (row.number() < next || row.number() >= end) {
          throw new ModelFailure(
              "a walk from %d to %d shows %s where %d or more was due"
                  .formatted(first, end, row, next));
        }
        tellGap(space, next, row.number());
        tellRead(row, Values.verify(rows.value()));
        seen.add(row);
        next = row.number() + 1;
      }
    }
    tellGap(space, next, Math.min(end, space.rows()));
    return seen;
  }

  private void tellGap(KeySpace space, int from, int to) {
    for (int i = from; i < to; i++) {
      tellRead(space.row(i), Attempt.ABSENT);
    }
  }

  private void tellRead(RowKey row, long version) {
    tell(WorkerMain.hex("R", number, ChildLedger.code(row), version));
  }

  private void tellWrite(RowKey row, long version, long replaced) {
    tell(WorkerMain.hex("W", number, ChildLedger.code(row), version, replaced));
  }

  private void tell(String line) {
    if (!told.isEmpty()) {
      told.append('\n');
    }
    told.append(line);
    if (told.length() >= SAY_AT) {
      say();
    }
  }

  private void say() {
    if (!told.isEmpty()) {
      pipe.say(told);
      told.setLength(0);
    }
  }
}

package org.revenantdb.suite.crash;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.random.RandomGenerator;
import org.revenantdb.chaos.subject.Promises;
import org.revenantdb.chaos.subject.Recovered;
import org.revenantdb.engine.CheckReport;
import org.revenantdb.engine.Database;

/**
 * Tables that are created, dropped and truncated in transactions, together with rows. After a crash
 * the set of tables and all their rows are those after a committed transaction, or after the one
 * that was being committed.
 */
public final class SchemaSubject extends RevenantSubject {

  private static final int SESSIONS = 2;
  private static final int STEPS = 24;

  /** Steps of a session before it leaves a transaction open. */
  private static final int STEPS_BETWEEN = 10;

  private static final int RESUMED_STEPS = 3;

  /** Sessions of new work use other values than those of the life. */
  private static final int RESUMED = 50;

  private final int sessions;
  private final SchemaTransaction.Beginner beginner;

  /** Creates the subject. */
  public SchemaSubject() {
    this(SESSIONS, SchemaTransaction::new);
  }

  /** Creates the subject with a number of sessions; their transactions may be broken on purpose. */
  SchemaSubject(int sessions, SchemaTransaction.Beginner beginner) {
    this.sessions = sessions;
    this.beginner = beginner;
  }

  @Override
  public void work(Database db, Promises promises) {
    AtomicInteger owners = new AtomicInteger();
    new Sessions(db, promises)
        .together(
            sessions,
            (worker, random) -> {
              int owner = owners.getAndIncrement();
              live(new SchemaSession(db, promises, beginner, owner, owner, random));
            },
            () -> meanwhile(db, promises));
  }

  private static void live(SchemaSession session) {
    for (int step = 1; step <= STEPS; step++) {
      session.step();
      if (step % STEPS_BETWEEN == 0) {
        session.leaveOpen();
      }
    }
  }

  private static void meanwhile(Database db, Promises promises) {
    RandomGenerator random = promises.random();
    for (int i = 0; i < 4; i++) {
      switch (random.nextInt(4)) {
        case 0 -> db.compact();
        case 1 -> db.checkpoint();
        default -> db.cleanNow();
      }
    }
  }

  @Override
  void resumeMore(Database db, Promises promises, RandomGenerator random) {
    for (int owner = 0; owner < sessions; owner++) {
      SchemaSession session =
          new SchemaSession(db, promises, beginner, owner, RESUMED + owner, random);
      for (int step = 0; step < RESUMED_STEPS; step++) {
        session.step();
      }
    }
    // What lazy commits leave over is cleaned only when they are durable.
    db.sync();
    promises.allDurable();
  }

  @Override
  void checkMore(
      Database db, CheckReport report, Recovered recovered, List<Map.Entry<byte[], byte[]>> rows) {
    for (int owner = 0; owner < sessions; owner++) {
      long digest = digest(rows, SchemaSession.digestKey(owner));
      SchemaModel found = SchemaSession.read(db, owner);
      recovered.demand(
          found.digest() == digest, "no transaction left these tables with these rows: " + found);
    }
    for (String name : db.tableNames()) {
      if (SchemaSession.isName(name)) {
        rows.add(Map.entry(SchemaSession.tableKey(name), SchemaSession.tableValue(db.table(name))));
      }
    }
  }

  /** The content of a row; without one, that of no tables. */
  private static long digest(List<Map.Entry<byte[], byte[]>> rows, byte[] key) {
    return rows.stream()
        .filter(row -> Arrays.equals(row.getKey(), key))
        .mapToLong(row -> SchemaSession.digest(row.getValue()))
        .findAny()
        .orElse(0);
  }
}

package org.revenantdb.suite.copies;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import org.revenantdb.chaos.history.HistoryStore;
import org.revenantdb.engine.Database;

/** A store whose copies are made and read beside its clients. */
final class CopiedStore implements HistoryStore {

  private static final int EACH = 12;

  private final CopyLives lives;
  private final Database db;
  private final HistoryStore own;
  private final AtomicInteger begun = new AtomicInteger();
  private final ReentrantLock besides = new ReentrantLock();

  CopiedStore(CopyLives lives, Database db, HistoryStore own) {
    this.lives = lives;
    this.db = db;
    this.own = own;
  }

  @Override
  public Tx begin(boolean lazy) {
    if (begun.incrementAndGet() % EACH == 0 && besides.tryLock()) {
      try {
        lives.beside(db);
      } finally {
        besides.unlock();
      }
    }
    return own.begin(lazy);
  }

  @Override
  public Tx beginToRead(boolean lazy) {
    Tx copy = lives.beginToRead(db, lazy);
    return copy != null ? copy : own.beginToRead(lazy);
  }

  @Override
  public void sync() {
    own.sync();
  }

  @Override
  public void housekeeping() {
    own.housekeeping();
  }

  @Override
  public void close() {
    own.close();
  }
}

package org.revenantdb.suite.crash;

import org.revenantdb.chaos.subject.Promises;
import org.revenantdb.engine.Database;

/**
 * Waits with small transactions until a new log segment is ready, so that they speak of it (E4 of
 * the end of the log) while nothing has forced it but its own making; then goes on into it.
 */
public final class SegmentAheadSubject extends RevenantSubject {

  /** Two of them are more than half of a segment; then the next one is prepared. */
  private static final int LENGTH = 280_000;

  private static final int SEGMENTS = 3;
  private static final int PATIENCE = 60;
  private static final int SPEAK = 4;

  /** Creates the subject. */
  public SegmentAheadSubject() {}

  @Override
  public void work(Database db, Promises promises) {
    Worker worker = new Sessions(db, promises).worker();
    // The first one may be made of one that creating the database left.
    for (int segment = 0; segment < SEGMENTS; segment++) {
      long before = db.statistics().files().logDirectoryBytes();
      large(worker, 0);
      large(worker, 1);
      for (int i = 0; i < PATIENCE && db.statistics().files().logDirectoryBytes() == before; i++) {
        small(worker, i);
      }
      for (int i = 0; i < SPEAK; i++) {
        small(worker, i);
      }
      large(worker, 2);
      large(worker, 3);
    }
  }

  private static void small(Worker worker, int row) {
    worker.commit(writes -> writes.put(Tables.HOT, Tables.key(row), 40));
  }

  private static void large(Worker worker, int row) {
    worker.commit(writes -> writes.put(Tables.LARGE, Tables.key(row), LENGTH));
  }
}

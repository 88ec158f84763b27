package org.revenantdb.suite.crash;

import org.revenantdb.chaos.subject.Promises;
import org.revenantdb.engine.Database;

/**
 * Commits small transactions until a new log segment is ready, so that they refer to it (E4 of the
 * end of the log) while only its creation has forced it. Then it continues in that segment.
 */
public final class SegmentAheadSubject extends RevenantSubject {

  /** Two of them fill more than half of a segment; then the next segment is prepared. */
  private static final int LENGTH = 280_000;

  private static final int SEGMENTS = 3;
  private static final int PATIENCE = 60;
  private static final int SPEAK = 4;

  /** Creates the subject. */
  public SegmentAheadSubject() {}

  @Override
  public void work(Database db, Promises promises) {
    Worker worker = new Sessions(db, promises).worker();
    // The first one may reuse a segment left by the creation of the database.
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

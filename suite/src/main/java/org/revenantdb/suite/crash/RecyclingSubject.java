package org.revenantdb.suite.crash;

import org.revenantdb.chaos.subject.Promises;
import org.revenantdb.engine.Database;

/**
 * Writes more log than the limit, in large values: a checkpoint releases segments, which are reused
 * at once.
 */
public final class RecyclingSubject extends RevenantSubject {

  private static final int ROUNDS = 3;
  private static final int ROWS = 4;
  private static final int LENGTH = 300_000;
  private static final int SMALL = 12;

  /** Creates the subject. */
  public RecyclingSubject() {}

  @Override
  public void work(Database db, Promises promises) {
    Worker worker = new Sessions(db, promises).worker();
    for (int round = 0; round < ROUNDS; round++) {
      for (int row = 0; row < ROWS; row++) {
        int key = row;
        worker.commit(writes -> writes.put(Tables.LARGE, Tables.key(key), LENGTH));
      }
      // They contain that a segment is ready, which no other record contains yet.
      for (int small = 0; small < SMALL; small++) {
        int key = small;
        worker.commit(writes -> writes.put(Tables.HOT, Tables.key(key), 40));
      }
      db.checkpoint();
      worker.commit(writes -> writes.put(Tables.HOT, Tables.key(1), 40));
    }
  }
}

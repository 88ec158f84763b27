package org.revenantdb.suite.crash;

import org.revenantdb.chaos.subject.Promises;
import org.revenantdb.engine.Database;

/**
 * Goes through more log than it may keep, in large values: segments are given up by a checkpoint
 * and become later ones at once.
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
      // They say that a segment is ready that nothing else speaks of yet.
      for (int small = 0; small < SMALL; small++) {
        int key = small;
        worker.commit(writes -> writes.put(Tables.HOT, Tables.key(key), 40));
      }
      db.checkpoint();
      worker.commit(writes -> writes.put(Tables.HOT, Tables.key(1), 40));
    }
  }
}

package org.revenantdb.suite.crash;

import java.nio.file.Files;
import java.nio.file.Path;
import org.revenantdb.chaos.subject.Promises;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseOptions;

/**
 * A database that is created with the double-write file and works without it from its second
 * opening on. What the first life left in that file must never repair a page of a later life (rule
 * R24).
 */
public final class SwitchOffSubject extends RevenantSubject {

  /**
   * The last rows come after the last checkpoint, so that the batch of the close contains their
   * page.
   */
  private static final int ROWS = 28;

  /** Creates the subject. */
  public SwitchOffSubject() {}

  @Override
  DatabaseOptions options(Path database) {
    return options().withDoubleWrite(!Files.exists(database.resolve("revenant.data")));
  }

  @Override
  public void work(Database db, Promises promises) {
    Worker worker = new Sessions(db, promises).worker();
    for (int row = 0; row < ROWS; row++) {
      int key = row;
      worker.commit(writes -> writes.put(Tables.HOT, Tables.key(key), 300));
      if (row % 8 == 7) {
        db.checkpoint();
      }
    }
  }
}

package org.revenantdb.jmh.recovery;

import java.nio.file.Path;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.Table;
import org.revenantdb.jmh.fork.Told;

/**
 * A JVM that has a database killed again and again while sessions commit lazily ({@link LazyLife}),
 * and counts the rows that were acknowledged and are lost.
 *
 * <p>Arguments: directory, number of kills, seed.
 */
public final class LostRowsFork {
  private LostRowsFork() {}

  /**
   * Prints {@code = lost_after_kill}, {@code = acknowledged_rows} and {@code = kills_that_lost}.
   *
   * @param arguments see the class
   * @throws Exception if a life did not end as it should
   */
  public static void main(String[] arguments) throws Exception {
    Path directory = Path.of(arguments[0]).resolve("database");
    int kills = Integer.parseInt(arguments[1]);
    Acknowledged acknowledged = Acknowledged.beside(directory, LazyLife.SESSIONS);
    long lost = 0;
    int killsThatLost = 0;
    for (int life = 1; life <= kills; life++) {
      String[] own = CrashImage.with(directory, Integer.toString(life), arguments[2]);
      RestartFork.expect(RestartFork.KILLED, LazyLife.class, CrashImage.flags(), own);
      // A life counts what the kill before it has lost.
      killsThatLost += acknowledged.lost() > lost ? 1 : 0;
      lost = acknowledged.lost();
    }
    try (Database database = Database.open(directory)) {
      Table table = database.getOrCreateTable(CrashImage.ROWS);
      long missing = LazyLife.missing(database, table, acknowledged);
      killsThatLost += missing > lost ? 1 : 0;
      Told.tell("lost_after_kill", (double) missing);
      Told.tell("acknowledged_rows", (double) acknowledged.all());
      Told.tell("kills_that_lost", killsThatLost);
    }
  }
}

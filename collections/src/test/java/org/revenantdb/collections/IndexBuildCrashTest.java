package org.revenantdb.collections;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.revenantdb.chaos.junit.CrashTest;
import org.revenantdb.chaos.subject.Crash;
import org.revenantdb.chaos.subject.CrashSubject;
import org.revenantdb.chaos.subject.Promises;
import org.revenantdb.chaos.subject.Recovered;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.testing.Drawn;

/**
 * Two indexes are built beside a writer, and a crash comes at any moment of that: the next life
 * continues the builds, and then each row has its entries, and each entry leads to a row.
 */
@Tag("slow")
@CrashTest(
    crash = {Crash.POWER_CUT, Crash.PROCESS_DEATH},
    states = 40,
    kills = 1,
    seed = 20_261_129)
@Drawn(oneIn = 2)
class IndexBuildCrashTest implements CrashSubject<IndexBuildCrashTest.People> {
  private static final int ROWS = 700; // three batches of a build

  record Person(String name, String city) {}

  record People(Database db, TypedTable<String, Person> rows) implements AutoCloseable {
    /** Declares both indexes, and builds what is not complete. */
    void index() {
      Index<String, String, Person> _ =
          rows.index("by name", Index.unique(Keys.strings(), Person::name));
      Index<String, String, Person> _ =
          rows.index("by city", Index.of(Keys.strings(), Person::city));
    }

    @Override
    public void close() {
      db.close();
    }
  }

  @Override
  public People open(Path dir) {
    Database db =
        Database.open(
            dir.resolve("db"),
            DatabaseOptions.defaults().withPoolBytes(4 << 20).withLogSegmentBytes(1 << 20));
    return new People(
        db, TypedTable.open(db, "people", Keys.strings(), Codecs.records(Person.class)));
  }

  @Override
  public void work(People people, Promises promises) throws Exception {
    String seed = promises.seed() + "/";
    boolean isFirst = people.db.read(tx -> people.rows.scan(tx).first() == null);
    if (isFirst) {
      people.db.run(tx -> {
        for (int i = 0; i < ROWS; i++) {
          people.rows.put(tx, "filled " + i, new Person("filled " + i, "city " + i % 7));
        }
      });
    } else { // or writes are refused
      people.index();
    }
    Thread writer =
        Thread.ofPlatform()
            .start(() -> {
              for (int i = 0; i < 20; i++) {
                String key = (i % 2 == 0 ? "early " : "late ") + i;
                String name = seed + i;
                promises.attempt(key, name);
                people.db.run(tx -> people.rows.put(tx, key, new Person(name, "city " + name)));
                promises.durable(key, name);
                String filled = "filled " + i * 30;
                people.db.run(tx ->
                    people.rows.put(tx, filled, new Person(filled + " of " + seed, "elsewhere")));
              }
            });
    people.index();
    writer.join();
  }

  @Override
  public void check(People people, Recovered recovered) {
    people.index();
    Map<String, String> promised = new HashMap<>();
    List<String> problems =
        people.db.read(tx -> {
          int filled = 0;
          try (TypedCursor<String, Person> rows = people.rows.scan(tx).cursor()) {
            while (rows.next()) {
              if (rows.key().startsWith("filled ")) {
                filled++;
              } else {
                promised.put(rows.key(), rows.value().name());
              }
            }
          }
          recovered.demand(filled == 0 || filled == ROWS, filled + " of " + ROWS + " rows");
          return people.rows.check(tx);
        });
    recovered.demand(problems.isEmpty(), "" + problems);
    recovered.verifyAll(promised);
  }
}

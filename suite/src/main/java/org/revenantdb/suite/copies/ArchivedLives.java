package org.revenantdb.suite.copies;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.ArchiveOptions;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.history.IsolationLevel;

/** Lives of a database with an archive, which has its log whenever that is asked for. */
abstract class ArchivedLives extends CopyLives {

  static final String ARCHIVE = "archive";

  /**
   * The archive has all transactions that were acknowledged before one place, since another place.
   */
  record Shipped(long least, long done) {}

  private final List<Shipped> shipped = new CopyOnWriteArrayList<>();
  private final Duration bases;

  ArchivedLives(Machines machines, IsolationLevel level, long seed, RandomGenerator random) {
    super(machines, level, seed, random);
    this.bases = random.nextBoolean() ? ArchiveOptions.NEVER : Duration.ofMillis(20);
  }

  /** Options with an archive. */
  final DatabaseOptions with(Path archive) {
    return small()
        .withArchive(
            ArchiveOptions.to(archive)
                .withInterval(LONG)
                .withBaseEvery(bases)
                .withListener(event -> {}));
  }

  @Override
  final Database open() {
    return Database.open(
        machines.path(Machine.SOURCE, DATABASE), with(machines.path(Machine.ARCHIVE, ARCHIVE)));
  }

  /** Recovers the database after a crash, with its archive. */
  final Database opened(Crashed crashed) {
    return Database.open(
        crashed.path(Machine.SOURCE, DATABASE), with(crashed.path(Machine.ARCHIVE, ARCHIVE)));
  }

  /** Ships all that was acknowledged, and returns the place before that. */
  final long ship(Database db) {
    long least = now();
    db.sync();
    db.archiveNow();
    shipped.add(new Shipped(least, now()));
    return least;
  }

  @Override
  void ending(Database db) {
    ship(db);
  }

  @Override
  List<Long> places() {
    return shipped.stream().map(Shipped::done).toList();
  }

  /** What was shipped last before a crash; null if nothing was. */
  final @Nullable Shipped shippedBefore(long place) {
    return shipped.stream().filter(one -> one.done < place).reduce(null, ArchivedLives::later);
  }

  private static Shipped later(@Nullable Shipped one, Shipped other) {
    return one == null || other.least > one.least ? other : one;
  }
}

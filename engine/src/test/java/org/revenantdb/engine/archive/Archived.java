package org.revenantdb.engine.archive;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;
import org.revenantdb.engine.ArchiveOptions;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.RestoreReport;
import org.revenantdb.engine.RestoreRequest;
import org.revenantdb.engine.StorageException;
import org.revenantdb.engine.backup.BackedUp;

/** What the tests of archives share. */
final class Archived {
  private Archived() {}

  /** A small database with an archive that is written when a test asks for it, and at the close. */
  static DatabaseOptions small(Path archive) {
    return BackedUp.SMALL.withArchive(quiet(archive));
  }

  /** Options for histories: a short interval, and bases or none, as the seed draws. */
  static DatabaseOptions drawn(Random random, Path archive) {
    return BackedUp.SMALL
        .withMaxRecoveryPages(random.nextBoolean() ? 256 : Integer.MAX_VALUE)
        .withArchive(
            quiet(archive)
                .withInterval(Duration.ofMillis(1 + random.nextInt(20)))
                .withBaseEvery(
                    random.nextBoolean() ? ArchiveOptions.NEVER : Duration.ofMillis(300)));
  }

  /** Nothing happens by itself in the time of a test. */
  static ArchiveOptions quiet(Path archive) {
    return ArchiveOptions.to(archive)
        .withInterval(Duration.ofHours(1))
        .withBaseEvery(ArchiveOptions.NEVER)
        .withListener(event -> {});
  }

  /** Restores, opens what was made, checks its structure, and shows it. */
  static Map<String, Map<String, String>> restored(
      Path archive, Path target, RestoreRequest options) {
    RestoreReport report = Database.restore(archive, target, options);
    assertEquals(target, report.target());
    return BackedUp.opened(target);
  }

  static StorageException refused(Path archive, Path target, RestoreRequest options) {
    StorageException told =
        assertThrows(StorageException.class, () -> Database.restore(archive, target, options));
    assertTrue(!Files.exists(target), () -> "something was left of " + target);
    return told;
  }

  static long tail(Database db) {
    return db.statistics().files().logTail();
  }

  /** Where the archive ends. Behind that the log may have records of the engine by now. */
  static long shipped(Database db) {
    return db.statistics().archive().shippedLsn();
  }

  static List<Path> files(Path archive, String suffix) throws IOException {
    try (Stream<Path> files = Files.list(archive)) {
      return files.filter(file -> file.toString().endsWith(suffix)).sorted().toList();
    }
  }
}

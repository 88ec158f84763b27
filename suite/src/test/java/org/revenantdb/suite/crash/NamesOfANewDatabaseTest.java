package org.revenantdb.suite.crash;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.revenantdb.chaos.disk.DiskImage;
import org.revenantdb.chaos.disk.MemoryFileSystem;
import org.revenantdb.chaos.fault.Fault;
import org.revenantdb.chaos.fault.FaultInjector;
import org.revenantdb.chaos.fault.FaultPlan;
import org.revenantdb.chaos.fault.FaultRule;
import org.revenantdb.chaos.fault.FileOperation.Kind;
import org.revenantdb.chaos.power.Losses;
import org.revenantdb.chaos.power.PowerCut;
import org.revenantdb.chaos.profile.PlatformProfile;
import org.revenantdb.chaos.recording.RecordingFileSystem;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.StorageException;
import org.revenantdb.engine.Transaction;

/**
 * A database is created in directories that are forced. The creation is stopped at each of these
 * forces: by an error, by an error that leaves the names unwritten for good, or by the end of the
 * process. The next open succeeds; what it commits must survive a power cut.
 *
 * <p>Found by the suite's faults. The name of the database's own directory was forced only by the
 * process that had created it. So after a failed first try everything was in a directory that a
 * power cut could remove. The rename that creates the database had the same gap.
 */
class NamesOfANewDatabaseTest {

  private static final byte[] KEY = {1};
  private static final byte[] VALUE = {2, 3};

  /** How the first try is stopped. */
  enum Stop {
    ERROR,
    ERROR_AND_NEVER_WRITTEN,
    DEATH;

    FaultInjector at(int force) {
      return this == DEATH ? KilledLives.directoryForce(force) : failing(force);
    }

    private FaultInjector failing(int force) {
      return FaultPlan.of(
          FaultRule.of(new Fault.FailForce(this == ERROR_AND_NEVER_WRITTEN))
              .kinds(Kind.FORCE)
              .path("a directory", path -> path.indexOf('.') < 0)
              .nth(force));
    }
  }

  @ParameterizedTest
  @EnumSource
  void commits_after_a_creation_that_was_stopped_at_a_force_of_names_survive_a_power_cut(Stop stop)
      throws IOException {
    int force = 1;
    while (survives(stop, force)) {
      force++;
    }
    assertTrue(force > 4, "only " + (force - 1) + " forces of directories in a creation");
  }

  /** Returns false if there is no such force. */
  private static boolean survives(Stop stop, int force) throws IOException {
    Path above = Files.createDirectory(MemoryFileSystem.of(new DiskImage()).root().resolve("x"));
    FaultInjector plan = stop.at(force);
    boolean[] ended = new boolean[1];
    RecordingFileSystem disk =
        RecordingFileSystem.over(above)
            .faults(operation -> ended[0] ? Fault.NONE : plan.before(operation))
            .start();
    Path database = disk.directory().resolve("new").resolve("db");
    boolean stopped = false;
    try {
      Database.open(database, RevenantSubject.options()).close();
    } catch (StorageException expected) {
      stopped = true;
    }
    ended[0] = true;
    if (!stopped) {
      return false;
    }
    try (Database again = Database.open(database, RevenantSubject.options())) {
      again.run(tx -> tx.put(again.getOrCreateTable("t"), KEY, VALUE));
    }
    long end = disk.clock().next();
    PowerCut cut = new PowerCut(disk.trace(), PlatformProfile.STRICT_POSIX.rules());
    DiskImage left = cut.state(end, Losses.of(cut.pending(end))).image();
    Path found = MemoryFileSystem.of(left).root().resolve("new").resolve("db");
    try (Database recovered = Database.open(found, RevenantSubject.options().withCreate(false));
        Transaction tx = recovered.begin()) {
      assertArrayEquals(VALUE, tx.get(recovered.table("t"), KEY), stop + " at force " + force);
    }
    return true;
  }
}

package org.revenantdb.suite.crash;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.revenantdb.chaos.crash.Seeds;
import org.revenantdb.chaos.disk.DiskImage;
import org.revenantdb.chaos.disk.MemoryFileSystem;
import org.revenantdb.chaos.fault.DiskSpace;
import org.revenantdb.chaos.oracle.PromiseLog;
import org.revenantdb.chaos.recording.RecordingFileSystem;
import org.revenantdb.chaos.run.Outcome;
import org.revenantdb.chaos.run.StateChecker;
import org.revenantdb.chaos.run.StateResult;
import org.revenantdb.chaos.subject.Verdict;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.StorageException;
import org.revenantdb.recovery.file.DiskFullException;

/**
 * A disk that is full, and then has space again. The work fails clearly, and nothing acknowledged
 * is lost. The database continues at once if it can, and after reopening at the latest. In every
 * second life the full disk meets a rollback.
 */
final class FullDisk {

  private static final int SMALLEST = 2 << 20;
  private static final int LARGEST = 14 << 20;

  private static final String NAME = "full disk and back";

  private final long seed;
  private final Duration budget;
  private long lives;
  private long full;
  private long wentOnAtOnce;

  FullDisk(long seed, Duration budget) {
    this.seed = seed;
    this.budget = budget;
  }

  /** Lives on disks of different sizes, until the budget is used up. */
  Outcome run() throws IOException {
    long begun = System.nanoTime();
    RandomGenerator random = new java.util.SplittableRandom(seed);
    String complaint = "";
    do {
      long lifeSeed = Seeds.of(seed, lives);
      complaint =
          lives % 2 == 0 ? live(random.nextInt(SMALLEST, LARGEST), lifeSeed) : rollBack(lifeSeed);
      lives++;
    } while (complaint.isEmpty() && System.nanoTime() - begun < budget.toNanos());
    if (complaint.isEmpty() && full == 0) {
      return Outcome.of(
          NAME,
          Verdict.NOT_MEASURED,
          "none of %d disks was full, ".formatted(lives) + Outcomes.NO_TIME_FOR_MORE);
    }
    return Outcome.of(NAME, complaint.isEmpty() ? Verdict.SURVIVED : Verdict.CORRUPT, complaint);
  }

  /** The kinds of rollback in turn. */
  private String rollBack(long lifeSeed) throws IOException {
    HinderedRollback.Kind[] kinds = HinderedRollback.Kind.values();
    HinderedRollback.Kind kind = kinds[(int) (lives / 2 % kinds.length)];
    if (kind != HinderedRollback.Kind.UNREADABLE) {
      full++;
      wentOnAtOnce++;
    }
    return new HinderedRollback(kind, lifeSeed).live();
  }

  /** The number of full disks, and on how many of them the open database continued. */
  String detail() {
    return "%d disks, %d full, %d continued at once".formatted(lives, full, wentOnAtOnce);
  }

  private String live(long room, long lifeSeed) throws IOException {
    Path directory =
        Files.createDirectory(MemoryFileSystem.of(new DiskImage()).root().resolve("db"));
    DiskSpace space = new DiskSpace(room);
    RecordingFileSystem disk =
        RecordingFileSystem.over(directory).keepTrace(false).faults(space).start();
    RevenantSubject subject = new LargeValuesSubject();
    PromiseLog promises = new PromiseLog();
    String where = "on a disk with room for %,d bytes (seed %d) ".formatted(room, lifeSeed);
    @Nullable Throwable met = workUntilFull(subject, disk, space, promises, lifeSeed);
    if (met != null && !isClear(met)) {
      return where
          + "the work failed with "
          + met
          + ", which does not report that the disk is full";
    }
    full += space.refused() > 0 ? 1 : 0;
    StateResult left = check(directory, promises, disk.clock().next());
    if (!left.survived()) {
      return where + "promised data is missing: " + left;
    }
    space.free();
    try (Database again = subject.open(disk.directory())) {
      subject.resume(again, promises.promises(disk.clock(), lifeSeed + 1));
    }
    StateResult back = check(directory, promises, disk.clock().next());
    return back.survived() ? "" : where + "after room was made: " + back;
  }

  private @Nullable Throwable workUntilFull(
      RevenantSubject subject,
      RecordingFileSystem disk,
      DiskSpace space,
      PromiseLog promises,
      long lifeSeed) {
    try (Database db = subject.open(disk.directory())) {
      try {
        subject.work(db, promises.promises(disk.clock(), lifeSeed));
      } catch (StorageException full) {
        if (full.reason() != StorageException.Reason.DISK_FULL) {
          throw full;
        }
        if (lives % 4 == 0) {
          throw full;
        }
        // The database has not stopped, because only one statement failed. It continues once there
        // is space.
        space.free();
        subject.resume(db, promises.promises(disk.clock(), lifeSeed + 2));
        wentOnAtOnce++;
      }
      return null;
    } catch (Exception e) { // the caller judges the exception
      return e;
    }
  }

  private static boolean isClear(Throwable failure) {
    for (@Nullable Throwable cause = failure; cause != null; cause = cause.getCause()) {
      if (cause instanceof DiskFullException) {
        return true;
      }
    }
    return false;
  }

  private static StateResult check(Path directory, PromiseLog promises, long seq)
      throws IOException {
    return new StateChecker<Database>(LargeValuesSubject::new, /* resume= */ true)
        .check(DiskImage.of(directory), promises, seq);
  }
}

package org.revenantdb.suite.crash;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.revenantdb.chaos.disk.DiskImage;
import org.revenantdb.chaos.disk.MemoryFileSystem;
import org.revenantdb.chaos.fault.Fault;
import org.revenantdb.chaos.fault.FaultInjector;
import org.revenantdb.chaos.fault.FileOperation;
import org.revenantdb.chaos.recording.RecordingFileSystem;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.Table;

/**
 * Log segments that cannot be deleted, for instance because another program has them open, after
 * the bound of the log directory was lowered. The log continues, the segments count, and all but
 * one are reused. Otherwise each would be replaced by a new one, without end.
 */
@Tag("slow")
class UndeletableSegmentTest {

  private static final long SEGMENT = 1 << 20;
  private static final DatabaseOptions LARGE = options(32 * SEGMENT);
  private static final DatabaseOptions LOWERED = options(4 * SEGMENT);
  private static final int KEYS = 8;

  /** The first one to be deleted. */
  private static final String FIRST = "";

  private static DatabaseOptions options(long recoveryLog) {
    DatabaseOptions same =
        DatabaseOptions.defaults()
            .withPoolBytes(64 << 20)
            .withMaxRecoveryPages(1 << 20) // the log is the resource under test
            .withLogSegmentBytes((int) SEGMENT)
            .withMaxRecoveryLog(recoveryLog)
            .withCountersFile(false);
    return same.withMaxLogSize(recoveryLog + 5 * SEGMENT);
  }

  private final Path directory;
  private final AtomicBoolean fails = new AtomicBoolean();

  /** While the first life closes nothing can be deleted: so the next one finds all segments. */
  private final AtomicBoolean closing = new AtomicBoolean();

  private final AtomicLong refused = new AtomicLong();
  private final AtomicReference<@Nullable String> first = new AtomicReference<>();
  private int work;

  UndeletableSegmentTest() throws IOException {
    directory = Files.createDirectory(MemoryFileSystem.of(new DiskImage()).root().resolve("store"));
  }

  private boolean isFirst(String path) {
    first.compareAndSet(null, path);
    return path.equals(first.get());
  }

  private Path disk(String glob) throws IOException {
    FaultInjector faults =
        operation -> {
          boolean struck =
              operation.kind() == FileOperation.Kind.DELETE
                  && (closing.get()
                      || fails.get()
                          && (glob.equals(FIRST)
                              ? isFirst(operation.path())
                              : operation.path().contains(glob)));
          refused.addAndGet(struck ? 1 : 0);
          return struck ? new Fault.Fail("somebody else has it open") : Fault.NONE;
        };
    return RecordingFileSystem.over(directory).keepTrace(false).faults(faults).start().directory();
  }

  private long bytes() throws IOException {
    long bytes = 0;
    try (Stream<Path> files = Files.list(directory.resolve("db").resolve("log"))) {
      for (Path file : files.toList()) {
        bytes += size(file);
      }
    }
    return bytes;
  }

  private static long size(Path file) throws IOException {
    try {
      return Files.size(file);
    } catch (NoSuchFileException renamed) {
      return 0;
    }
  }

  /** The log's threads delete and create files at their own pace; waits without a limit. */
  private static void await(Callable<Boolean> condition) throws Exception {
    while (!condition.call()) {
      Thread.yield();
    }
  }

  private byte[] value() {
    return Cell.value(work, 200_000);
  }

  /** Writes a number of megabytes of log. */
  private void work(Database db, int megabytes) {
    Table table = db.getOrCreateTable("t");
    for (int i = 0; i < 5 * megabytes; i++) {
      work++;
      db.run(tx -> tx.put(table, new byte[] {(byte) (work % KEYS)}, value()));
    }
  }

  private void assertAllThere(Database db) {
    int last = work;
    for (int i = 0; i < KEYS; i++, work--) {
      byte[] found = db.call(tx -> tx.get(db.table("t"), new byte[] {(byte) (work % KEYS)}));
      assertArrayEquals(value(), found, "write " + work);
    }
    work = last;
    assertTrue(db.check().isSound());
  }

  private void lowerTheBoundAndWork(String undeletable, boolean others) throws Exception {
    Path path = disk(undeletable).resolve("db");
    try (Database db = Database.open(path, LARGE)) {
      work(db, 24);
      closing.set(true);
    }
    closing.set(false);
    refused.set(0);
    long before = bytes();
    assertTrue(before > LOWERED.maxLogSize(), "only " + before + " bytes");
    fails.set(true);
    try (Database db = Database.open(path, LOWERED)) {
      for (int i = 0; i < 6; i++) {
        work(db, 6);
        db.checkpoint();
        await(() -> bytes() == db.statistics().files().logDirectoryBytes()); // they count
        assertTrue(bytes() <= before + SEGMENT, "grew from " + before + " bytes to " + bytes());
      }
      await(() -> refused.get() > 0);
      if (others) {
        await(() -> bytes() <= LOWERED.maxLogSize());
      }
      fails.set(false);
      work(db, 12);
      db.checkpoint();
      work(db, 1);
      await(() -> bytes() <= LOWERED.maxLogSize());
      await(() -> bytes() == db.statistics().files().logDirectoryBytes());
      assertAllThere(db);
    }
    try (Database db = Database.open(path, LOWERED)) {
      assertAllThere(db);
    }
  }

  @Test
  void the_log_continues_without_growing_if_no_segment_can_be_deleted() throws Exception {
    lowerTheBoundAndWork("log/", /* others= */ false);
  }

  @Test
  void the_log_continues_if_one_segment_cannot_be_deleted() throws Exception {
    lowerTheBoundAndWork(FIRST, /* others= */ true);
  }
}

package org.revenantdb.recovery.file;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.recovery.testing.Await;
import org.revenantdb.recovery.testing.FaultyFileSystem;
import org.revenantdb.recovery.testing.IoEvent;

/**
 * The system reports a lost write only once for an open file. Of two threads that forced it
 * together one received the error, and the other believed that its lost writes were durable.
 */
class ForceOfTwoThreadsTest {
  @TempDir Path directory;

  @Test
  void a_lost_write_that_the_system_reports_once_fails_both_of_two_threads_that_force_the_file()
      throws InterruptedException {
    FaultyFileSystem faulty = new FaultyFileSystem();
    Path path = faulty.wrap(directory.resolve("file"));
    try (StorageFile file = StorageFile.open(path, OpenMode.CREATE_NEW, /* ownerOnly= */ true)) {
      file.write(0, MemorySegment.ofArray(new byte[512]));
      FutureTask<Void> second = new FutureTask<>(file::force, null);
      Thread other = Thread.ofPlatform().daemon().unstarted(second);
      AtomicInteger forces = new AtomicInteger();
      faulty.hook(event -> {
        if (event.kind() == IoEvent.Kind.FORCE && forces.getAndIncrement() == 0) {
          other.start();
          awaitStandstill(other); // it has checked what it checks before it waits
          throw new IOException("Input/output error");
        }
      });
      assertThrows(ForceFailedException.class, file::force);
      ExecutionException failed = assertThrows(ExecutionException.class, second::get);
      assertInstanceOf(ForceFailedException.class, failed.getCause());
      assertEquals(1, forces.get(), "the second one asked the system, which no longer knows");
    }
  }

  /** The file system's lock is held here, so the other stands there or before. */
  private static void awaitStandstill(Thread other) {
    while (other.getState() != Thread.State.BLOCKED && other.getState() != Thread.State.WAITING) {
      Await.pause();
    }
  }
}

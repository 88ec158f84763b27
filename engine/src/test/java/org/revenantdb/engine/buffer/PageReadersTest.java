package org.revenantdb.engine.buffer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.recovery.file.FileThread;
import org.revenantdb.recovery.file.IoStatistics;
import org.revenantdb.recovery.file.OpenMode;
import org.revenantdb.recovery.file.StorageFile;
import org.revenantdb.recovery.testing.Await;
import org.revenantdb.recovery.testing.FaultyFileSystem;
import org.revenantdb.recovery.testing.IoEvent;

/** Which thread reads a page. */
@Tag("stress")
class PageReadersTest {

  @TempDir Path temporary;

  private final FaultyFileSystem faulty = new FaultyFileSystem();
  private final AtomicReference<String> reader = new AtomicReference<>();
  private final AtomicReference<Throwable> stopped = new AtomicReference<>();
  private StorageFile data;
  private PageReaders readers;

  @BeforeEach
  void open() {
    data =
        StorageFile.open(
            faulty.wrap(temporary).resolve("data"),
            OpenMode.CREATE_NEW,
            /* ownerOnly= */ true,
            new IoStatistics());
    readers = new PageReaders(data, 1, "test", /* beside= */ false, stopped::set);
    faulty.hook(event -> {
      if (event.kind() == IoEvent.Kind.READ) {
        reader.set(Thread.currentThread().getName());
      }
    });
  }

  @AfterEach
  void close() {
    readers.close();
    data.close();
  }

  private int read() {
    return readers.read(0, MemorySegment.ofArray(new byte[8192]));
  }

  @Test
  void read_byACaller_isDoneByAReader() {
    assertEquals(0, read());
    assertEquals("test-reader-1", reader.get());
  }

  @Test
  void read_byACallerThatIsInterrupted_isDoneByItself() {
    Path path = temporary.resolve("own");
    try (StorageFile file = StorageFile.open(path, OpenMode.CREATE_NEW, /* ownerOnly= */ true);
        PageReaders own =
            new PageReaders(file, /* maxThreads= */ 0, "none", /* beside= */ false, stopped::set)) {
      file.write(0, MemorySegment.ofArray(new byte[8192]));
      Thread.currentThread().interrupt();
      assertEquals(8192, own.read(0, MemorySegment.ofArray(new byte[8192])));
      assertTrue(Thread.interrupted());
      assertEquals(8192, file.size());
    }
  }

  /** Neither may wait for ever: somebody may have come to wait for what is read ahead. */
  @Test
  void demandsAndReadsAhead_areServedTurnByTurn() throws Exception {
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch go = new CountDownLatch(1);
    List<Long> order = new CopyOnWriteArrayList<>();
    faulty.hook(event -> {
      if (event.kind() == IoEvent.Kind.READ) {
        begun.countDown();
        uninterruptibly(go);
        order.add(event.position());
      }
    });
    CountDownLatch arrived = new CountDownLatch(4);
    data.write(0, MemorySegment.ofArray(new byte[100 * 8192]));
    for (int i = 0; i < 4; i++) {
      readers.readAhead(
          i * 8192L,
          MemorySegment.ofArray(new byte[8192]),
          (bytes, failure) -> arrived.countDown());
    }
    uninterruptibly(begun); // the first is read ahead, whoever comes now
    List<FutureTask<Integer>> demands = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      long position = (10 + i) * 8192L;
      FutureTask<Integer> demand =
          new FutureTask<>(() -> readers.read(position, MemorySegment.ofArray(new byte[8192])));
      Thread caller = Thread.ofPlatform().daemon().start(demand);
      while (caller.getState() != Thread.State.TIMED_WAITING) {
        Await.pause(); // until it is in the queue
      }
      demands.add(demand);
    }
    go.countDown();
    for (FutureTask<Integer> demand : demands) {
      assertEquals(8192, demand.get());
    }
    uninterruptibly(arrived);
    assertEquals(
        List.of(0L, 10L, 1L, 11L, 2L, 12L, 3L), order.stream().map(at -> at / 8192).toList());
  }

  private static void uninterruptibly(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void read_byAThreadOfTheEngine_isDoneByItself() throws Exception {
    FutureTask<Integer> task = new FutureTask<>(this::read);
    FileThread.of("engine", task, stopped::set).start();
    assertEquals(0, task.get());
    assertEquals("engine", reader.get());
  }
}

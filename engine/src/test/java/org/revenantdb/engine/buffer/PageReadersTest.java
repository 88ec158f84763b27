package org.revenantdb.engine.buffer;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.recovery.file.FileThread;
import org.revenantdb.recovery.file.IoStatistics;
import org.revenantdb.recovery.file.OpenMode;
import org.revenantdb.recovery.file.StorageFile;
import org.revenantdb.recovery.testing.FaultyFileSystem;
import org.revenantdb.recovery.testing.IoEvent;

/** Which thread reads a page. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class PageReadersTest {

  @TempDir Path temporary;

  private final FaultyFileSystem faulty = new FaultyFileSystem();
  private final AtomicReference<String> reader = new AtomicReference<>();
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
    readers = new PageReaders(data, 1, "test");
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
  void read_byAThreadOfTheEngine_isDoneByItself() throws Exception {
    FutureTask<Integer> task = new FutureTask<>(this::read);
    FileThread.of("engine", task).start();
    assertEquals(0, task.get());
    assertEquals("engine", reader.get());
  }
}

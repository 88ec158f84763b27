package org.revenantdb.engine.buffer;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.recovery.file.OpenMode;
import org.revenantdb.recovery.file.StorageFile;

class BufferPoolTest {
  @TempDir Path directory;

  @Test
  void evicted_dirty_pages_read_back_as_they_were_left() {
    FakeLog log = new FakeLog();
    try (StorageFile file =
            StorageFile.open(
                directory.resolve("data"), OpenMode.CREATE_NEW, /* ownerOnly= */ true);
        BufferPool pool =
            new BufferPool(
                BufferPoolOptions.ofBytes(BufferPoolOptions.MIN_BYTES),
                file,
                /* guard= */ null,
                log,
                PageReadCheck.NONE)) {
      pool.extendTo(2000);
      for (int page = 0; page < 2000; page++) {
        int frame = pool.fixNew(page);
        pool.markDirty(frame, log.tail());
        MemorySegment bytes = pool.page(frame);
        bytes.set(ValueLayout.JAVA_LONG, 8, log.append());
        bytes.set(ValueLayout.JAVA_LONG, 64, page * 31L);
        pool.unfixExclusive(frame);
      }
      for (int page = 0; page < 2000; page++) {
        int frame = pool.fixShared(page);
        assertEquals(page * 31L, pool.page(frame).get(ValueLayout.JAVA_LONG, 64));
        pool.unfixShared(frame);
      }
      pool.flushDirtyBefore(Long.MAX_VALUE);
      assertEquals(Long.MAX_VALUE, pool.oldestDirtyLsn());
      System.out.println(pool.statistics());
    }
  }
}

package org.revenantdb.chaos.hooks;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The order of a recorded JVM. */
class JournalTest {

  @TempDir private Path scratch;

  /** A thread of one life may promise while another thread rewinds the tape for the next life. */
  @Test
  void a_thread_that_promises_waits_for_the_lock_without_holding_the_stacks()
      throws IOException, InterruptedException {
    Journal journal = new Journal(all -> {});
    Tape tape = Tape.create(scratch.resolve("tape"), 1 << 20);
    journal.use(tape);
    journal.lock().lock();
    Thread promising =
        Thread.ofPlatform().start(() -> journal.promised(new byte[] {1, 2, 3}, /* stack= */ true));
    int held;
    try {
      while (promising.isAlive() && !journal.lock().hasQueuedThread(promising)) {
        Thread.onSpinWait();
      }
      long[] ids = {promising.threadId()};
      ThreadInfo info =
          ManagementFactory.getThreadMXBean()
              .getThreadInfo(ids, /* lockedMonitors= */ true, /* lockedSynchronizers= */ false)[0];
      held = info == null ? 0 : info.getLockedMonitors().length;
      if (held == 0) {
        journal.rewind();
      }
    } finally {
      journal.lock().unlock();
    }
    promising.join();
    assertEquals(0, held, "monitors of the thread that waits");
    tape.close();
  }
}

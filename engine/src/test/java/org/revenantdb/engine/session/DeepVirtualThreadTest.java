package org.revenantdb.engine.session;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.revenantdb.engine.testing.Samples.bytes;
import static org.revenantdb.engine.testing.Samples.random;

import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.testing.Samples;

/**
 * Virtual threads so deep in their stack that the JVM cannot park them: to park one, it copies each
 * of its frames, and throws a StackOverflowError if there are too many. Whatever such a thread
 * waits for in the engine, others go on afterwards.
 */
class DeepVirtualThreadTest {
  private static final int STEPS = 24;

  @TempDir Path directory;

  private static int reached;

  private static void probe() {
    reached++;
    probe();
  }

  /** How many frames there is room for. */
  private static int deepest() {
    reached = 0;
    try {
      probe();
    } catch (StackOverflowError end) {
      // there
    }
    return reached;
  }

  private static void descend(int frames, Runnable body) {
    if (frames == 0) {
      body.run();
    } else {
      descend(frames - 1, body);
    }
  }

  /** Whether the body ran to its end. */
  private static boolean atDepth(int frames, Runnable body) {
    try {
      descend(frames, body);
      return true;
    } catch (StackOverflowError tooDeep) {
      return false;
    }
  }

  @Test
  void a_virtual_thread_that_cannot_be_parked_leaves_nothing_behind_that_stops_others()
      throws InterruptedException {
    try (Database db = Samples.open(directory)) {
      Table table = db.getOrCreateTable("t");
      List<Runnable> waits =
          List.of(
              db::checkpoint,
              db::cleanNow,
              db::compact,
              db::sync,
              () -> db.run(tx -> tx.put(table, bytes("deep"), random(1, 3_000))),
              () -> db.run(tx -> tx.deleteRange(table, null, null)));
      for (Runnable wait : waits) {
        AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
        int[] done = new int[1];
        Thread deep =
            Thread.ofVirtual()
                .start(() -> {
                  try {
                    int frames = deepest();
                    for (int step = 1; step <= STEPS; step++) {
                      done[0] += atDepth(frames * step / STEPS, wait) ? 1 : 0;
                    }
                  } catch (Throwable thrown) {
                    failure.set(thrown);
                  }
                });
        deep.join();
        Throwable thrown = failure.get();
        if (thrown != null) {
          throw new AssertionError(thrown);
        }
        assertTrue(done[0] > 0, "no call came to its end, whatever the depth");
        db.checkpoint();
        db.run(tx -> tx.put(table, bytes("others"), bytes("go on")));
        db.checkpoint();
        assertArrayEquals(bytes("go on"), db.read(tx -> tx.get(table, bytes("others"))));
      }
    }
  }
}

package org.revenantdb.jmh.gc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The measurement checks itself: the rows of a snapshot are compared, and an engine that has lost
 * one of them ends the run.
 */
class SnapshotStoreTest {
  private static final int UPDATES = 5_000;
  private static final long LONGEST = 60_000;

  @TempDir private Path folder;

  /** An engine in memory that has no snapshots, or loses rows. */
  private static final class Wrong implements SnapshotStore {
    private final Map<Integer, byte[]> now = new HashMap<>();
    private Map<Integer, byte[]> then = now;
    private final boolean hasSnapshots;

    Wrong(boolean hasSnapshots) {
      this.hasSnapshots = hasSnapshots;
    }

    @Override
    public void update(byte[] key, byte[] value) {
      now.put(Arrays.hashCode(key), value.clone());
    }

    @Override
    public void openSnapshot() {
      then = hasSnapshots ? new HashMap<>(now) : now;
    }

    @Override
    public byte[] readInSnapshot(byte[] key) {
      return Objects.requireNonNull(then.get(Arrays.hashCode(key)));
    }

    @Override
    public byte[] readNow(byte[] key) {
      return Objects.requireNonNull((hasSnapshots ? then : now).get(Arrays.hashCode(key)));
    }

    @Override
    public void closeSnapshot() {
      // nothing to close
    }

    @Override
    public long diskBytes() {
      return 0;
    }

    @Override
    public void close() {
      // nothing to close
    }
  }

  @Test
  void an_engine_without_snapshots_ends_the_run() {
    IllegalStateException refusal =
        assertThrows(
            IllegalStateException.class,
            () ->
                new HotRowsFork.Run(new Wrong(/* hasSnapshots= */ false), 1)
                    .update(UPDATES, LONGEST));
    assertTrue(String.valueOf(refusal.getMessage()).startsWith("the snapshot has"));
  }

  @Test
  void an_engine_that_has_lost_updates_ends_the_run() {
    IllegalStateException refusal =
        assertThrows(
            IllegalStateException.class,
            () ->
                new HotRowsFork.Run(new Wrong(/* hasSnapshots= */ true), 1)
                    .update(UPDATES, LONGEST));
    assertTrue(String.valueOf(refusal.getMessage()).startsWith("the table has"));
  }

  @Test
  void ours_keeps_a_version_a_row_for_one_snapshot() throws Exception {
    try (RevenantSnapshots store = new RevenantSnapshots(folder)) {
      SnapshotBounds bounds = new SnapshotBounds(store);
      List<Integer> parts = new ArrayList<>();
      double[] rates =
          FlatnessFork.rates(
              store,
              new HotRows(1),
              50_000_000,
              /* reads= */ true,
              part -> {
                parts.add(part);
                bounds.look();
              });
      assertEquals(List.of(1, 2, 3, 4, 5, 6, 7, 8, 9, 10), parts);
      assertTrue(bounds.areKept());
      assertEquals(FlatnessFork.PARTS, rates.length);
      for (double rate : rates) {
        assertTrue(rate > 0);
      }
      assertTrue(store.database().statistics().versions().added() > 0);
      assertEquals(0, store.database().statistics().versions().chainExcess());
    }
  }

  @Test
  void files_are_added_up() throws IOException {
    Files.write(folder.resolve("a"), new byte[10]);
    Files.write(Files.createDirectory(folder.resolve("b")).resolve("c"), new byte[5]);
    assertEquals(15, SnapshotStore.filesIn(folder));
  }

  /** A log releases segments during a look at its length. */
  @Test
  void files_that_go_while_they_are_counted_are_left_out(@TempDir Path folder) throws Exception {
    Files.write(folder.resolve("stays"), new byte[7]);
    AtomicBoolean isOver = new AtomicBoolean();
    Thread other =
        Thread.ofPlatform()
            .start(() -> {
              for (int i = 0; !isOver.get(); i++) {
                Path file = folder.resolve("goes" + i % 8);
                try {
                  Files.write(file, new byte[1]);
                  Files.delete(file);
                } catch (IOException e) {
                  throw new UncheckedIOException(e);
                }
              }
            });
    try {
      for (int i = 0; i < 3_000; i++) {
        long length = SnapshotStore.filesIn(folder);
        assertTrue(length >= 7, () -> length + " bytes");
      }
    } finally {
      isOver.set(true);
      other.join();
    }
  }
}

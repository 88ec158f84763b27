package org.revenantdb.gc.version;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.gc.ActiveSnapshots;
import org.revenantdb.gc.Horizon;
import org.revenantdb.gc.spill.SpillFiles;
import org.revenantdb.latch.WaitMeter;
import org.revenantdb.recovery.file.DiskFullException;
import org.revenantdb.recovery.file.FileException;
import org.revenantdb.recovery.file.FileThread;
import org.revenantdb.recovery.file.IoStatistics;
import org.revenantdb.recovery.testing.Await;
import org.revenantdb.recovery.testing.FaultyFileSystem;
import org.revenantdb.recovery.testing.IoEvent;

/**
 * The store of older versions beyond its budget (docs/protocols.md §30), as writers use it: wait
 * for room, push.
 *
 * <p>{@code -Drevenant.seed=n} repeats a run.
 */
class VersionSpillTest {
  private static final int TABLE = 3;
  private static final int BUDGET = 256 * 1024;
  private static final int LIMIT = BUDGET + BUDGET / 4;

  /** What one writer may have on its way: a version, its key and what goes with them. */
  private static final int IN_FLIGHT = 2_000;

  @TempDir Path directory;

  private final long seed =
      Long.getLong("revenant.seed", ThreadLocalRandom.current().nextInt(1 << 30));
  private final Random random = new Random(seed);
  private final FaultyFileSystem faulty = new FaultyFileSystem();
  private final AtomicLong clock = new AtomicLong(100);
  private final ActiveSnapshots snapshots = new ActiveSnapshots();
  private final AtomicLong waitsBegun = new AtomicLong();
  private final AtomicLong waitsEnded = new AtomicLong();
  private SpillFiles files;
  private VolatileStore store;

  /** Of each row its versions, by when they were superseded. */
  private final List<TreeMap<Long, VolatileStore.Version>> model = new ArrayList<>();

  @BeforeEach
  void open() {
    System.out.println("VersionSpillTest -Drevenant.seed=" + seed);
    files = new SpillFiles(faulty.wrap(directory), new byte[16], 1, new IoStatistics());
    Horizon horizon = new Horizon(snapshots, clock::get, clock::get);
    store =
        new VolatileStore(
            files,
            BUDGET,
            horizon::refresh,
            GarbageStrategy.of(horizon),
            new CountedWaits(),
            cause -> {});
  }

  private final class CountedWaits implements WaitMeter {
    @Override
    public String waitClass() {
      return "memory for versions";
    }

    @Override
    public Object begin() {
      waitsBegun.incrementAndGet();
      return this;
    }

    @Override
    public void end(@Nullable Object begun) {
      waitsEnded.incrementAndGet();
    }
  }

  @AfterEach
  void close() throws IOException {
    faulty.diskFullAfter(Long.MAX_VALUE);
    faulty.hook(event -> {});
    FileThread.call(
        "closes",
        () -> {
          store.close();
          files.close();
          return files;
        });
    try (Stream<Path> left = Files.list(directory)) {
      assertEquals(List.of(), left.toList());
    }
  }

  private static byte[] key(int row) {
    return ByteBuffer.allocate(4).putInt(row).array();
  }

  private byte[] value(int length) {
    byte[] value = new byte[length];
    random.nextBytes(value);
    return value;
  }

  private void rows(int count) {
    while (model.size() < count) {
      model.add(new TreeMap<>());
    }
  }

  /** A row is written: what was before leaves its page, if a snapshot needs it. */
  private void write(int row, byte[] value) {
    store.awaitRoom();
    TreeMap<Long, VolatileStore.Version> versions = model.get(row);
    long from = versions.isEmpty() ? 0 : versions.lastKey();
    long to = clock.incrementAndGet();
    if (snapshots.snapshots(clock::get).needs(from, to)) {
      store.push(TABLE, key(row), from, to, 0, value);
    }
    versions.put(to, new VolatileStore.Version(from, to, 0, value, null));
    assertBounded();
  }

  private void assertBounded() {
    long used = store.memoryBytes();
    assertTrue(used <= LIMIT + IN_FLIGHT, () -> used + " bytes of " + LIMIT);
  }

  private void assertSees(long snapshot) {
    List<byte[]> keys = new ArrayList<>();
    for (int row = 0; row < model.size(); row++) {
      keys.add(key(row));
    }
    VolatileStore.@Nullable Version[] found = store.findAll(TABLE, keys, snapshot);
    for (int row = 0; row < model.size(); row++) {
      var expected = model.get(row).higherEntry(snapshot);
      VolatileStore.Version version = found[row];
      if (expected == null || expected.getValue().committedAt() > snapshot) {
        assertNull(version, "row " + row + " at " + snapshot);
      } else {
        assertNotNull(version, "row " + row + " at " + snapshot);
        assertArrayEquals(expected.getValue().value(), version.value(), "row " + row);
      }
    }
  }

  private int filesThere() {
    try (Stream<Path> there = Files.list(directory)) {
      return (int) there.count();
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  private void prune() {
    FileThread.call(
        "prunes",
        () -> {
          store.prune(snapshots.snapshots(clock::get));
          return store;
        });
  }

  @Test
  void at_ten_times_the_budget_each_snapshot_finds_its_versions_and_memory_stays_bounded() {
    rows(2_000);
    List<Integer> open = new ArrayList<>();
    for (long pushed = 0; pushed < 10L * BUDGET; ) {
      if (random.nextInt(1_000) == 0 && open.size() < 8) {
        open.add(snapshots.open(clock::get));
      }
      if (random.nextInt(3_000) == 0 && open.size() > 2) {
        snapshots.close(open.remove(random.nextInt(open.size())));
      }
      if (random.nextInt(5_000) == 0) {
        prune();
      }
      int length = random.nextInt(200);
      write(random.nextInt(model.size()), value(length));
      pushed += open.isEmpty() ? 0 : length;
      if (random.nextInt(500) == 0 && !open.isEmpty()) {
        assertSees(snapshots.snapshot(open.get(random.nextInt(open.size()))));
      }
    }
    assertTrue(store.spilled() > 0);
    for (int slot : open) {
      assertSees(snapshots.snapshot(slot));
    }
    open.forEach(snapshots::close);
    prune();
    assertTrue(store.isEmpty());
    assertEquals(0, store.runs());
    assertEquals(0, store.rows());
    assertEquals(0, filesThere());
  }

  /** A version that goes from memory to a run is never nowhere. */
  @Test
  void readers_find_every_version_while_it_is_spilled() throws Exception {
    int slot = snapshots.open(clock::get);
    long snapshot = snapshots.snapshot(slot);
    AtomicBoolean ended = new AtomicBoolean();
    AtomicLong written = new AtomicLong();
    List<Throwable> failures = Collections.synchronizedList(new ArrayList<>());
    CountDownLatch begun = new CountDownLatch(3);
    List<Thread> readers = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      Random own = new Random(seed + i);
      readers.add(
          Thread.ofPlatform()
              .start(() -> {
                try {
                  while (!ended.get()) {
                    long rows = written.get();
                    if (rows > 0) {
                      int row = (int) own.nextLong(rows);
                      assertNotNull(store.find(TABLE, key(row), snapshot), "row " + row);
                    }
                    begun.countDown();
                  }
                } catch (Throwable failure) {
                  failures.add(failure);
                  begun.countDown();
                }
              }));
    }
    begun.await();
    for (int row = 0; row < 30_000 && failures.isEmpty(); row++) {
      store.awaitRoom();
      store.push(TABLE, key(row), 0, clock.incrementAndGet(), 0, value(30));
      written.set(row + 1);
    }
    ended.set(true);
    for (Thread reader : readers) {
      reader.join();
    }
    assertEquals(List.of(), failures);
    assertTrue(store.runs() > 0);
    snapshots.close(slot);
  }

  @Test
  void several_writers_are_held_back_at_the_limit_and_all_go_on() throws Exception {
    int slot = snapshots.open(clock::get);
    int writers = 8;
    List<Throwable> failures = Collections.synchronizedList(new ArrayList<>());
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < writers; i++) {
      int first = i * 4_000;
      threads.add(
          Thread.ofVirtual()
              .start(() -> {
                try {
                  for (int row = first; row < first + 4_000; row++) {
                    store.awaitRoom();
                    store.push(TABLE, key(row), 0, clock.incrementAndGet(), 0, new byte[100]);
                    long used = store.memoryBytes();
                    assertTrue(used <= LIMIT + writers * IN_FLIGHT, () -> used + " of " + LIMIT);
                  }
                } catch (Throwable failure) {
                  failures.add(failure);
                }
              }));
    }
    for (Thread thread : threads) {
      thread.join();
    }
    assertEquals(List.of(), failures);
    snapshots.close(slot);
  }

  @Test
  void a_full_disk_refuses_statements_that_need_memory_loses_nothing_and_is_survived() {
    rows(20_000);
    int slot = snapshots.open(clock::get);
    long snapshot = snapshots.snapshot(slot);
    faulty.diskFullAfter(100_000);
    FileException told =
        assertThrows(
            FileException.class,
            () -> {
              for (int row = 0; row < model.size(); row++) {
                write(row, value(100));
              }
            });
    assertTrue(told instanceof DiskFullException, told::toString);
    assertTrue(told.getMessage().contains("versions-"), told::getMessage);
    assertTrue(told.cure().contains("make room"), told::getMessage);
    assertBounded();
    assertSees(snapshot); // readers go on
    faulty.diskFullAfter(Long.MAX_VALUE);
    int row = 0;
    while (store.spilled() == 0) { // it tries again by itself; who is refused meanwhile repeats
      try {
        write(row, value(100));
        row = (row + 1) % model.size();
      } catch (FileException notYet) {
        Await.pause();
      }
    }
    assertSees(snapshot);
    snapshots.close(slot);
  }

  @Test
  void when_files_cannot_be_written_and_the_snapshot_ends_writers_go_on_in_memory() {
    rows(20_000);
    int slot = snapshots.open(clock::get);
    faulty.hook(event -> {
      if (event.kind() == IoEvent.Kind.WRITE && event.file().toString().endsWith(".spill")) {
        throw new IOException("Input/output error");
      }
    });
    assertThrows(
        FileException.class,
        () -> {
          for (int row = 0; row < model.size(); row++) {
            write(row, value(100));
          }
        });
    snapshots.close(slot);
    prune();
    assertEquals(0, store.memoryBytes());
    write(1, value(100));
    assertEquals(0, filesThere(), "half a file");
  }

  /** An interrupt of a waiting writer neither ends the wait nor is lost. */
  @Test
  void an_interrupted_writer_waits_on_and_keeps_the_interrupt() throws Exception {
    int slot = snapshots.open(clock::get);
    CountDownLatch writing = new CountDownLatch(1);
    CountDownLatch goOn = new CountDownLatch(1);
    faulty.gate(event -> {
      if (event.kind() == IoEvent.Kind.WRITE && event.file().toString().endsWith(".spill")) {
        writing.countDown();
        try {
          goOn.await();
        } catch (InterruptedException e) {
          throw new IOException(e);
        }
      }
    });
    AtomicBoolean kept = new AtomicBoolean();
    Thread writer =
        Thread.ofPlatform()
            .start(() -> {
              for (int row = 0; row < 5_000; row++) {
                store.awaitRoom();
                store.push(TABLE, key(row), 0, clock.incrementAndGet(), 0, new byte[100]);
              }
              kept.set(Thread.currentThread().isInterrupted());
            });
    try {
      writing.await();
      while (writer.getState() != Thread.State.WAITING
          && writer.getState() != Thread.State.TIMED_WAITING) {
        assertTrue(writer.isAlive(), "nobody held it back");
        Await.pause();
      }
      writer.interrupt();
      assertTrue(writer.isAlive());
      assertBounded();
      assertEquals(0, waitsEnded.get());
    } finally {
      goOn.countDown();
    }
    writer.join();
    assertTrue(kept.get());
    assertTrue(waitsBegun.get() > 0);
    assertEquals(waitsBegun.get(), waitsEnded.get());
    snapshots.close(slot);
  }
}

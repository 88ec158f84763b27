package org.revenantdb.chaos.recording;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.revenantdb.chaos.disk.DiskImage;
import org.revenantdb.chaos.disk.MemoryFileSystem;
import org.revenantdb.chaos.fault.DeadFrom;
import org.revenantdb.chaos.fault.FaultInjector;
import org.revenantdb.chaos.fault.FileOperation.Kind;
import org.revenantdb.chaos.trace.Operation;

/**
 * Processes follow each other in one trace, and a dead process leaves nothing after its end.
 *
 * <p>As in {@link ForceOrderTest}, a recording below delays operations in the middle.
 */
class NextProcessTest {

  private final Path root = MemoryFileSystem.of(new DiskImage()).root();

  private static RecordingFileSystem next(RecordingFileSystem former) throws IOException {
    return former.nextProcess(FaultInjector.NOTHING);
  }

  private static List<Class<?>> kinds(RecordingFileSystem recording) {
    return recording.trace().operations().stream().<Class<?>>map(Object::getClass).toList();
  }

  @Test
  void trace_ofSeveralProcesses_isOneWithTheSameNodes() throws IOException {
    RecordingFileSystem first = RecordingFileSystem.over(root).start();
    Files.write(first.directory().resolve("f"), new byte[] {1});
    RecordingFileSystem second = next(first);
    Files.write(second.directory().resolve("f"), new byte[] {2}, StandardOpenOption.APPEND);
    Files.move(second.directory().resolve("f"), second.directory().resolve("g"));
    List<Integer> nodes =
        second.trace().operations().stream()
            .map(operation ->
                switch (operation) {
                  case Operation.Create create -> create.node();
                  case Operation.Write write -> write.node();
                  case Operation.Rename rename -> rename.node();
                  default -> throw new AssertionError(operation);
                })
            .distinct()
            .toList();
    assertEquals(1, nodes.size());
    assertEquals(4, second.trace().operations().size());
    assertEquals(second.trace().operations(), first.trace().operations());
    Replay.assertExact(second.trace(), root);
  }

  @Test
  void deadProcess_changesNothingAndItsLocksAreFree() throws IOException {
    RecordingFileSystem first = RecordingFileSystem.over(root).start();
    Path old = first.directory();
    Files.write(old.resolve("f"), new byte[3]);
    FileChannel channel = FileChannel.open(old.resolve("f"), StandardOpenOption.WRITE);
    channel.lock();
    int before = first.trace().operations().size();
    RecordingFileSystem second = next(first);
    assertThrows(ClosedChannelException.class, () -> channel.write(ByteBuffer.allocate(1)));
    assertThrows(ClosedChannelException.class, () -> channel.force(true));
    assertThrows(IOException.class, () -> Files.write(old.resolve("f"), new byte[9]));
    assertThrows(IOException.class, () -> Files.createFile(old.resolve("g")));
    assertThrows(IOException.class, () -> Files.createDirectory(old.resolve("d")));
    assertThrows(IOException.class, () -> Files.move(old.resolve("f"), old.resolve("g")));
    assertThrows(IOException.class, () -> Files.copy(old.resolve("f"), old.resolve("g")));
    assertThrows(IOException.class, () -> Files.createLink(old.resolve("g"), old.resolve("f")));
    assertThrows(IOException.class, () -> Files.delete(old.resolve("f")));
    assertThrows(IOException.class, () -> Files.deleteIfExists(old.resolve("f")));
    assertThrows(IOException.class, () -> FileChannel.open(old));
    assertEquals(before, second.trace().operations().size());
    try (FileChannel mine =
        FileChannel.open(second.directory().resolve("f"), StandardOpenOption.WRITE)) {
      mine.lock();
      mine.force(true);
    }
    assertEquals(before + 1, second.trace().operations().size());
    Replay.assertExact(second.trace(), root);
  }

  @Test
  void write_underWayAtTheDeath_hasEndedBeforeTheNextProcessBegins() throws Exception {
    Files.write(root.resolve("f"), new byte[10]);
    Holding holding = new Holding(Kind.WRITE);
    RecordingFileSystem below = RecordingFileSystem.over(root).faults(holding).start();
    RecordingFileSystem first = RecordingFileSystem.over(below.directory()).start();
    FileChannel channel =
        FileChannel.open(first.directory().resolve("f"), StandardOpenOption.WRITE);
    FutureTask<Integer> write =
        new FutureTask<>(() -> channel.write(ByteBuffer.wrap(new byte[4]), 0));
    Thread.ofPlatform().start(write);
    holding.awaitInside();
    FutureTask<Long> born =
        new FutureTask<>(() -> {
          RecordingFileSystem second = next(first);
          return second.clock().next();
        });
    Thread death = Thread.ofPlatform().start(born);
    Holding.awaitWaiting(death);
    assertFalse(born.isDone(), "the next process lives while the former one writes");
    holding.release();
    assertEquals(List.of(Operation.Write.class), waitFor(born, write, first));
    assertTrue(first.trace().operations().getFirst().seq() < born.get());
  }

  private static List<Class<?>> waitFor(
      FutureTask<Long> born, FutureTask<Integer> write, RecordingFileSystem recording)
      throws Exception {
    born.get();
    List<Class<?>> recorded = kinds(recording);
    write.get();
    return recorded;
  }

  @Test
  void write_duringWhichItsProcessDies_leavesWholePagesFromTheFirstOn() throws IOException {
    Set<Integer> sizes = new TreeSet<>();
    for (int seed = 0; seed < 40; seed++) {
      RecordingFileSystem first =
          RecordingFileSystem.over(root)
              .faults(new DeadFrom(any -> any.kind() == Kind.WRITE, 2, seed))
              .start();
      Path file = first.directory().resolve("f" + seed);
      try (FileChannel channel =
          FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
        channel.write(ByteBuffer.allocate(100));
        byte[] large = new byte[3 * 4096];
        Arrays.fill(large, (byte) 1);
        assertThrows(IOException.class, () -> channel.write(ByteBuffer.wrap(large)));
        assertThrows(IOException.class, () -> channel.write(ByteBuffer.wrap(large)));
      }
      RecordingFileSystem second = next(first);
      byte[] left = Files.readAllBytes(second.directory().resolve("f" + seed));
      for (int i = 0; i < left.length; i++) {
        assertEquals(i < 100 ? 0 : 1, left[i]);
      }
      sizes.add(left.length);
      Replay.assertExact(second.trace(), root);
    }
    assertEquals(Set.of(100, 4096, 8192, 12288), sizes);
  }

  @Test
  void force_thatReturnsAfterTheDeath_doesNotCount() throws Exception {
    Files.write(root.resolve("f"), new byte[10]);
    Holding holding = new Holding(Kind.FORCE);
    RecordingFileSystem below = RecordingFileSystem.over(root).faults(holding).start();
    RecordingFileSystem first = RecordingFileSystem.over(below.directory()).start();
    FileChannel channel =
        FileChannel.open(first.directory().resolve("f"), StandardOpenOption.WRITE);
    FutureTask<Void> force =
        new FutureTask<>(() -> {
          channel.force(true);
          return null;
        });
    Thread.ofPlatform().start(force);
    holding.awaitInside();
    RecordingFileSystem second = next(first);
    holding.release();
    try {
      force.get();
    } catch (ExecutionException closedMeanwhile) {
      // It may report it or not.
    }
    assertEquals(List.of(), kinds(second));
  }

  @Test
  void death_whileThreadsContinue_leavesATraceEqualToTheDirectory() throws Exception {
    long seed = Long.getLong("revenant.seed", ThreadLocalRandom.current().nextLong());
    System.out.println("seed " + seed);
    RandomFiles.prepare(root);
    RecordingFileSystem disk = RecordingFileSystem.over(root).start();
    for (int process = 0; process < 6; process++) {
      DeadFrom death = new DeadFrom(any -> true, 300 + 100L * process);
      disk = disk.nextProcess(death);
      Thread[] threads = new Thread[3];
      for (int i = 0; i < threads.length; i++) {
        Path directory = disk.directory();
        long own = seed * 31 + process * 7L + i;
        threads[i] = Thread.ofPlatform().start(() -> workUntilDead(directory, own, death));
      }
      while (!death.isDead()) {
        LockSupport.parkNanos(20_000);
      }
      // There is no waiting: the dead process continues to call.
      RecordingFileSystem after = disk.nextProcess(FaultInjector.NOTHING);
      long born = after.clock().next();
      int operations = after.trace().operations().size();
      Replay.assertExact(after.trace(), root);
      for (Thread thread : threads) {
        thread.join();
      }
      assertEquals(operations, after.trace().operations().size());
      assertTrue(after.trace().operations().getLast().seq() < born);
      assertEquals(List.of(), after.trace().gaps());
      disk = after;
    }
    Replay.assertExact(disk.trace(), root);
  }

  private static void workUntilDead(Path directory, long seed, DeadFrom death) {
    int after = 0;
    for (int round = 0; after < 50; round++) {
      try (RandomFiles work = new RandomFiles(directory, seed + round)) {
        work.steps(20);
      } catch (Exception | AssertionError e) {
        after += death.isDead() ? 1 : 0;
      }
      after += death.isDead() ? 1 : 0;
    }
  }
}

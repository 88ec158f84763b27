package org.revenantdb.chaos.recording;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.chaos.disk.DiskImage;
import org.revenantdb.chaos.disk.MemoryFileSystem;
import org.revenantdb.chaos.fault.Fault;
import org.revenantdb.chaos.fault.FaultPlan;
import org.revenantdb.chaos.fault.FaultRule;
import org.revenantdb.chaos.fault.FileOperation;

/** A trace, replayed from its start, gives the content of the directory. */
class ReplayTest {

  private static final int THREADS = 4;

  @TempDir Path temp;

  @Test
  void threads_thatWorkOnTheSameFilesAndNames_areReplayedExactly() throws Exception {
    workTogether(RandomGenerator.getDefault().nextLong(), temp);
  }

  @Test
  void threads_onADiskInMemory_areReplayedExactly() throws Exception {
    long first = Long.getLong("revenant.seed", RandomGenerator.getDefault().nextLong());
    for (long seed = first; seed < first + 10; seed++) {
      try (MemoryFileSystem memory = MemoryFileSystem.of(new DiskImage())) {
        workTogether(seed, memory.root());
      }
    }
  }

  private static void workTogether(long seed, Path directory) throws Exception {
    System.out.println("seed " + seed);
    RandomFiles.prepare(directory);
    RecordingFileSystem recording = RecordingFileSystem.over(directory).start();
    together(thread -> {
      try (RandomFiles work = new RandomFiles(recording.directory(), seed * 31 + thread)) {
        work.steps(300);
      }
    });
    Replay.assertExact(recording.trace(), directory);
    assertEquals(List.of(), recording.trace().gaps());
  }

  @Test
  void threads_thatOverwriteTheSameBytes_areInTheOrderInWhichTheFileHasThem() throws Exception {
    Files.write(temp.resolve("f"), new byte[10]);
    RecordingFileSystem recording = RecordingFileSystem.over(temp).start();
    Path file = recording.directory().resolve("f");
    try (FileChannel shared =
            FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE);
        FileChannel appending = FileChannel.open(file, StandardOpenOption.APPEND)) {
      together(thread -> {
        RandomGenerator random = RandomGeneratorFactory.of("L64X128MixRandom").create(thread);
        try (FileChannel own = FileChannel.open(file, StandardOpenOption.WRITE)) {
          for (int i = 0; i < 400; i++) {
            byte[] bytes = new byte[1 + random.nextInt(64)];
            random.nextBytes(bytes);
            ByteBuffer buffer = ByteBuffer.wrap(bytes);
            switch (random.nextInt(6)) {
              case 0 -> own.write(buffer, random.nextInt(100));
              case 1 -> shared.write(buffer);
              case 2 -> appending.write(buffer);
              case 3 -> shared.position(random.nextInt(100));
              case 4 -> shared.read(buffer);
              default -> own.truncate(200 + random.nextInt(100));
            }
          }
        }
      });
    }
    Replay.assertExact(recording.trace(), temp);
  }

  @Test
  void position_setWhileAWriteIsUnderWay_isSetAfterIt() throws Exception {
    Files.write(temp.resolve("f"), new byte[10]);
    Holding holding = new Holding(FileOperation.Kind.WRITE);
    RecordingFileSystem recording = RecordingFileSystem.over(temp).faults(holding).start();
    try (FileChannel channel =
            FileChannel.open(recording.directory().resolve("f"), StandardOpenOption.WRITE);
        ExecutorService threads = Executors.newSingleThreadExecutor()) {
      Future<?> write = threads.submit(() -> channel.write(ByteBuffer.wrap(new byte[] {1, 2})));
      holding.awaitInside();
      FutureTask<?> move = new FutureTask<>(() -> channel.position(5));
      Holding.awaitWaiting(Thread.ofPlatform().start(move));
      holding.release();
      write.get();
      move.get();
      assertEquals(5, channel.position());
    }
    assertEquals(1, Files.readAllBytes(temp.resolve("f"))[0]);
    Replay.assertExact(recording.trace(), temp);
  }

  @Test
  void write_thatIsCutShortBelow_isRecordedWithItsRealLength() throws IOException {
    RecordingFileSystem below =
        RecordingFileSystem.over(temp)
            .faults(FaultPlan.of(FaultRule.of(new Fault.ShortWrite(3))))
            .start();
    RecordingFileSystem above = RecordingFileSystem.over(below.directory()).start();
    try (FileChannel channel =
        FileChannel.open(
            above.directory().resolve("f"), StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
      assertEquals(3, channel.write(ByteBuffer.wrap(new byte[] {1, 2, 3, 4, 5})));
    }
    Replay.assertExact(above.trace(), temp);
  }

  @Test
  void program_thatReusesItsBuffer_doesNotChangeTheTrace() throws IOException {
    RecordingFileSystem recording = RecordingFileSystem.over(temp).start();
    try (FileChannel channel =
        FileChannel.open(
            recording.directory().resolve("f"),
            StandardOpenOption.CREATE,
            StandardOpenOption.WRITE)) {
      byte[] bytes = {1, 2, 3};
      channel.write(ByteBuffer.wrap(bytes));
      Arrays.fill(bytes, (byte) 9);
      channel.write(ByteBuffer.wrap(bytes));
    }
    Replay.assertExact(recording.trace(), temp);
  }

  /** The work of one of several threads. */
  @FunctionalInterface
  private interface Part {
    void run(int thread) throws Exception;
  }

  private static void together(Part part) throws Exception {
    CyclicBarrier start = new CyclicBarrier(THREADS);
    List<Future<?>> parts = new ArrayList<>();
    try (ExecutorService threads = Executors.newFixedThreadPool(THREADS)) {
      for (int i = 0; i < THREADS; i++) {
        int thread = i;
        parts.add(
            threads.submit(() -> {
              start.await();
              part.run(thread);
              return null;
            }));
      }
      for (Future<?> each : parts) {
        each.get();
      }
    }
  }
}

package org.revenantdb.chaos.recording;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.revenantdb.chaos.disk.DiskImage;
import org.revenantdb.chaos.disk.MemoryFileSystem;
import org.revenantdb.chaos.fault.FaultInjector;
import org.revenantdb.chaos.trace.Operation;

/** Slow forces let other threads write, and do not wait for threads that do not exist. */
class SlowForcesTest {

  private static final int FORCES = 200;

  private final Path root = MemoryFileSystem.of(new DiskImage()).root();

  private static FileChannel open(RecordingFileSystem recording, String name) throws IOException {
    return FileChannel.open(
        recording.directory().resolve(name), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
  }

  private RecordingFileSystem recordTwoThreads(boolean slow) throws Exception {
    RecordingFileSystem recording =
        RecordingFileSystem.over(root).slowForces(/* seed= */ 1, () -> slow).start();
    AtomicBoolean stop = new AtomicBoolean();
    CountDownLatch otherIsWriting = new CountDownLatch(1);
    try (FileChannel channel = open(recording, "f")) {
      FutureTask<Void> writing =
          new FutureTask<>(() -> {
            while (!stop.get()) {
              channel.write(ByteBuffer.allocate(1), 0);
              otherIsWriting.countDown();
              Thread.onSpinWait();
            }
            return null;
          });
      Thread.ofPlatform().start(writing);
      otherIsWriting.await(); // otherwise all forces are over before the thread has started
      do {
        for (int i = 0; i < FORCES; i++) {
          channel.force(false);
        }
        // However late the other thread gets a processor: what is slow is overtaken at last.
      } while (slow && overtaken(recording.trace().operations()) == 0);
      stop.set(true);
      writing.get();
    }
    return recording;
  }

  /** Counts forces during which something was written that they do not cover. */
  private static long overtaken(List<Operation> operations) {
    return operations.stream()
        .filter(each ->
            each instanceof Operation.Force force
                && operations.stream()
                    .anyMatch(other ->
                        other instanceof Operation.Write
                            && other.seq() > force.since()
                            && other.seq() < force.seq()))
        .count();
  }

  @Test
  void forces_letOtherThreadsWriteMeanwhile() throws Exception {
    RecordingFileSystem recording = recordTwoThreads(/* slow= */ true);
    assertTrue(recording.recorder().slowForces().waits() > 0);
  }

  @Test
  void forces_thatMayNotBeSlow_areNotDelayed() throws Exception {
    RecordingFileSystem recording = recordTwoThreads(/* slow= */ false);
    assertEquals(0, recording.recorder().slowForces().waits());
  }

  @Test
  void forces_ofASingleThread_doNotWait_norInTheNextProcess() throws Exception {
    RecordingFileSystem recording =
        RecordingFileSystem.over(root).slowForces(/* seed= */ 1, () -> true).start();
    writeAndForce(recording);
    assertEquals(0, recording.recorder().slowForces().waits());
    RecordingFileSystem next = recording.nextProcess(FaultInjector.NOTHING);
    FutureTask<Void> other =
        new FutureTask<>(() -> {
          writeAndForce(next);
          return null;
        });
    Thread.ofPlatform().start(other);
    other.get();
    assertEquals(0, next.recorder().slowForces().waits());
  }

  private static void writeAndForce(RecordingFileSystem recording) throws IOException {
    try (FileChannel channel = open(recording, "f")) {
      for (int i = 0; i < 20; i++) {
        channel.write(ByteBuffer.allocate(1), i);
        channel.force(true);
      }
    }
  }

  @Test
  void forces_thatOthersWaitFor_stopWaiting() throws Exception {
    RecordingFileSystem recording =
        RecordingFileSystem.over(root).slowForces(/* seed= */ 1, () -> true).start();
    Thread before =
        Thread.ofPlatform()
            .start(() -> {
              try (FileChannel channel = open(recording, "g")) {
                channel.write(ByteBuffer.allocate(1), 0);
              } catch (IOException e) {
                throw new AssertionError(e);
              }
            });
    before.join();
    try (FileChannel channel = open(recording, "f")) {
      for (int i = 0; i < 2000; i++) {
        channel.write(ByteBuffer.allocate(1), i);
        channel.force(true);
      }
    }
    long waits = recording.recorder().slowForces().waits();
    assertTrue(waits > 0 && waits <= 201, "each costs a millisecond: " + waits);
  }
}

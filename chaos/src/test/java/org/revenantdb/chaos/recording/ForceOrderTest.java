package org.revenantdb.chaos.recording;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.chaos.fault.FileOperation.Kind;
import org.revenantdb.chaos.trace.Operation;

/**
 * A force covers what was in the file when it was called, and nothing else.
 *
 * <p>The file system below is a recording, too. Its injector delays an operation in the middle,
 * when the recording above has begun it and not yet ended it.
 */
class ForceOrderTest {

  @TempDir Path temp;

  private static FutureTask<Void> start(IoTask task) {
    FutureTask<Void> future =
        new FutureTask<>(() -> {
          task.run();
          return null;
        });
    return future;
  }

  /** Work of one thread. */
  @FunctionalInterface
  private interface IoTask {
    void run() throws IOException;
  }

  private static <T extends Operation> T only(RecordingFileSystem recording, Class<T> type) {
    List<T> all =
        recording.trace().operations().stream().filter(type::isInstance).map(type::cast).toList();
    assertEquals(1, all.size());
    return all.getFirst();
  }

  @Test
  void force_calledWhileAWriteIsUnderWay_waitsForItAndCoversIt() throws Exception {
    Files.write(temp.resolve("f"), new byte[10]);
    Holding holding = new Holding(Kind.WRITE);
    RecordingFileSystem below = RecordingFileSystem.over(temp).faults(holding).start();
    RecordingFileSystem above = RecordingFileSystem.over(below.directory()).start();
    try (FileChannel channel =
        FileChannel.open(above.directory().resolve("f"), StandardOpenOption.WRITE)) {
      FutureTask<Void> write = start(() -> channel.write(ByteBuffer.wrap(new byte[4]), 0));
      FutureTask<Void> force = start(() -> channel.force(true));
      Thread.ofPlatform().start(write);
      holding.awaitInside();
      Thread forcing = Thread.ofPlatform().start(force);
      Holding.awaitWaiting(forcing);
      holding.release();
      write.get();
      force.get();
    }
    assertTrue(
        only(above, Operation.Write.class).seq() < only(above, Operation.Force.class).since());
    // And that is right: below, the write was there before the force was called.
    assertTrue(
        only(below, Operation.Write.class).seq() < only(below, Operation.Force.class).since());
  }

  @Test
  void write_whileAForceIsUnderWay_isNotDelayedAndNotCovered() throws Exception {
    Files.write(temp.resolve("f"), new byte[10]);
    Holding holding = new Holding(Kind.FORCE);
    RecordingFileSystem below = RecordingFileSystem.over(temp).faults(holding).start();
    RecordingFileSystem above = RecordingFileSystem.over(below.directory()).start();
    try (FileChannel channel =
        FileChannel.open(above.directory().resolve("f"), StandardOpenOption.WRITE)) {
      FutureTask<Void> force = start(() -> channel.force(true));
      Thread.ofPlatform().start(force);
      holding.awaitInside();
      channel.write(ByteBuffer.wrap(new byte[4]), 0);
      holding.release();
      force.get();
    }
    Operation.Write write = only(above, Operation.Write.class);
    Operation.Force force = only(above, Operation.Force.class);
    assertTrue(force.since() < write.seq() && write.seq() < force.seq());
  }

  @Test
  void directory_forcedWhileAFileIsCreated_coversItsEntry() throws Exception {
    Holding holding = new Holding(Kind.CREATE);
    RecordingFileSystem below = RecordingFileSystem.over(temp).faults(holding).start();
    RecordingFileSystem above = RecordingFileSystem.over(below.directory()).start();
    try (FileChannel channel = FileChannel.open(above.directory())) {
      FutureTask<Void> create = start(() -> Files.createFile(above.directory().resolve("f")));
      FutureTask<Void> force = start(() -> channel.force(true));
      Thread.ofPlatform().start(create);
      holding.awaitInside();
      Thread forcing = Thread.ofPlatform().start(force);
      Holding.awaitWaiting(forcing);
      holding.release();
      create.get();
      force.get();
    }
    assertTrue(
        only(above, Operation.Create.class).seq() < only(above, Operation.Force.class).since());
    assertTrue(
        only(below, Operation.Create.class).seq() < only(below, Operation.Force.class).since());
  }

  @Test
  void synchronousChannel_forcesEveryWrite() throws IOException {
    for (StandardOpenOption option : List.of(StandardOpenOption.SYNC, StandardOpenOption.DSYNC)) {
      RecordingFileSystem recording = RecordingFileSystem.over(temp).start();
      try (FileChannel channel =
          FileChannel.open(
              recording.directory().resolve("g"),
              option,
              StandardOpenOption.CREATE,
              StandardOpenOption.WRITE)) {
        channel.write(ByteBuffer.wrap(new byte[4]), 0);
      }
      Operation.Write write = only(recording, Operation.Write.class);
      Operation.Force force = only(recording, Operation.Force.class);
      assertTrue(write.seq() < force.since() && force.since() < force.seq());
      assertEquals(option == StandardOpenOption.SYNC, force.metadata());
      assertEquals(write.seq(), force.only(), "covers that write and no other");
      assertEquals(1, recording.counted().forces());
    }
  }
}

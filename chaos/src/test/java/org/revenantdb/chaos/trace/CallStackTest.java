package org.revenantdb.chaos.trace;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousFileChannel;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.chaos.recording.RecordingFileSystem;

/** The stack of an operation is that of the program, and equal stacks are one object. */
class CallStackTest {

  @TempDir Path temp;

  private static void writeTwice(FileChannel channel) throws IOException {
    for (int i = 0; i < 2; i++) {
      channel.write(ByteBuffer.wrap(new byte[1]));
    }
    channel.write(new ByteBuffer[] {ByteBuffer.wrap(new byte[1])});
  }

  @Test
  void operation_hasTheMethodThatCalledTheChannel() throws IOException {
    RecordingFileSystem recording = RecordingFileSystem.over(temp).start();
    Path file = recording.directory().resolve("f");
    try (FileChannel channel =
        FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
      writeTwice(channel);
    }
    List<Operation> operations = recording.trace().operations();
    assertEquals(4, operations.size());
    CallStack first = operations.get(1).origin().stack();
    assertEquals("writeTwice", first.frames().getFirst().getMethodName());
    assertEquals(CallStackTest.class.getName(), first.frames().getFirst().getClassName());
    assertTrue(first.frames().size() <= 40);
    assertSame(first, operations.get(2).origin().stack());
    assertNotSame(first, operations.get(3).origin().stack());
    assertTrue(first.text().contains("operation_hasTheMethodThatCalledTheChannel"));
  }

  @Test
  void stream_isNotInTheStack() throws IOException {
    RecordingFileSystem recording = RecordingFileSystem.over(temp).start();
    Files.writeString(recording.directory().resolve("f"), "text");
    for (Operation operation : recording.trace().operations()) {
      assertEquals(
          CallStackTest.class.getName(),
          operation.origin().stack().frames().getFirst().getClassName());
    }
  }

  @Test
  void asynchronousWrite_hasTheStackOfItsCaller() throws Exception {
    RecordingFileSystem recording = RecordingFileSystem.over(temp).start();
    Path file = recording.directory().resolve("f");
    try (AsynchronousFileChannel channel =
        AsynchronousFileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
      channel.write(ByteBuffer.wrap(new byte[1]), 0).get();
    }
    Operation.Origin origin = recording.trace().operations().getLast().origin();
    assertEquals(Thread.currentThread().getName(), origin.thread());
    assertEquals(CallStackTest.class.getName(), origin.stack().frames().getFirst().getClassName());
  }

  @Test
  void recordingWithoutStacks_hasNone() throws IOException {
    RecordingFileSystem recording = RecordingFileSystem.over(temp).stacks(false).start();
    Files.createFile(recording.directory().resolve("f"));
    assertSame(CallStack.UNKNOWN, recording.trace().operations().getFirst().origin().stack());
  }
}

package org.revenantdb.chaos.recording;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousFileChannel;
import java.nio.channels.CompletionHandler;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.NonReadableChannelException;
import java.nio.channels.NonWritableChannelException;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.ProviderMismatchException;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.chaos.trace.Operation;
import org.revenantdb.chaos.trace.TraceClock;

/** Paths, channels, locks and counts of a recording. */
class RecordingFileSystemTest {

  @TempDir Path temp;

  private List<String> said(RecordingFileSystem recording) {
    return recording.trace().operations().stream()
        .map(operation ->
            switch (operation) {
              case Operation.Create o -> "create " + o.node() + " " + o.parent() + o.name();
              case Operation.Link o -> "link " + o.node() + " " + o.parent() + o.name();
              case Operation.Delete o -> "delete " + o.node() + " " + o.parent() + o.name();
              case Operation.Rename o ->
                  "rename " + o.node() + " to " + o.toParent() + o.toName() + o.replaced();
              case Operation.Write o ->
                  "write " + o.node() + " " + o.offset() + "+" + o.data().length;
              case Operation.Truncate o -> "truncate " + o.node() + " " + o.size();
              case Operation.Force o -> "force " + o.node();
              case Operation.ForceFailed o -> "failed " + o.node();
            })
        .toList();
  }

  private static ByteBuffer bytes(int count) {
    return ByteBuffer.wrap(new byte[count]);
  }

  @Test
  void openChannel_keepsItsNode_whenTheFileIsRenamedReplacedAndDeleted() throws IOException {
    RecordingFileSystem recording = RecordingFileSystem.over(temp).start();
    Path a = recording.directory().resolve("a");
    Path b = recording.directory().resolve("b");
    try (FileChannel channel =
        FileChannel.open(a, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
      Files.createFile(b);
      Files.move(a, b, StandardCopyOption.ATOMIC_MOVE);
      channel.write(bytes(1));
      Files.createFile(a);
      Files.delete(b);
      channel.write(bytes(2));
      Files.createLink(b, a);
      Files.delete(a);
      Files.write(b, new byte[5]);
      channel.truncate(1);
      channel.force(false);
    }
    assertEquals(
        List.of(
            "create 1 0a",
            "create 2 0b",
            "rename 1 to 0b2",
            "write 1 0+1",
            "create 3 0a",
            "delete 1 0b",
            "write 1 1+2",
            "link 3 0b",
            "delete 3 0a",
            "write 3 0+5",
            "truncate 1 1",
            "force 1"),
        said(recording));
  }

  @Test
  void directoryThatMoves_movesItsContent() throws IOException {
    Files.createDirectories(temp.resolve("d/e"));
    RecordingFileSystem recording = RecordingFileSystem.over(temp).start();
    Path d = recording.directory().resolve("d");
    Path n = recording.directory().resolve("n");
    Files.createFile(d.resolve("e/f"));
    Files.move(d, n);
    Files.write(n.resolve("e/f"), new byte[3]);
    assertThrows(IOException.class, () -> Files.write(d.resolve("e/f"), new byte[3]));
    assertEquals(List.of("create 3 2f", "rename 1 to 0n-1", "write 3 0+3"), said(recording));
  }

  @Test
  void moveThatReplaces_isADeletionAndARename_unlessItIsAtomic() throws IOException {
    Files.createFile(temp.resolve("a"));
    Files.createFile(temp.resolve("b"));
    RecordingFileSystem recording = RecordingFileSystem.over(temp).start();
    Path a = recording.directory().resolve("a");
    Path b = recording.directory().resolve("b");
    Files.move(a, b, StandardCopyOption.REPLACE_EXISTING);
    assertEquals(List.of("delete 2 0b", "rename 1 to 0b-1"), said(recording));
  }

  @Test
  void truncationToTheSameOrAGreaterSize_isNotRecorded() throws IOException {
    Files.write(temp.resolve("f"), new byte[10]);
    RecordingFileSystem recording = RecordingFileSystem.over(temp).start();
    try (FileChannel channel =
        FileChannel.open(recording.directory().resolve("f"), StandardOpenOption.WRITE)) {
      channel.position(20);
      channel.truncate(10);
      assertEquals(10, channel.position());
      channel.truncate(11);
    }
    assertEquals(List.of(), said(recording));
  }

  @Test
  void clock_canBeShared() throws IOException {
    TraceClock clock = new TraceClock();
    RecordingFileSystem recording = RecordingFileSystem.over(temp).clock(clock).start();
    assertSame(clock, recording.clock());
    Files.createFile(recording.directory().resolve("a"));
    long between = clock.next();
    Files.createFile(recording.directory().resolve("b"));
    List<Operation> operations = recording.trace().operations();
    assertTrue(operations.get(0).seq() < between && between < operations.get(1).seq());
  }

  @Test
  void counts_includeOnlySuccessfulOperationsInTheDirectory() throws IOException {
    Files.write(temp.resolve("f"), new byte[10]);
    RecordingFileSystem recording = RecordingFileSystem.over(temp).keepTrace(false).start();
    Path file = recording.directory().resolve("f");
    try (FileChannel channel =
        FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      channel.read(bytes(4));
      channel.read(bytes(40), 2);
      channel.read(bytes(1), 100);
      channel.write(bytes(5), 10);
      channel.force(false);
    }
    IoCount before = recording.counted();
    assertEquals(new IoCount(3, 12, 1, 5, 1, 1), before);
    assertTrue(Files.exists(file));
    Files.delete(file);
    assertEquals(new IoCount(0, 0, 0, 0, 0, 2), recording.counted().since(before));
    assertThrows(IllegalStateException.class, recording::trace);
  }

  @Test
  void operations_of_threads_that_do_not_count_are_left_out() throws Exception {
    Files.write(temp.resolve("f"), new byte[10]);
    Thread main = Thread.currentThread();
    RecordingFileSystem recording =
        RecordingFileSystem.over(temp).count(thread -> thread == main).start();
    Path file = recording.directory().resolve("f");
    Thread other = Thread.ofPlatform().start(() -> overwrite(file));
    other.join();
    assertEquals(new IoCount(0, 0, 0, 0, 0, 0), recording.counted());
    overwrite(file);
    assertEquals(new IoCount(0, 0, 1, 3, 1, 1), recording.counted());
    assertEquals(
        2,
        recording.trace().operations().stream().filter(Operation.Force.class::isInstance).count());
  }

  private static void overwrite(Path file) {
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
      channel.write(bytes(3), 1);
      channel.force(false);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void lock_belongsToOurChannel() throws IOException {
    RecordingFileSystem recording = RecordingFileSystem.over(temp).start();
    Path file = Files.createFile(recording.directory().resolve("f"));
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE);
        FileChannel other = FileChannel.open(file, StandardOpenOption.WRITE)) {
      FileLock lock = channel.tryLock(3, 5, false);
      assertSame(channel, lock.acquiredBy());
      assertTrue(lock.isValid() && lock.overlaps(7, 1) && !lock.isShared());
      assertThrows(OverlappingFileLockException.class, other::tryLock);
      lock.release();
      assertFalse(lock.isValid());
      FileLock second = other.lock();
      assertSame(other, second.channel());
      other.close();
      assertFalse(second.isValid());
    }
    assertEquals(List.of("create 1 0f"), said(recording));
  }

  @Test
  void asynchronousChannel_readsWritesLocksAndForces_inBothForms() throws Exception {
    RecordingFileSystem recording = RecordingFileSystem.over(temp).start();
    Path file = recording.directory().resolve("f");
    try (ExecutorService threads = Executors.newSingleThreadExecutor();
        AsynchronousFileChannel channel =
            AsynchronousFileChannel.open(
                file,
                java.util.Set.of(
                    StandardOpenOption.CREATE, StandardOpenOption.WRITE, StandardOpenOption.READ),
                threads)) {
      assertEquals(5, channel.write(bytes(5), 0).get());
      assertEquals(3, AsyncResult.<Integer>of(done -> channel.write(bytes(3), 5, "x", done)));
      assertEquals(8, channel.read(bytes(20), 0).get());
      assertEquals(7, AsyncResult.<Integer>of(done -> channel.read(bytes(20), 1, "x", done)));
      FileLock lock = channel.lock().get();
      assertSame(channel, lock.acquiredBy());
      lock.release();
      FileLock again = AsyncResult.of(done -> channel.lock(0, 1, false, "x", done));
      assertTrue(again.isValid());
      again.release();
      try (FileLock tried = channel.tryLock()) {
        assertTrue(tried.isValid());
      }
      channel.truncate(6);
      channel.force(true);
      assertEquals(6, channel.size());
      assertThrows(IllegalArgumentException.class, () -> channel.read(bytes(1), -1));
    }
    assertEquals(
        List.of("create 1 0f", "write 1 0+5", "write 1 5+3", "truncate 1 6", "force 1"),
        said(recording));
    Replay.assertExact(recording.trace(), temp);
    try (AsynchronousFileChannel channel =
        AsynchronousFileChannel.open(file, StandardOpenOption.READ)) {
      assertThrows(NonWritableChannelException.class, () -> channel.write(bytes(1), 0));
    }
    assertThrows(
        UnsupportedOperationException.class,
        () -> AsynchronousFileChannel.open(file, StandardOpenOption.APPEND));
  }

  /** Waits for the result that a completion handler receives. */
  private static final class AsyncResult<T> extends CompletableFuture<T>
      implements CompletionHandler<T, Object> {

    static <T> T of(java.util.function.Consumer<AsyncResult<T>> start) throws Exception {
      AsyncResult<T> result = new AsyncResult<>();
      start.accept(result);
      return result.get();
    }

    @Override
    public void completed(T value, Object attachment) {
      complete(value);
    }

    @Override
    public void failed(Throwable failure, Object attachment) {
      completeExceptionally(failure);
    }
  }

  @Test
  void deleteOnClose_isADeletion() throws IOException {
    RecordingFileSystem recording = RecordingFileSystem.over(temp).start();
    try (FileChannel channel =
        FileChannel.open(
            recording.directory().resolve("f"),
            StandardOpenOption.CREATE,
            StandardOpenOption.WRITE,
            StandardOpenOption.DELETE_ON_CLOSE)) {
      channel.write(bytes(1));
      assertEquals("write 1 0+1", said(recording).getLast());
      if (!Files.exists(temp.resolve("f"))) {
        // As on Unix, the name is free at once.
        Files.createFile(recording.directory().resolve("f"));
      }
    }
    assertEquals(1, said(recording).stream().filter("delete 1 0f"::equals).count());
    Replay.assertExact(recording.trace(), temp);
  }

  @Test
  void channel_allowsOnlyItsMode() throws IOException {
    RecordingFileSystem recording = RecordingFileSystem.over(temp).start();
    Path file = Files.createFile(recording.directory().resolve("f"));
    try (FileChannel writing = FileChannel.open(file, StandardOpenOption.WRITE);
        FileChannel reading = FileChannel.open(file)) {
      assertThrows(NonReadableChannelException.class, () -> writing.read(bytes(1)));
      assertThrows(NonWritableChannelException.class, () -> reading.write(bytes(1)));
      assertThrows(NonWritableChannelException.class, () -> reading.truncate(0));
    }
  }

  @Test
  void paths_correspondToThoseBelow() throws IOException {
    Files.createDirectories(temp.resolve("d/e"));
    RecordingFileSystem recording = RecordingFileSystem.over(temp).start();
    Path directory = recording.directory();
    Path path = directory.resolve("d").resolve("../d/./e");
    assertEquals(directory.resolve("d/e"), path.normalize());
    assertEquals(temp.resolve("d/e").toString(), path.normalize().toString());
    assertEquals(Path.of("d/e").toString(), directory.relativize(path.normalize()).toString());
    assertTrue(path.startsWith(directory) && !path.startsWith(temp));
    assertTrue(directory.resolve("d/e").endsWith("d/e"));
    assertEquals(temp.getNameCount(), directory.getNameCount());
    assertEquals("d", path.getName(temp.getNameCount()).toString());
    assertInstanceOf(RecordingPath.class, path.iterator().next());
    assertInstanceOf(RecordingPath.class, path.getRoot());
    assertInstanceOf(RecordingPath.class, directory.toRealPath());
    assertNotEquals(temp, directory);
    assertNotEquals(RecordingFileSystem.over(temp).start().directory(), directory);
    assertEquals(directory, directory.getFileSystem().getPath(temp.toString()));
    assertEquals(directory, recording.provider().getPath(directory.toUri()));
    assertThrows(ProviderMismatchException.class, () -> directory.resolve(temp));
    try (DirectoryStream<Path> entries = Files.newDirectoryStream(directory, "[d]")) {
      assertEquals(directory.resolve("d"), entries.iterator().next());
    }
    assertTrue(Files.isSameFile(path, directory.resolve("d/e")));
    assertThrows(
        NotDirectoryException.class,
        () -> RecordingFileSystem.over(Files.createFile(temp.resolve("f"))).start());
  }
}

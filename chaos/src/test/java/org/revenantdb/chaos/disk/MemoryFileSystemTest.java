package org.revenantdb.chaos.disk;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.nio.file.StandardOpenOption.APPEND;
import static java.nio.file.StandardOpenOption.CREATE;
import static java.nio.file.StandardOpenOption.READ;
import static java.nio.file.StandardOpenOption.WRITE;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousFileChannel;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.file.ClosedFileSystemException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.ProviderMismatchException;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Behaviour of a file system in memory that the default one lacks, or does not guarantee. */
class MemoryFileSystemTest {

  private final DiskImage image = new DiskImage();
  private final MemoryFileSystem disk = MemoryFileSystem.of(image);
  private final Path root = disk.root();

  @Test
  void image_isLive() throws IOException {
    assertSame(image, disk.image());
    Files.createDirectory(root.resolve("d"));
    Files.writeString(root.resolve("d/f"), "abc");
    assertEquals(Set.of("d", "d/f"), image.paths().keySet());
    int node = image.paths().get("d/f");
    assertEquals("abc", new String(image.file(node).bytes(0, 3), UTF_8));
    try (MemoryFileSystem other = MemoryFileSystem.of(image.fork())) {
      Files.writeString(other.root().resolve("d/f"), "other");
      Files.delete(root.resolve("d/f"));
      assertEquals("other", Files.readString(other.root().resolve("d/f")));
    }
  }

  @Test
  void zerosThatAreWritten_areAHoleInTheImage() throws IOException {
    Files.write(root.resolve("f"), new byte[100_000]);
    DiskImage hole = new DiskImage();
    hole.create(1, /* directory= */ false);
    hole.link(DiskImage.ROOT, "f", 1);
    hole.file(1).setSize(100_000);
    assertEquals(hole.hash(), image.hash());
  }

  @Test
  void node_goes_withTheLastNameAndTheLastHandle() throws IOException {
    Path file = Files.writeString(root.resolve("f"), "abc");
    int node = image.paths().get("f");
    Files.createLink(root.resolve("g"), file);
    FileChannel one = FileChannel.open(file, READ);
    FileChannel two = FileChannel.open(file, WRITE);
    Files.delete(file);
    one.close();
    assertTrue(image.exists(node));
    Files.delete(root.resolve("g"));
    assertTrue(image.exists(node));
    two.close();
    two.close();
    assertFalse(image.exists(node));
    Files.createFile(file);
    assertNotEquals(node, image.paths().get("f"), "a number is never given out twice");
  }

  @Test
  void namesOfTheImage_areCounted() throws IOException {
    image.create(1, /* directory= */ false);
    image.link(DiskImage.ROOT, "a", 1);
    image.link(DiskImage.ROOT, "b", 1);
    Files.delete(root.resolve("a"));
    assertEquals("", Files.readString(root.resolve("b")));
    Files.delete(root.resolve("b"));
    assertFalse(image.exists(1));
  }

  @Test
  void directoryStream_isInTheOrderOfNames() throws IOException {
    for (String name : List.of("b", "a", "c", "B")) {
      Files.createFile(root.resolve(name));
    }
    List<String> names = new ArrayList<>();
    try (DirectoryStream<Path> stream = Files.newDirectoryStream(root)) {
      stream.forEach(entry -> names.add(entry.toString()));
    }
    assertEquals(List.of("/B", "/a", "/b", "/c"), names);
  }

  @Test
  void modificationTimes_growWithEveryChange() throws IOException {
    FileTime last = Files.getLastModifiedTime(root);
    for (int i = 0; i < 100; i++) {
      Path file = Files.createFile(root.resolve("f" + i));
      FileTime next = Files.getLastModifiedTime(file);
      assertTrue(next.compareTo(last) > 0);
      Files.writeString(file, "x", APPEND);
      last = Files.getLastModifiedTime(file);
      assertTrue(last.compareTo(next) > 0);
    }
  }

  @Test
  void write_farBeyondEveryStore_isRefused() throws IOException {
    try (FileChannel channel = FileChannel.open(root.resolve("f"), WRITE, CREATE)) {
      for (long at : new long[] {OpenFile.MAX_SIZE, Long.MAX_VALUE}) {
        IOException e =
            assertThrows(IOException.class, () -> channel.write(ByteBuffer.allocate(1), at));
        assertEquals("File too large", e.getMessage());
      }
      assertEquals(0, channel.size());
    }
  }

  // ---- mappings for reading ----

  @Test
  void a_mapping_for_reading_shows_what_is_written_and_cut_later() throws IOException {
    Path file = Files.write(root.resolve("f"), new byte[] {1, 2, 3, 4});
    try (FileChannel channel = FileChannel.open(file, READ, WRITE);
        FileChannel reading = FileChannel.open(file, READ)) {
      ByteBuffer buffer = reading.map(FileChannel.MapMode.READ_ONLY, 1, 3);
      ByteBuffer memory = reading.map(FileChannel.MapMode.READ_ONLY, 0, 4);
      MemorySegment segment = reading.map(FileChannel.MapMode.READ_ONLY, 1, 3, Arena.ofAuto());
      channel.write(ByteBuffer.wrap(new byte[] {9, 9}), 2);
      assertEquals(ByteBuffer.wrap(new byte[] {2, 9, 9}), buffer);
      assertEquals(buffer, segment.asByteBuffer());
      assertEquals(9, memory.get(3));
      channel.truncate(3);
      assertEquals(0, memory.get(3));
      Files.newOutputStream(file).close();
      assertEquals(0, memory.get(0));
      assertThrows(
          IOException.class, () -> reading.map(FileChannel.MapMode.READ_ONLY, 0, 10), "behind");
      channel.map(FileChannel.MapMode.PRIVATE, 0, 5).put(0, (byte) 7);
      assertEquals(5, channel.size());
      assertEquals(0, Files.readAllBytes(file)[0]);
    }
  }

  // ---- texts of paths ----

  @Test
  void file_systems_apart_have_texts_of_their_own_that_stand_for_nothing_elsewhere()
      throws IOException {
    Path one = MemoryFileSystem.apart(new DiskImage()).root();
    Path other = MemoryFileSystem.apart(new DiskImage()).root();
    assertNotEquals(one.toString(), other.toString());
    Path file = Files.writeString(one.resolve("f"), "abc");
    assertEquals(one + "/f", file.toString());
    assertEquals(file, one.getFileSystem().getPath(file.toString()));
    assertEquals(one, one.getFileSystem().getPath(one.toString()));
    assertEquals("abc", Files.readString(one.getFileSystem().getPath("/f")));
    assertEquals(List.of(file.toString()), list(one));
    assertFalse(new File(one.toString()).mkdirs());
    assertTrue(MemoryFileSystem.isIn("cannot open " + file));
  }

  private static List<String> list(Path directory) throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      return files.map(Path::toString).toList();
    }
  }

  // ---- what is refused ----

  @Test
  void unsupportedOperations_throw() throws IOException {
    Path file = Files.writeString(root.resolve("f"), "abc");
    try (FileChannel channel = FileChannel.open(file, READ, WRITE)) {
      UnsupportedOperationException e =
          assertThrows(
              UnsupportedOperationException.class,
              () -> channel.map(FileChannel.MapMode.READ_WRITE, 0, 1));
      assertTrue(String.valueOf(e.getMessage()).contains("cannot be mapped"), e.getMessage());
    }
    for (Runnable each :
        List.<Runnable>of(
            file::toFile,
            disk::newWatchService,
            () -> {
              try {
                Files.createSymbolicLink(root.resolve("s"), file);
              } catch (IOException e) {
                throw new AssertionError(e);
              }
            })) {
      UnsupportedOperationException e =
          assertThrows(UnsupportedOperationException.class, each::run);
      assertTrue(String.valueOf(e.getMessage()).contains("memory"), e.getMessage());
    }
    assertEquals("revenant-memory:/f", file.toUri().toString());
    assertEquals(file, disk.provider().getPath(file.toUri()));
  }

  @Test
  void pathsOfAnotherFileSystem_areRefused(@TempDir Path directory) throws IOException {
    MemoryFileSystem other = MemoryFileSystem.of(new DiskImage());
    assertNotEquals(other, disk);
    assertNotEquals(other.root(), root);
    assertFalse(root.startsWith(other.root()) || root.endsWith(other.root()));
    assertThrows(ProviderMismatchException.class, () -> root.resolve(other.root()));
    assertThrows(ProviderMismatchException.class, () -> root.resolve(directory));
    assertFalse(Files.isSameFile(root, other.root()));
    assertFalse(Files.isSameFile(root, directory));
  }

  @Test
  void filesGoFromOneFileSystemToAnother(@TempDir Path directory) throws IOException {
    MemoryFileSystem other = MemoryFileSystem.of(new DiskImage());
    Path file = Files.writeString(root.resolve("f"), "abc");
    Files.copy(file, directory.resolve("f"));
    Files.move(directory.resolve("f"), other.root().resolve("g"));
    Files.move(other.root().resolve("g"), root.resolve("h"));
    assertEquals("abc", Files.readString(root.resolve("h")));
    assertEquals(Set.of(), other.image().paths().keySet());
    assertEquals(Set.of("f", "h"), image.paths().keySet());
  }

  // ---- closing ----

  @Test
  void closedFileSystem_refusesEverything() throws IOException {
    Path file = Files.writeString(root.resolve("f"), "abc");
    FileChannel channel = FileChannel.open(file, READ, WRITE);
    AsynchronousFileChannel asynchronous = AsynchronousFileChannel.open(file, READ);
    DirectoryStream<Path> stream = Files.newDirectoryStream(root);
    disk.close();
    disk.close();
    assertFalse(disk.isOpen());
    assertFalse(channel.isOpen());
    assertFalse(asynchronous.isOpen());
    assertThrows(ClosedChannelException.class, () -> channel.read(ByteBuffer.allocate(1)));
    assertThrows(IllegalStateException.class, stream::iterator);
    assertThrows(ClosedFileSystemException.class, () -> Files.exists(file));
    assertThrows(ClosedFileSystemException.class, () -> Files.size(file));
    assertThrows(ClosedFileSystemException.class, () -> Files.readString(file));
    assertThrows(ClosedFileSystemException.class, () -> Files.createFile(root.resolve("g")));
    assertThrows(ClosedFileSystemException.class, () -> Files.createDirectory(root.resolve("g")));
    assertThrows(ClosedFileSystemException.class, () -> Files.delete(file));
    assertThrows(ClosedFileSystemException.class, () -> Files.move(file, root.resolve("g")));
    assertThrows(ClosedFileSystemException.class, () -> Files.newDirectoryStream(root));
    assertEquals(Set.of("f"), image.paths().keySet());
  }

  /** A checker can read the image although the store left threads behind. */
  @Test
  void image_isUnchanged_afterClose_whateverThreadsDo() throws Exception {
    for (int round = 0; round < 20; round++) {
      MemoryFileSystem busy = MemoryFileSystem.of(new DiskImage());
      CountDownLatch working = new CountDownLatch(4);
      try (ExecutorService threads = Executors.newFixedThreadPool(4)) {
        List<Future<?>> ended = new ArrayList<>();
        for (int thread = 0; thread < 4; thread++) {
          Path mine = busy.root().resolve("f" + thread);
          ended.add(threads.submit(() -> writeUntilClosed(mine, working)));
        }
        working.await();
        busy.close();
        long hash = busy.image().fork().hash();
        for (Future<?> each : ended) {
          each.get();
        }
        assertEquals(hash, busy.image().fork().hash());
      }
    }
  }

  private static void writeUntilClosed(Path file, CountDownLatch working) {
    Path other = file.resolveSibling(file.getFileName() + "x");
    try (FileChannel channel = FileChannel.open(file, WRITE, CREATE)) {
      for (int i = 1; ; i++) {
        channel.write(ByteBuffer.wrap(new byte[] {(byte) i}), i % 5000);
        Files.writeString(other, "x" + i);
        Files.delete(other);
        if (i == 10) {
          working.countDown();
        }
      }
    } catch (IOException | ClosedFileSystemException e) {
      // This is what it waits for.
    }
  }

  // ---- threads ----

  @Test
  void writes_areAtomicForReaders() throws Exception {
    int length = 3 * FileContent.BLOCK;
    Path file = root.resolve("f");
    Files.write(file, new byte[length]);
    AtomicBoolean done = new AtomicBoolean();
    try (ExecutorService threads = Executors.newFixedThreadPool(3);
        FileChannel channel = FileChannel.open(file, READ, WRITE)) {
      List<Future<?>> readers = new ArrayList<>();
      for (int reader = 0; reader < 2; reader++) {
        readers.add(
            threads.submit(() -> {
              while (!done.get()) {
                byte[] seen = new byte[length];
                channel.read(ByteBuffer.wrap(seen), 0);
                byte[] whole = new byte[length];
                Arrays.fill(whole, seen[length / 2]);
                assertEquals(-1, Arrays.mismatch(whole, seen));
              }
              return null;
            }));
      }
      for (int i = 0; i < 5000; i++) {
        byte[] data = new byte[length];
        Arrays.fill(data, (byte) i);
        channel.write(ByteBuffer.wrap(data), 0);
      }
      done.set(true);
      for (Future<?> reader : readers) {
        reader.get();
      }
    }
  }

  @Test
  void appends_ofManyThreads_areAllThere() throws Exception {
    Path file = root.resolve("f");
    try (ExecutorService threads = Executors.newFixedThreadPool(4)) {
      List<Future<?>> ended = new ArrayList<>();
      for (int thread = 0; thread < 4; thread++) {
        ended.add(
            threads.submit(() -> {
              try (FileChannel channel = FileChannel.open(file, CREATE, APPEND)) {
                for (int i = 0; i < 500; i++) {
                  channel.write(ByteBuffer.wrap("line\n".getBytes(UTF_8)));
                }
              }
              return null;
            }));
      }
      for (Future<?> each : ended) {
        each.get();
      }
    }
    List<String> lines = Files.readAllLines(file);
    assertEquals(2000, lines.size());
    assertEquals(Set.of("line"), Set.copyOf(lines));
  }

  @Test
  void createNew_letsOneThreadWin() throws Exception {
    try (ExecutorService threads = Executors.newFixedThreadPool(4)) {
      for (int round = 0; round < 200; round++) {
        Path file = root.resolve("f" + round);
        List<Future<Boolean>> tries = new ArrayList<>();
        for (int thread = 0; thread < 4; thread++) {
          tries.add(threads.submit(() -> created(file)));
        }
        int winners = 0;
        for (Future<Boolean> each : tries) {
          winners += each.get() ? 1 : 0;
        }
        assertEquals(1, winners);
      }
    }
  }

  private static boolean created(Path file) {
    try {
      Files.createFile(file);
      return true;
    } catch (IOException e) {
      return false;
    }
  }

  @Test
  void asynchronousOperation_onAChannelClosedMeanwhile_fails() throws Exception {
    List<Runnable> held = new ArrayList<>();
    ExecutorService executor = new HoldingExecutor(held);
    AsynchronousFileChannel channel =
        AsynchronousFileChannel.open(root.resolve("f"), Set.of(WRITE, CREATE), executor);
    Future<Integer> write = channel.write(ByteBuffer.allocate(1), 0);
    channel.close();
    held.forEach(Runnable::run);
    ExecutionException e = assertThrows(ExecutionException.class, write::get);
    assertInstanceOf(java.nio.channels.AsynchronousCloseException.class, e.getCause());
    assertEquals(0, Files.size(root.resolve("f")));
  }

  /** Runs nothing until the test starts it. */
  private static final class HoldingExecutor extends java.util.concurrent.AbstractExecutorService {

    private final List<Runnable> held;

    HoldingExecutor(List<Runnable> held) {
      this.held = held;
    }

    @Override
    public void execute(Runnable task) {
      held.add(task);
    }

    @Override
    public void shutdown() {}

    @Override
    public List<Runnable> shutdownNow() {
      return List.of();
    }

    @Override
    public boolean isShutdown() {
      return false;
    }

    @Override
    public boolean isTerminated() {
      return false;
    }

    @Override
    public boolean awaitTermination(long timeout, java.util.concurrent.TimeUnit unit) {
      return true;
    }
  }
}

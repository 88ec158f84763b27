package org.revenantdb.chaos.disk;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.nio.file.StandardCopyOption.ATOMIC_MOVE;
import static java.nio.file.StandardCopyOption.COPY_ATTRIBUTES;
import static java.nio.file.StandardCopyOption.REPLACE_EXISTING;
import static java.nio.file.StandardOpenOption.APPEND;
import static java.nio.file.StandardOpenOption.CREATE;
import static java.nio.file.StandardOpenOption.CREATE_NEW;
import static java.nio.file.StandardOpenOption.DELETE_ON_CLOSE;
import static java.nio.file.StandardOpenOption.DSYNC;
import static java.nio.file.StandardOpenOption.READ;
import static java.nio.file.StandardOpenOption.SYNC;
import static java.nio.file.StandardOpenOption.TRUNCATE_EXISTING;
import static java.nio.file.StandardOpenOption.WRITE;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousFileChannel;
import java.nio.channels.Channels;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.CompletionHandler;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.FileLockInterruptionException;
import java.nio.channels.NonReadableChannelException;
import java.nio.channels.NonWritableChannelException;
import java.nio.channels.OverlappingFileLockException;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.AccessMode;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributeView;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileOwnerAttributeView;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

/**
 * What a store may expect of a file system on Linux. The default file system keeps it, which proves
 * that these expectations are real. Every replacement must keep it, too.
 */
abstract class FileSystemContract {

  /** Returns an empty directory of the file system under test, another one for each test. */
  abstract Path directory();

  private Path path(String name) {
    return directory().resolve(name);
  }

  private Path file(String name, String content) throws IOException {
    return Files.writeString(path(name), content);
  }

  private static String text(Path file) throws IOException {
    return Files.readString(file);
  }

  private static ByteBuffer bytes(String text) {
    return ByteBuffer.wrap(text.getBytes(UTF_8));
  }

  private static String read(FileChannel channel, long position, int length) throws IOException {
    ByteBuffer buffer = ByteBuffer.allocate(length);
    channel.read(buffer, position);
    return new String(buffer.array(), 0, buffer.position(), UTF_8);
  }

  /** Exactly that class, because a caller may catch it. */
  private static <T extends Throwable> T fails(Class<T> type, Executable action) {
    T failure = assertThrows(type, action);
    assertSame(type, failure.getClass());
    return failure;
  }

  private Set<String> entries() throws IOException {
    return entries(directory());
  }

  private static Set<String> entries(Path directory) throws IOException {
    try (Stream<Path> list = Files.list(directory)) {
      Set<String> names = new TreeSet<>();
      list.forEach(entry -> names.add(entry.getFileName().toString()));
      return names;
    }
  }

  // ---- opening ----

  @Test
  void open_missing() {
    NoSuchFileException e =
        fails(NoSuchFileException.class, () -> FileChannel.open(path("none"), READ));
    assertEquals(path("none").toString(), e.getFile());
    fails(NoSuchFileException.class, () -> FileChannel.open(path("none"), WRITE));
    fails(NoSuchFileException.class, () -> FileChannel.open(path("no/ne"), WRITE, CREATE));
  }

  @Test
  void open_createWithoutWrite_creates_nothing() {
    fails(NoSuchFileException.class, () -> FileChannel.open(path("f"), READ, CREATE));
    assertFalse(Files.exists(path("f")));
  }

  @Test
  void open_createNew_existing() throws IOException {
    file("f", "old");
    fails(FileAlreadyExistsException.class, () -> FileChannel.open(path("f"), WRITE, CREATE_NEW));
    Files.createDirectory(path("d"));
    fails(FileAlreadyExistsException.class, () -> FileChannel.open(path("d"), WRITE, CREATE_NEW));
    assertEquals("old", text(path("f")));
  }

  @Test
  void open_create_keeps_what_is_there() throws IOException {
    file("f", "old");
    FileChannel.open(path("f"), WRITE, CREATE).close();
    assertEquals("old", text(path("f")));
    FileChannel.open(path("f"), READ, TRUNCATE_EXISTING).close();
    assertEquals("old", text(path("f")));
    FileChannel.open(path("f"), WRITE, TRUNCATE_EXISTING).close();
    assertEquals("", text(path("f")));
  }

  @Test
  void open_impossible_options() throws IOException {
    file("f", "");
    fails(IllegalArgumentException.class, () -> FileChannel.open(path("f"), READ, APPEND));
    fails(
        IllegalArgumentException.class,
        () -> FileChannel.open(path("f"), APPEND, TRUNCATE_EXISTING));
    fails(UnsupportedOperationException.class, () -> Files.newInputStream(path("f"), WRITE));
    fails(IllegalArgumentException.class, () -> Files.newOutputStream(path("f"), READ));
    fails(
        UnsupportedOperationException.class, () -> AsynchronousFileChannel.open(path("f"), APPEND));
  }

  @Test
  void options_may_be_repeated() throws IOException {
    Files.write(path("f"), new byte[3], CREATE, CREATE, WRITE);
    try (InputStream in = Files.newInputStream(path("f"), READ, READ)) {
      assertEquals(3, in.readAllBytes().length);
    }
  }

  @Test
  void open_directory() throws IOException {
    Files.createDirectory(path("d"));
    try (FileChannel channel = FileChannel.open(path("d"), READ)) {
      channel.force(true);
      IOException e = fails(IOException.class, () -> channel.read(ByteBuffer.allocate(1), 0));
      assertEquals("Is a directory", e.getMessage());
    }
    fails(FileSystemException.class, () -> FileChannel.open(path("d"), WRITE));
    fails(FileSystemException.class, () -> FileChannel.open(path("d"), WRITE, CREATE));
  }

  @Test
  void open_below_a_file() throws IOException {
    file("f", "");
    fails(FileSystemException.class, () -> FileChannel.open(path("f/x"), READ));
    fails(FileSystemException.class, () -> FileChannel.open(path("f/x"), WRITE, CREATE));
    fails(FileSystemException.class, () -> Files.createDirectory(path("f/x")));
    fails(FileSystemException.class, () -> Files.delete(path("f/x")));
    fails(FileSystemException.class, () -> Files.deleteIfExists(path("f/x")));
    fails(FileSystemException.class, () -> path("f/x").toRealPath());
    fails(FileSystemException.class, () -> Files.getFileStore(path("f/x")));
    fails(FileSystemException.class, () -> Files.isSameFile(path("f/x"), path("f")));
    fails(FileSystemException.class, () -> Files.createLink(path("f/x"), path("f")));
    fails(FileSystemException.class, () -> Files.createLink(path("g"), path("f/x")));
    fails(FileSystemException.class, () -> Files.move(path("f/x"), path("g"), ATOMIC_MOVE));
    fails(NoSuchFileException.class, () -> Files.move(path("f/x"), path("g")));
    fails(NoSuchFileException.class, () -> Files.copy(path("f/x"), path("g")));
    fails(NoSuchFileException.class, () -> Files.size(path("f/x")));
    fails(NotDirectoryException.class, () -> Files.newDirectoryStream(path("f/x")));
    assertFalse(Files.exists(path("f/x")));
    assertFalse(Files.isDirectory(path("f/x")));
  }

  @Test
  void open_with_permissions() throws IOException {
    var mine = PosixFilePermissions.fromString("rw-------");
    FileChannel.open(
            path("f"), Set.of(WRITE, CREATE_NEW), PosixFilePermissions.asFileAttribute(mine))
        .close();
    assertEquals(mine, Files.getPosixFilePermissions(path("f")));
    var all = PosixFilePermissions.fromString("rwx------");
    Files.createDirectory(path("d"), PosixFilePermissions.asFileAttribute(all));
    assertEquals(all, Files.getPosixFilePermissions(path("d")));
  }

  @Test
  void deleteOnClose_has_no_name_while_open() throws IOException {
    try (FileChannel channel = FileChannel.open(path("f"), READ, WRITE, CREATE, DELETE_ON_CLOSE)) {
      assertFalse(Files.exists(path("f")));
      channel.write(bytes("still here"));
      assertEquals("still here", read(channel, 0, 100));
    }
    assertEquals(Set.of(), entries());
  }

  @Test
  void syncOptions_are_accepted() throws IOException {
    try (FileChannel channel = FileChannel.open(path("f"), WRITE, CREATE, DSYNC, SYNC)) {
      channel.write(bytes("x"));
      channel.force(false);
    }
    assertEquals("x", text(path("f")));
  }

  // ---- reading and writing ----

  @Test
  void position_moves_with_sequential_operations_only() throws IOException {
    try (FileChannel channel = FileChannel.open(path("f"), READ, WRITE, CREATE)) {
      assertEquals(5, channel.write(bytes("01234")));
      assertEquals(5, channel.position());
      assertEquals(3, channel.write(bytes("abc"), 10));
      assertEquals(5, channel.position());
      assertEquals(13, channel.size());
      assertSame(channel, channel.position(1));
      ByteBuffer buffer = ByteBuffer.allocate(3);
      assertEquals(3, channel.read(buffer));
      assertArrayEquals("123".getBytes(UTF_8), buffer.array());
      assertEquals(4, channel.position());
      assertEquals("4\0\0\0\0\0abc", read(channel, 4, 100));
      assertEquals(4, channel.position());
    }
  }

  @Test
  void read_at_the_end() throws IOException {
    file("f", "abc");
    try (FileChannel channel = FileChannel.open(path("f"))) {
      assertEquals(-1, channel.read(ByteBuffer.allocate(1), 3));
      assertEquals(-1, channel.read(ByteBuffer.allocate(1), 1_000_000_000_000L));
      assertEquals(0, channel.read(ByteBuffer.allocate(0), 3));
      assertEquals(2, channel.read(ByteBuffer.allocate(5), 1));
      channel.position(3);
      assertEquals(-1, channel.read(ByteBuffer.allocate(1)));
      assertEquals(-1, channel.read(new ByteBuffer[] {ByteBuffer.allocate(1)}));
      assertEquals(0, channel.read(new ByteBuffer[0]));
      assertEquals(3, channel.position());
    }
  }

  @Test
  void write_behind_the_end_leaves_zeros() throws IOException {
    try (FileChannel channel = FileChannel.open(path("f"), READ, WRITE, CREATE)) {
      channel.position(3);
      assertEquals(0, channel.write(ByteBuffer.allocate(0)));
      assertEquals(0, channel.size());
      channel.write(bytes("x"));
      assertEquals("\0\0\0x", read(channel, 0, 10));
    }
  }

  @Test
  void write_direct_and_read_only_buffers() throws IOException {
    try (FileChannel channel = FileChannel.open(path("f"), READ, WRITE, CREATE)) {
      ByteBuffer direct = ByteBuffer.allocateDirect(4).put(bytes("abcd")).flip();
      assertEquals(4, channel.write(direct));
      assertFalse(direct.hasRemaining());
      assertEquals(2, channel.write(bytes("xy").asReadOnlyBuffer()));
      ByteBuffer back = ByteBuffer.allocateDirect(6);
      assertEquals(6, channel.read(back, 0));
      assertEquals(bytes("abcdxy"), back.flip());
      fails(
          IllegalArgumentException.class,
          () -> channel.read(ByteBuffer.allocate(1).asReadOnlyBuffer(), 0));
    }
  }

  @Test
  void vectors_are_filled_in_order() throws IOException {
    try (FileChannel channel = FileChannel.open(path("f"), READ, WRITE, CREATE)) {
      ByteBuffer[] out = {bytes("--"), bytes("ab"), bytes(""), bytes("cde"), bytes("--")};
      assertEquals(5, channel.write(out, 1, 3));
      assertEquals(5, channel.position());
      channel.position(0);
      ByteBuffer[] in = {ByteBuffer.allocate(1), ByteBuffer.allocate(3), ByteBuffer.allocate(9)};
      assertEquals(5, channel.read(in));
      assertEquals(bytes("a"), in[0].flip());
      assertEquals(bytes("bcd"), in[1].flip());
      assertEquals(bytes("e"), in[2].flip());
      fails(IndexOutOfBoundsException.class, () -> channel.read(in, 2, 2));
    }
  }

  @Test
  void append_goes_to_the_end_wherever_it_is() throws IOException {
    file("f", "abc");
    try (FileChannel channel = FileChannel.open(path("f"), APPEND);
        FileChannel other = FileChannel.open(path("f"), APPEND)) {
      assertEquals(3, channel.position());
      channel.write(bytes("d"));
      other.write(bytes("e"));
      channel.position(0);
      channel.write(bytes("f"));
      assertEquals(6, channel.position());
    }
    assertEquals("abcdef", text(path("f")));
  }

  @Test
  void truncate_cuts_and_never_enlarges() throws IOException {
    try (FileChannel channel = FileChannel.open(path("f"), READ, WRITE, CREATE)) {
      channel.write(bytes("0123456789"));
      assertSame(channel, channel.truncate(20));
      assertEquals(10, channel.size());
      channel.truncate(4);
      assertEquals(4, channel.size());
      assertEquals(4, channel.position());
      channel.position(100);
      channel.truncate(50);
      assertEquals(50, channel.position());
      channel.write(bytes("x"), 6);
      assertEquals("0123\0\0x", read(channel, 0, 10));
      fails(IllegalArgumentException.class, () -> channel.truncate(-1));
    }
  }

  @Test
  void negative_positions_are_refused() throws IOException {
    try (FileChannel channel = FileChannel.open(path("f"), READ, WRITE, CREATE)) {
      fails(IllegalArgumentException.class, () -> channel.position(-1));
      fails(IllegalArgumentException.class, () -> channel.read(ByteBuffer.allocate(1), -1));
      fails(IllegalArgumentException.class, () -> channel.write(bytes("x"), -1));
      fails(IllegalArgumentException.class, () -> channel.transferTo(-1, 1, channel));
      fails(IllegalArgumentException.class, () -> channel.transferFrom(channel, 0, -1));
    }
  }

  @Test
  void channel_for_one_direction_refuses_the_other() throws IOException {
    file("f", "abc");
    file("g", "abc");
    try (FileChannel in = FileChannel.open(path("f"), READ);
        FileChannel out = FileChannel.open(path("g"), WRITE)) {
      fails(NonWritableChannelException.class, () -> in.write(bytes("x")));
      fails(NonWritableChannelException.class, () -> in.write(bytes("x"), 0));
      fails(NonWritableChannelException.class, () -> in.write(new ByteBuffer[] {bytes("x")}));
      fails(NonWritableChannelException.class, () -> in.truncate(0));
      fails(NonWritableChannelException.class, () -> in.transferFrom(in, 0, 1));
      fails(NonWritableChannelException.class, in::lock);
      fails(NonReadableChannelException.class, () -> out.read(ByteBuffer.allocate(1)));
      fails(NonReadableChannelException.class, () -> out.read(ByteBuffer.allocate(1), 0));
      fails(NonReadableChannelException.class, () -> out.transferTo(0, 1, out));
      fails(NonReadableChannelException.class, () -> out.lock(0, 1, true));
      fails(NonWritableChannelException.class, () -> in.transferTo(0, 1, in));
      fails(NonReadableChannelException.class, () -> out.transferFrom(out, 0, 1));
      in.force(true);
    }
  }

  @Test
  void transfers_move_bytes_between_channels() throws IOException {
    byte[] content = new byte[200_001];
    // No two parts are equal, whatever the sizes in which it is moved.
    new Random(1).nextBytes(content);
    Files.write(path("f"), content);
    try (FileChannel in = FileChannel.open(path("f"));
        FileChannel out = FileChannel.open(path("g"), READ, WRITE, CREATE)) {
      assertEquals(content.length - 1, in.transferTo(1, Long.MAX_VALUE, out));
      assertEquals(content.length - 1, out.position());
      assertEquals(0, in.position());
      assertEquals(0, in.transferTo(content.length, 5, out));
      assertEquals(0, in.transferTo(content.length + 10, 5, out));
      in.position(100_000);
      assertEquals(100_000, out.transferFrom(in, 10, 100_000));
      assertEquals(200_000, in.position());
      assertEquals(content.length - 1, out.position());
    }
    byte[] expected = Arrays.copyOfRange(content, 1, content.length);
    System.arraycopy(content, 100_000, expected, 10, 100_000);
    assertArrayEquals(expected, Files.readAllBytes(path("g")));
  }

  @Test
  void transfers_work_with_foreign_channels() throws IOException {
    file("f", "0123456789");
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    try (FileChannel channel = FileChannel.open(path("f"), READ, WRITE)) {
      assertEquals(4, channel.transferTo(3, 4, Channels.newChannel(out)));
      assertEquals("3456", out.toString(UTF_8));
      InputStream in = new java.io.ByteArrayInputStream("abc".getBytes(UTF_8));
      assertEquals(3, channel.transferFrom(Channels.newChannel(in), 8, 10));
    }
    assertEquals("01234567abc", text(path("f")));
  }

  @Test
  void two_channels_see_the_same_bytes() throws IOException {
    try (FileChannel one = FileChannel.open(path("f"), READ, WRITE, CREATE);
        SeekableByteChannel two = Files.newByteChannel(path("f"), READ, WRITE)) {
      one.write(bytes("abc"));
      two.position(1);
      two.write(bytes("X"));
      assertEquals("aXc", read(one, 0, 10));
      two.truncate(2);
      assertEquals(2, one.size());
    }
  }

  // ---- closing and interrupting ----

  @Test
  void closed_channel_refuses_everything() throws IOException {
    file("f", "abc");
    FileChannel channel = FileChannel.open(path("f"), READ, WRITE);
    FileLock lock = channel.lock();
    channel.close();
    channel.close();
    assertFalse(channel.isOpen());
    assertFalse(lock.isValid());
    fails(ClosedChannelException.class, lock::release);
    fails(ClosedChannelException.class, () -> channel.read(ByteBuffer.allocate(1)));
    fails(ClosedChannelException.class, () -> channel.read(ByteBuffer.allocate(1), 0));
    fails(ClosedChannelException.class, () -> channel.write(bytes("x")));
    fails(ClosedChannelException.class, () -> channel.write(bytes("x"), 0));
    fails(ClosedChannelException.class, channel::position);
    fails(ClosedChannelException.class, () -> channel.position(0));
    fails(ClosedChannelException.class, channel::size);
    fails(ClosedChannelException.class, () -> channel.truncate(0));
    fails(ClosedChannelException.class, () -> channel.force(true));
    fails(ClosedChannelException.class, channel::lock);
    fails(ClosedChannelException.class, channel::tryLock);
    fails(ClosedChannelException.class, () -> channel.transferTo(0, 1, channel));
    assertEquals("abc", text(path("f")));
  }

  private interface Operation {
    void on(FileChannel channel) throws IOException;
  }

  @Test
  void interrupted_thread_closes_the_channel() throws Exception {
    List<Operation> operations =
        List.of(
            channel -> channel.read(ByteBuffer.allocate(1)),
            channel -> channel.read(ByteBuffer.allocate(1), 0),
            channel -> channel.write(bytes("x")),
            channel -> channel.write(bytes("x"), 0),
            channel -> channel.write(new ByteBuffer[] {bytes("x")}),
            FileChannel::position,
            channel -> channel.position(1),
            FileChannel::size,
            channel -> channel.truncate(0),
            channel -> channel.force(false));
    file("f", "abc");
    for (Operation operation : operations) {
      try (FileChannel channel = FileChannel.open(path("f"), READ, WRITE)) {
        inInterruptedThread(() -> {
          fails(ClosedByInterruptException.class, () -> operation.on(channel));
          assertTrue(Thread.currentThread().isInterrupted());
        });
        assertFalse(channel.isOpen());
        fails(ClosedChannelException.class, () -> operation.on(channel));
      }
      assertEquals("abc", text(path("f")));
    }
  }

  @Test
  void interrupted_thread_takes_a_lock_only_by_trying() throws Exception {
    try (FileChannel channel = FileChannel.open(path("f"), WRITE, CREATE)) {
      inInterruptedThread(() -> channel.tryLock().release());
      assertTrue(channel.isOpen());
      inInterruptedThread(() -> fails(FileLockInterruptionException.class, channel::lock));
      assertFalse(channel.isOpen());
    }
  }

  @Test
  void streams_ignore_interrupts() throws Exception {
    inInterruptedThread(() -> {
      try (OutputStream out = Files.newOutputStream(path("f"))) {
        out.write("abc".getBytes(UTF_8));
      }
      try (InputStream in = Files.newInputStream(path("f"))) {
        assertEquals("abc", new String(in.readAllBytes(), UTF_8));
      }
      Files.copy(path("f"), path("g"));
      assertTrue(Thread.currentThread().isInterrupted());
    });
    assertEquals("abc", text(path("g")));
  }

  private static void inInterruptedThread(Executable body) throws Exception {
    AtomicReference<Throwable> failure = new AtomicReference<>();
    Thread thread =
        new Thread(() -> {
          Thread.currentThread().interrupt();
          try {
            body.execute();
          } catch (Throwable e) {
            failure.set(e);
          }
        });
    thread.start();
    thread.join();
    if (failure.get() != null) {
      throw new AssertionError("in the interrupted thread", failure.get());
    }
  }

  // ---- locks ----

  @Test
  void locks_that_overlap_in_this_jvm() throws IOException {
    try (FileChannel one = FileChannel.open(path("f"), READ, WRITE, CREATE);
        FileChannel two = FileChannel.open(path("f"), READ, WRITE)) {
      FileLock lock = one.lock(10, 10, false);
      assertTrue(lock.isValid());
      assertFalse(lock.isShared());
      assertSame(one, lock.acquiredBy());
      fails(OverlappingFileLockException.class, () -> two.tryLock(19, 1, false));
      fails(OverlappingFileLockException.class, two::lock);
      fails(OverlappingFileLockException.class, () -> one.tryLock(0, 11, true));
      two.lock(20, 1, false).release();
      lock.release();
      lock.release();
      assertFalse(lock.isValid());
      FileLock shared = two.lock(0, Long.MAX_VALUE, true);
      assertTrue(shared.isShared());
      fails(OverlappingFileLockException.class, () -> one.lock(0, 1, true));
      two.close();
      try (FileLock all = one.tryLock()) {
        assertEquals(Long.MAX_VALUE, all.size());
      }
      FileLock rest = one.lock(5, 0, false);
      assertEquals(Long.MAX_VALUE - 5, rest.size());
    }
  }

  @Test
  void locks_belong_to_the_file_not_to_its_name() throws IOException {
    file("f", "");
    try (FileChannel one = FileChannel.open(path("f"), WRITE)) {
      one.lock();
      Files.move(path("f"), path("g"));
      file("f", "");
      try (FileChannel two = FileChannel.open(path("f"), WRITE);
          FileChannel three = FileChannel.open(path("g"), WRITE)) {
        assertTrue(two.lock().isValid());
        fails(OverlappingFileLockException.class, three::tryLock);
      }
    }
  }

  // ---- names ----

  @Test
  void deleted_file_lives_while_it_is_open() throws IOException {
    file("f", "abc");
    try (FileChannel channel = FileChannel.open(path("f"), READ, WRITE)) {
      Files.delete(path("f"));
      file("f", "new");
      channel.write(bytes("X"), 0);
      assertEquals("Xbc", read(channel, 0, 10));
      channel.force(true);
    }
    assertEquals("new", text(path("f")));
  }

  @Test
  void replaced_file_lives_while_it_is_open() throws IOException {
    file("f", "old");
    file("g", "new");
    try (FileChannel channel = FileChannel.open(path("f"), READ, WRITE)) {
      Files.move(path("g"), path("f"), ATOMIC_MOVE);
      channel.write(bytes("X"), 0);
      assertEquals("Xld", read(channel, 0, 10));
    }
    assertEquals("new", text(path("f")));
    assertEquals(Set.of("f"), entries());
  }

  @Test
  void renamed_file_stays_open() throws IOException {
    file("f", "abc");
    try (FileChannel channel = FileChannel.open(path("f"), READ, WRITE)) {
      Files.move(path("f"), path("g"));
      channel.write(bytes("X"), 0);
    }
    assertEquals("Xbc", text(path("g")));
  }

  @Test
  void delete_what_is_not_there_or_not_empty() throws IOException {
    fails(NoSuchFileException.class, () -> Files.delete(path("f")));
    assertFalse(Files.deleteIfExists(path("f")));
    Files.createDirectories(path("a/b"));
    fails(DirectoryNotEmptyException.class, () -> Files.delete(path("a")));
    Files.delete(path("a/b"));
    assertTrue(Files.deleteIfExists(path("a")));
    assertEquals(Set.of(), entries());
  }

  @Test
  void createDirectory_existing_or_without_parent() throws IOException {
    Files.createDirectory(path("d"));
    fails(FileAlreadyExistsException.class, () -> Files.createDirectory(path("d")));
    file("f", "");
    fails(FileAlreadyExistsException.class, () -> Files.createDirectory(path("f")));
    fails(FileAlreadyExistsException.class, () -> Files.createDirectories(path("f")));
    fails(NoSuchFileException.class, () -> Files.createDirectory(path("no/d")));
    Files.createDirectories(path("d/e/g"));
    Files.createDirectories(path("d/e/g"));
    assertTrue(Files.isDirectory(path("d/e/g")));
  }

  @Test
  void move_over_something() throws IOException {
    file("f", "F");
    file("g", "G");
    fails(FileAlreadyExistsException.class, () -> Files.move(path("f"), path("g")));
    Files.move(path("f"), path("g"), REPLACE_EXISTING);
    assertEquals("F", text(path("g")));
    Files.createDirectories(path("d/inner"));
    fails(
        DirectoryNotEmptyException.class, () -> Files.move(path("g"), path("d"), REPLACE_EXISTING));
    fails(FileSystemException.class, () -> Files.move(path("g"), path("d"), ATOMIC_MOVE));
    fails(FileSystemException.class, () -> Files.move(path("d"), path("g"), ATOMIC_MOVE));
    Files.move(path("g"), path("d/inner"), REPLACE_EXISTING);
    assertEquals("F", text(path("d/inner")));
  }

  @Test
  void move_what_is_not_there() throws IOException {
    fails(NoSuchFileException.class, () -> Files.move(path("f"), path("g")));
    fails(NoSuchFileException.class, () -> Files.move(path("f"), path("g"), ATOMIC_MOVE));
    file("f", "");
    fails(NoSuchFileException.class, () -> Files.move(path("f"), path("no/g")));
    fails(NoSuchFileException.class, () -> Files.move(path("f"), path("no/g"), ATOMIC_MOVE));
    fails(FileSystemException.class, () -> Files.move(path("f"), path("f/g"), ATOMIC_MOVE));
    Files.move(path("f"), path("f"));
    assertEquals(Set.of("f"), entries());
  }

  @Test
  void move_directories() throws IOException {
    Files.createDirectories(path("a/b"));
    file("a/b/f", "x");
    Files.move(path("a"), path("c"));
    assertEquals("x", text(path("c/b/f")));
    fails(FileSystemException.class, () -> Files.move(path("c"), path("c/b/d")));
    fails(FileSystemException.class, () -> Files.move(path("c/b"), path("c"), ATOMIC_MOVE));
    Files.createDirectory(path("empty"));
    Files.move(path("c"), path("empty"), ATOMIC_MOVE);
    assertEquals("x", text(path("empty/b/f")));
    assertEquals(Set.of("empty"), entries());
  }

  @Test
  void link_is_another_name() throws IOException {
    file("f", "abc");
    assertEquals(path("g"), Files.createLink(path("g"), path("f")));
    assertTrue(Files.isSameFile(path("f"), path("g")));
    Files.delete(path("f"));
    assertEquals("abc", text(path("g")));
    fails(NoSuchFileException.class, () -> Files.createLink(path("h"), path("f")));
    fails(FileAlreadyExistsException.class, () -> Files.createLink(path("g"), path("g")));
    Files.createDirectory(path("d"));
    fails(FileSystemException.class, () -> Files.createLink(path("h"), path("d")));
    Files.createLink(path("h"), path("g"));
    Files.move(path("h"), path("g"), ATOMIC_MOVE);
    assertEquals(Set.of("d", "g", "h"), entries());
  }

  @Test
  void copy_bytes_and_attributes() throws IOException {
    byte[] content = new byte[100_000];
    Arrays.fill(content, (byte) 7);
    Files.write(path("f"), content);
    Files.setLastModifiedTime(path("f"), FileTime.from(Instant.ofEpochSecond(1_000_000)));
    Files.setPosixFilePermissions(path("f"), PosixFilePermissions.fromString("r--r-----"));
    Files.copy(path("f"), path("g"), COPY_ATTRIBUTES);
    assertArrayEquals(content, Files.readAllBytes(path("g")));
    assertEquals(Files.getLastModifiedTime(path("f")), Files.getLastModifiedTime(path("g")));
    assertEquals(
        Files.getPosixFilePermissions(path("f")), Files.getPosixFilePermissions(path("g")));
    fails(FileAlreadyExistsException.class, () -> Files.copy(path("f"), path("g")));
    Files.copy(path("f"), path("g"), REPLACE_EXISTING);
    fails(NoSuchFileException.class, () -> Files.copy(path("none"), path("h")));
    Files.createDirectories(path("d/inner"));
    Files.copy(path("d"), path("e"));
    assertEquals(Set.of(), entries(path("e")));
    fails(
        DirectoryNotEmptyException.class, () -> Files.copy(path("f"), path("d"), REPLACE_EXISTING));
    fails(UnsupportedOperationException.class, () -> Files.copy(path("f"), path("h"), ATOMIC_MOVE));
  }

  @Test
  void dots_on_the_way_are_followed() throws IOException {
    Files.createDirectory(path("d"));
    file("f", "abc");
    assertEquals("abc", text(path("d/../f")));
    assertEquals("abc", text(path("./d/./../f")));
    fails(NoSuchFileException.class, () -> Files.readString(path("none/../f")));
    fails(FileSystemException.class, () -> Files.readString(path("f/../f")));
    assertEquals(path("f").toRealPath(), path("d/.././f").toRealPath());
    fails(NoSuchFileException.class, () -> path("none").toRealPath());
    assertTrue(Files.isSameFile(path("d/../f"), path("f")));
  }

  // ---- directories ----

  @Test
  void directoryStream_filters_and_is_used_once() throws IOException {
    for (String name : List.of("a.log", "b.log", "c.txt", ".hidden")) {
      file(name, "");
    }
    Set<String> found = new TreeSet<>();
    try (DirectoryStream<Path> stream = Files.newDirectoryStream(directory(), "*.{log,tmp}")) {
      for (Path entry : stream) {
        assertEquals(path(entry.getFileName().toString()), entry);
        found.add(entry.getFileName().toString());
      }
      fails(IllegalStateException.class, stream::iterator);
    }
    assertEquals(Set.of("a.log", "b.log"), found);
    assertEquals(Set.of(".hidden", "a.log", "b.log", "c.txt"), entries());
    assertTrue(Files.isHidden(path(".hidden")));
    assertFalse(Files.isHidden(path("a.log")));
  }

  @Test
  void directoryStream_failures() throws IOException {
    file("f", "");
    fails(NotDirectoryException.class, () -> Files.newDirectoryStream(path("f")));
    fails(NoSuchFileException.class, () -> Files.newDirectoryStream(path("none")));
    try (DirectoryStream<Path> stream =
        Files.newDirectoryStream(
            directory(),
            entry -> {
              throw new IOException("no");
            })) {
      Iterator<Path> iterator = stream.iterator();
      fails(DirectoryIteratorException.class, iterator::hasNext);
    }
    DirectoryStream<Path> stream = Files.newDirectoryStream(directory());
    stream.close();
    stream.close();
    fails(IllegalStateException.class, stream::iterator);
    try (DirectoryStream<Path> empty = Files.newDirectoryStream(directory(), "none*")) {
      fails(NoSuchElementException.class, empty.iterator()::next);
    }
  }

  @Test
  void walk_and_delete_a_tree() throws IOException {
    Files.createDirectories(path("t/a/b"));
    file("t/f", "");
    file("t/a/b/g", "");
    List<Path> all;
    try (Stream<Path> walk = Files.walk(path("t"))) {
      all = new ArrayList<>(walk.sorted().toList());
    }
    assertEquals(List.of(path("t"), path("t/a"), path("t/a/b"), path("t/a/b/g"), path("t/f")), all);
    for (Path each : all.reversed()) {
      Files.delete(each);
    }
    assertEquals(Set.of(), entries());
  }

  @Test
  void temporary_files_have_names_of_their_own() throws IOException {
    Path one = Files.createTempFile(directory(), "x", ".tmp");
    Path two = Files.createTempFile(directory(), "x", ".tmp");
    assertNotEquals(one, two);
    assertTrue(Files.isRegularFile(one));
    assertTrue(Files.isDirectory(Files.createTempDirectory(directory(), "d")));
    assertEquals(3, entries().size());
  }

  // ---- attributes ----

  @Test
  void attributes_of_files_and_directories() throws IOException {
    file("f", "abc");
    Files.createDirectory(path("d"));
    BasicFileAttributes f = Files.readAttributes(path("f"), BasicFileAttributes.class);
    assertTrue(f.isRegularFile());
    assertFalse(f.isDirectory() || f.isSymbolicLink() || f.isOther());
    assertEquals(3, f.size());
    PosixFileAttributes d = Files.readAttributes(path("d"), PosixFileAttributes.class);
    assertTrue(d.isDirectory());
    assertFalse(d.isRegularFile());
    assertEquals(d.owner(), Files.getOwner(path("f")));
    assertNotEquals(f.fileKey(), d.fileKey());
    Files.move(path("f"), path("g"));
    assertEquals(f.fileKey(), Files.readAttributes(path("g"), BasicFileAttributes.class).fileKey());
    fails(
        NoSuchFileException.class,
        () -> Files.readAttributes(path("f"), BasicFileAttributes.class));
    assertFalse(Files.isRegularFile(path("f")));
    assertTrue(Files.notExists(path("f")));
    assertEquals(-1, Files.mismatch(path("g"), path("g")));
    assertEquals(3, Files.size(path("g")));
    assertTrue(Files.isReadable(path("g")) && Files.isWritable(path("g")));
    assertFalse(Files.isReadable(path("f")) || Files.isWritable(path("f")));
    fails(
        NoSuchFileException.class,
        () ->
            path("f")
                .getFileSystem()
                .provider()
                .checkAccess(path("f"), AccessMode.READ, AccessMode.READ));
    assertTrue(Files.isExecutable(path("d")));
    assertFalse(Files.isExecutable(path("g")));
    assertFalse(Files.isSymbolicLink(path("g")));
  }

  @Test
  void attributes_by_name() throws IOException {
    file("f", "abc");
    assertEquals(3L, Files.getAttribute(path("f"), "size"));
    assertEquals(3L, Files.getAttribute(path("f"), "basic:size"));
    assertEquals(
        Set.of("size", "isDirectory"),
        Files.readAttributes(path("f"), "size,isDirectory,size").keySet());
    assertEquals(
        Set.of(
            "size",
            "creationTime",
            "lastAccessTime",
            "lastModifiedTime",
            "fileKey",
            "isDirectory",
            "isRegularFile",
            "isSymbolicLink",
            "isOther"),
        Files.readAttributes(path("f"), "*").keySet());
    assertTrue(Files.readAttributes(path("f"), "posix:*").containsKey("permissions"));
    assertEquals(Set.of("owner"), Files.readAttributes(path("f"), "owner:*").keySet());
    fails(IllegalArgumentException.class, () -> Files.readAttributes(path("f"), "none"));
    fails(IllegalArgumentException.class, () -> Files.getAttribute(path("f"), "permissions"));
    fails(UnsupportedOperationException.class, () -> Files.getAttribute(path("f"), "no:size"));
    fails(NoSuchFileException.class, () -> Files.getAttribute(path("g"), "size"));
    FileTime time = FileTime.from(Instant.ofEpochSecond(12345));
    Files.setAttribute(path("f"), "lastModifiedTime", time);
    assertEquals(time, Files.getLastModifiedTime(path("f")));
    var read = PosixFilePermissions.fromString("r--------");
    Files.setAttribute(path("f"), "posix:permissions", read);
    assertEquals(read, Files.getAttribute(path("f"), "posix:permissions"));
    fails(IllegalArgumentException.class, () -> Files.setAttribute(path("f"), "nothing", 1));
  }

  @Test
  void attributeViews_by_type() throws IOException {
    file("f", "");
    BasicFileAttributeView basic =
        Files.getFileAttributeView(path("f"), BasicFileAttributeView.class);
    assertEquals("basic", basic.name());
    FileTime time = FileTime.from(Instant.ofEpochSecond(777));
    FileTime access = FileTime.from(Instant.ofEpochSecond(888));
    basic.setTimes(time, access, null);
    assertEquals(time, basic.readAttributes().lastModifiedTime());
    assertEquals(access, basic.readAttributes().lastAccessTime());
    PosixFileAttributeView posix =
        Files.getFileAttributeView(path("f"), PosixFileAttributeView.class);
    assertEquals("posix", posix.name());
    posix.setOwner(posix.getOwner());
    posix.setGroup(posix.readAttributes().group());
    assertEquals(
        "owner", Files.getFileAttributeView(path("f"), FileOwnerAttributeView.class).name());
    assertNull(
        Files.getFileAttributeView(path("f"), java.nio.file.attribute.AclFileAttributeView.class));
  }

  @Test
  void modificationTime_follows_writes_and_entries() throws IOException {
    FileTime old = FileTime.from(Instant.ofEpochSecond(1000));
    file("f", "abc");
    Files.setLastModifiedTime(path("f"), old);
    text(path("f"));
    assertEquals(old, Files.getLastModifiedTime(path("f")));
    Files.writeString(path("f"), "x", APPEND);
    assertTrue(Files.getLastModifiedTime(path("f")).compareTo(old) > 0);
    Files.createDirectory(path("d"));
    Files.setLastModifiedTime(path("d"), old);
    file("d/f", "");
    assertTrue(Files.getLastModifiedTime(path("d")).compareTo(old) > 0);
  }

  @Test
  void fileStore_has_room() throws IOException {
    assertTrue(Files.getFileStore(directory()).getUsableSpace() > 0);
    fails(NoSuchFileException.class, () -> Files.getFileStore(path("none")));
    assertTrue(Files.getFileStore(directory()).supportsFileAttributeView("posix"));
  }

  // ---- asynchronous channels ----

  @Test
  void asynchronous_reads_and_writes() throws Exception {
    try (AsynchronousFileChannel channel =
        AsynchronousFileChannel.open(path("f"), READ, WRITE, CREATE)) {
      assertEquals(5, channel.write(bytes("01234"), 3).get());
      assertEquals(8, channel.size());
      ByteBuffer buffer = ByteBuffer.allocate(10);
      assertEquals(6, channel.read(buffer, 2).get());
      assertEquals(bytes("\00001234"), buffer.flip());
      assertEquals(-1, channel.read(ByteBuffer.allocate(1), 8).get());
      assertEquals(0, channel.read(ByteBuffer.allocate(0), 8).get());
      assertSame(channel, channel.truncate(4));
      channel.force(true);
      assertEquals(4, channel.size());
      fails(IllegalArgumentException.class, () -> channel.read(ByteBuffer.allocate(1), -1));
      fails(IllegalArgumentException.class, () -> channel.truncate(-1));
      fails(
          IllegalArgumentException.class,
          () -> channel.read(ByteBuffer.allocate(1).asReadOnlyBuffer(), 0));
    }
    assertEquals("\0\0\0" + "0", text(path("f")));
  }

  private static <V> CompletionHandler<V, String> reporting(BlockingQueue<String> calls) {
    return new CompletionHandler<>() {
      @Override
      public void completed(V result, String attachment) {
        calls.add(attachment + " " + (result instanceof FileLock ? "lock" : result));
      }

      @Override
      public void failed(Throwable failure, String attachment) {
        calls.add(attachment + " " + failure.getClass().getSimpleName());
      }
    };
  }

  @Test
  void asynchronous_handlers_are_called() throws Exception {
    BlockingQueue<String> calls = new LinkedBlockingQueue<>();
    AsynchronousFileChannel channel = AsynchronousFileChannel.open(path("f"), READ, WRITE, CREATE);
    channel.write(bytes("abc"), 0, "write", reporting(calls));
    assertEquals("write 3", calls.take());
    channel.read(ByteBuffer.allocate(2), 1, "read", reporting(calls));
    assertEquals("read 2", calls.take());
    channel.lock(0, 1, false, "lock", reporting(calls));
    assertEquals("lock lock", calls.take());
    channel.close();
    channel.read(ByteBuffer.allocate(2), 1, "late", reporting(calls));
    assertEquals("late ClosedChannelException", calls.take());
    fails(NullPointerException.class, () -> channel.read(ByteBuffer.allocate(2), 1, "none", null));
  }

  @Test
  void asynchronous_closed_or_for_one_direction() throws Exception {
    file("f", "abc");
    try (AsynchronousFileChannel in = AsynchronousFileChannel.open(path("f"));
        AsynchronousFileChannel out = AsynchronousFileChannel.open(path("f"), WRITE)) {
      fails(NonWritableChannelException.class, () -> in.write(bytes("x"), 0));
      fails(NonReadableChannelException.class, () -> out.read(ByteBuffer.allocate(1), 0));
      fails(NonWritableChannelException.class, () -> in.truncate(0));
      FileLock lock = out.lock(0, 5, false).get();
      assertSame(out, lock.acquiredBy());
      fails(OverlappingFileLockException.class, () -> in.tryLock(4, 1, true));
      fails(OverlappingFileLockException.class, () -> in.lock(4, 1, true));
      out.close();
      assertTrue(in.tryLock(4, 1, true).isValid());
      assertFalse(out.isOpen());
      fails(ClosedChannelException.class, out::size);
      fails(ClosedChannelException.class, () -> out.force(true));
      fails(ClosedChannelException.class, () -> out.tryLock(9, 1, false));
      ExecutionException e = fails(ExecutionException.class, () -> out.write(bytes("x"), 0).get());
      assertInstanceOf(ClosedChannelException.class, e.getCause());
    }
    assertEquals("abc", text(path("f")));
  }

  // ---- paths ----

  @Test
  void paths_take_apart() {
    Path root = directory().getRoot();
    assertEquals(0, root.getNameCount());
    assertNull(root.getParent());
    assertNull(root.getFileName());
    Path path = root.resolve("a/b/c");
    assertEquals("/a/b/c", path.toString());
    assertEquals("/a/b", path.getParent().toString());
    assertEquals("c", path.getFileName().toString());
    assertEquals("b", path.getName(1).toString());
    assertEquals("b/c", path.subpath(1, 3).toString());
    assertEquals(3, path.getNameCount());
    List<String> names = new ArrayList<>();
    path.forEach(name -> names.add(name.toString()));
    assertEquals(List.of("a", "b", "c"), names);
    fails(IllegalArgumentException.class, () -> path.getName(3));
    fails(IllegalArgumentException.class, () -> path.subpath(1, 1));
    fails(InvalidPathException.class, () -> root.resolve("a\0b"));
    assertEquals("/a/x", path.getParent().resolveSibling("x").toString());
    assertEquals(path, path.getFileSystem().getPath("/a", "", "b//c/"));
    assertEquals(path.hashCode(), path.getFileSystem().getPath("/a/b/c").hashCode());
    assertTrue(path.compareTo(root.resolve("a/b")) > 0);
    assertFalse(path.equals((Object) "/a/b/c"));
    assertEquals("/", path.getFileSystem().getSeparator());
  }

  private static final List<String> SAMPLES =
      List.of(
          "", "/", "a", "/a", "a/b", "/a/b", "b", "a/b/c", "/a/b/c", ".", "..", "../a", "a/..",
          "a/../b", "./a", "/..", "/../a", "a/./b", "../..", "/a/..", "ab", "/ab", "a/bc", "..a");

  /**
   * Results of all path operations without file access on one or two of the samples, as text, for
   * comparing two file systems.
   */
  static List<String> arithmetic(Path any) {
    List<Path> paths = SAMPLES.stream().map(any.getFileSystem()::getPath).toList();
    List<String> said = new ArrayList<>();
    for (Path p : paths) {
      said.add(p + " normalize " + p.normalize());
      said.add(p + " parent " + p.getParent() + " name " + p.getFileName());
      said.add(p + " root " + p.getRoot() + " count " + p.getNameCount());
      for (Path q : paths) {
        said.add(p + " resolve " + q + " " + p.resolve(q) + " " + p.resolveSibling(q));
        said.add(p + " startsWith " + q + " " + p.startsWith(q) + " endsWith " + p.endsWith(q));
        said.add(p + " compareTo " + q + " " + Integer.signum(p.compareTo(q)));
        said.add(p + " equals " + q + " " + p.equals(q));
        said.add(p + " relativize " + q + " " + relativize(p, q));
      }
    }
    return said;
  }

  private static String relativize(Path p, Path q) {
    try {
      return p.relativize(q).toString();
    } catch (IllegalArgumentException e) {
      return e.getClass().getSimpleName();
    }
  }

  @Test
  void paths_are_matched_by_globs_and_expressions() {
    var fileSystem = directory().getFileSystem();
    Path path = fileSystem.getPath("log/0001.log");
    assertTrue(fileSystem.getPathMatcher("glob:log/*.log").matches(path));
    assertFalse(fileSystem.getPathMatcher("glob:*.log").matches(path));
    assertTrue(fileSystem.getPathMatcher("glob:**.log").matches(path));
    assertTrue(fileSystem.getPathMatcher("regex:log/\\d+\\.log").matches(path));
    fails(IllegalArgumentException.class, () -> fileSystem.getPathMatcher("*.log"));
    fails(UnsupportedOperationException.class, () -> fileSystem.getPathMatcher("none:*.log"));
  }
}

package org.revenantdb.chaos.hooks;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SecureDirectoryStream;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.BooleanSupplier;

/**
 * One operation of each kind, by each way of the JDK that leads to it, each compared with what the
 * recorder wrote about it. A recorder that misses one of them does not work here.
 *
 * <p>Threads: one, and no other uses the directory.
 */
final class Trial {
  /*
   * `seen` stands behind each operation. It looks for the operation in the records since the last
   * one, so a record counts for one operation only. More records than these are allowed: a mapping
   * that is longer than its file may set the file's size, on some platforms.
   *
   * A force costs what the disk needs for it, at each start of a recorded JVM: so there are few.
   */

  private static final boolean WINDOWS = System.getProperty("os.name").startsWith("Windows");

  private static final int DATA_ONLY = 1;
  private static final int WITH_METADATA = 2;
  private static final int PAGE = 4096;

  private final Path directory;
  private final Tape tape;
  private final BooleanSupplier forgets;
  private final List<String> unseen = new ArrayList<>();

  /** The end of the records that were looked at. */
  private long looked;

  private Trial(Path directory, Tape tape, BooleanSupplier forgets) {
    this.directory = directory;
    this.tape = tape;
    this.forgets = forgets;
    this.looked = tape.end();
  }

  /**
   * Uses files in each way.
   *
   * @param directory exists and is empty, also afterwards
   * @param tape receives the record of this thread
   * @param forgets makes the recorder forget what it takes for open or mapped; whether there was
   *     such a thing. It is asked when nothing is.
   * @return the ways of which the tape does not have what they did, in the words of the JDK
   */
  static List<String> use(Path directory, Tape tape, BooleanSupplier forgets) throws IOException {
    Trial trial = new Trial(directory.resolve("trial"), tape, forgets);
    trial.all();
    return trial.unseen;
  }

  /**
   * Loads the native libraries of the JDK that have file functions.
   *
   * @param directory exists and is empty, also afterwards
   */
  static void load(Path directory) throws IOException {
    FileChannel.open(
            directory.resolve("trial"),
            StandardOpenOption.CREATE_NEW,
            StandardOpenOption.WRITE,
            StandardOpenOption.DELETE_ON_CLOSE)
        .close();
  }

  private void all() throws IOException {
    Files.createDirectory(directory);
    long number = seen("Files.createDirectory", Tape.MKDIR);
    streams();
    randomAccess();
    channel();
    mapped();
    copies();
    names();
    inOpenDirectory();
    if (!WINDOWS) { // which does not open directories
      try (FileChannel names = FileChannel.open(directory)) {
        names.force(true);
        forced("FileChannel.force of a directory", number, /* metadata= */ true);
      }
      closed("FileChannel.close of a directory");
    }
    Files.delete(directory);
    seen("Files.delete of a directory", Tape.UNLINK);
  }

  private void streams() throws IOException {
    Path path = directory.resolve("stream");
    long file;
    try (FileOutputStream out = new FileOutputStream(path.toFile())) {
      file = created("new FileOutputStream");
      out.write(1);
      written("FileOutputStream.write of a byte", file, 1);
      out.write(new byte[5000]);
      written("FileOutputStream.write of an array", file, 5000);
      out.getFD().sync();
      forced("FileDescriptor.sync", file, /* metadata= */ true);
    }
    closed("FileOutputStream.close");
    try (FileOutputStream out = new FileOutputStream(path.toFile(), /* append= */ true)) {
      out.write(1);
      written("FileOutputStream.write at the end", file, 1);
    }
    closed("FileOutputStream.close");
    if (!WINDOWS) { // which does not force what is open for reading
      try (FileInputStream in = new FileInputStream(path.toFile())) {
        in.getFD().sync();
        forced("FileDescriptor.sync of a FileInputStream", file, /* metadata= */ true);
      }
      closed("FileInputStream.close");
    }
    delete(path);
  }

  private void randomAccess() throws IOException {
    Path path = directory.resolve("random");
    long file;
    try (RandomAccessFile random = new RandomAccessFile(path.toFile(), "rw")) {
      file = created("new RandomAccessFile");
      random.write(1);
      written("RandomAccessFile.write of a byte", file, 1);
      random.write(new byte[5000]);
      written("RandomAccessFile.write of an array", file, 5000);
      random.setLength(4000);
      sized("RandomAccessFile.setLength", file, 4000);
    }
    closed("RandomAccessFile.close");
    try (RandomAccessFile random = new RandomAccessFile(path.toFile(), "rwd")) {
      random.write(1);
      written("RandomAccessFile.write with the mode rwd", file, 1, DATA_ONLY);
    }
    closed("RandomAccessFile.close");
    delete(path);
  }

  private void channel() throws IOException {
    Path path = directory.resolve("channel");
    long file;
    try (FileChannel channel =
        FileChannel.open(path, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
      file = created("FileChannel.open");
      channel.write(ByteBuffer.allocate(10));
      written("FileChannel.write", file, 10);
      channel.write(ByteBuffer.allocate(11), 5);
      written("FileChannel.write at a position", file, 11);
      channel.write(new ByteBuffer[] {ByteBuffer.allocate(10), ByteBuffer.allocate(3)});
      written("FileChannel.write of several buffers", file, 13);
      channel.force(false);
      forced("FileChannel.force(false)", file, /* metadata= */ false);
      channel.force(true);
      forced("FileChannel.force(true)", file, /* metadata= */ true);
      channel.truncate(10);
      sized("FileChannel.truncate", file, 10);
    }
    closed("FileChannel.close");
    try (FileChannel channel =
        FileChannel.open(path, StandardOpenOption.APPEND, StandardOpenOption.SYNC)) {
      channel.write(ByteBuffer.allocate(10));
      written("FileChannel.write with the option SYNC", file, 10, WITH_METADATA);
    }
    closed("FileChannel.close");
    delete(path);
  }

  private void mapped() throws IOException {
    Path path = directory.resolve("mapped");
    long file;
    try (FileChannel channel =
            FileChannel.open(
                path,
                StandardOpenOption.CREATE_NEW,
                StandardOpenOption.READ,
                StandardOpenOption.WRITE);
        Arena arena = Arena.ofShared()) {
      file = created("FileChannel.open for reading and writing");
      MemorySegment map = channel.map(FileChannel.MapMode.READ_WRITE, 0, 2 * PAGE, arena);
      find("FileChannel.map", Tape.MMAP, file, /* figure= */ 0, /* forces= */ 0);
      map.set(JAVA_BYTE, 3, (byte) 1);
      map.force();
      long before = looked;
      written("a store into mapped memory", file, PAGE);
      looked = before; // the record of the force comes with that of the page
      find("MemorySegment.force", Tape.MSYNC, file, 2 * PAGE, /* forces= */ 0);
    }
    closed("the end of a mapping");
    delete(path);
  }

  private void copies() throws IOException {
    Path source = directory.resolve("source");
    Path target = directory.resolve("target");
    Path copy = directory.resolve("copy");
    Files.write(source, new byte[2 * PAGE]);
    created("Files.write");
    try (FileChannel from = FileChannel.open(source);
        FileChannel to =
            FileChannel.open(target, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
      long file = created("FileChannel.open");
      from.transferTo(0, PAGE, to);
      written("FileChannel.transferTo", file, PAGE);
      to.transferFrom(from, 1, PAGE + 1);
      written("FileChannel.transferFrom", file, PAGE + 1);
    }
    closed("FileChannel.close");
    Files.copy(source, copy);
    long before = looked;
    long file = created("the new file of Files.copy");
    looked = before; // the record of the content comes with that of the file
    written("Files.copy", file, 2 * PAGE);
    closed("the closing in Files.copy");
    delete(source);
    delete(target);
    delete(copy);
  }

  private void names() throws IOException {
    Path one = directory.resolve("one");
    Path two = directory.resolve("two");
    if (!one.toFile().createNewFile()) {
      throw new IOException("cannot create " + one);
    }
    created("File.createNewFile");
    Files.move(one, two, StandardCopyOption.ATOMIC_MOVE);
    seen("Files.move", Tape.RENAME);
    if (!two.toFile().renameTo(one.toFile())) {
      throw new IOException("cannot rename " + two);
    }
    seen("File.renameTo", Tape.RENAME);
    if (linked(two, one)) {
      seen("Files.createLink", Tape.LINK);
      delete(two);
    }
    if (linkedSymbolically(two, one)) {
      seen("Files.createSymbolicLink", Tape.GAP);
      delete(two);
    }
    if (!one.toFile().delete()) {
      throw new IOException("cannot delete " + one);
    }
    seen("File.delete", Tape.UNLINK);
    if (!one.toFile().mkdir()) {
      throw new IOException("cannot create " + one);
    }
    seen("File.mkdir", Tape.MKDIR);
    if (!one.toFile().delete()) {
      throw new IOException("cannot delete " + one);
    }
    seen("File.delete of a directory", Tape.UNLINK);
  }

  /** Not every file system has links. */
  private static boolean linked(Path link, Path existing) throws IOException {
    try {
      Files.createLink(link, existing);
      return true;
    } catch (UnsupportedOperationException | FileSystemException e) {
      return false;
    }
  }

  /** Not every file system has them, and not every user may make them. */
  private static boolean linkedSymbolically(Path link, Path to) throws IOException {
    try {
      Files.createSymbolicLink(link, to);
      return true;
    } catch (UnsupportedOperationException | FileSystemException e) {
      return false;
    }
  }

  private void inOpenDirectory() throws IOException {
    try (DirectoryStream<Path> stream = Files.newDirectoryStream(directory)) {
      if (stream instanceof SecureDirectoryStream<Path> secure) {
        try (SeekableByteChannel channel =
            secure.newByteChannel(
                Path.of("relative"),
                Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE))) {
          channel.write(ByteBuffer.allocate(10));
          created("SecureDirectoryStream.newByteChannel");
        }
        secure.move(Path.of("relative"), secure, Path.of("moved"));
        seen("SecureDirectoryStream.move", Tape.RENAME);
        secure.deleteFile(Path.of("moved"));
        seen("SecureDirectoryStream.deleteFile", Tape.UNLINK);
      }
    }
    closed("DirectoryStream.close");
  }

  private void delete(Path path) throws IOException {
    Files.delete(path);
    seen("Files.delete", Tape.UNLINK);
  }

  // ---- what the tape has

  private long seen(String way, int kind) {
    return find(way, kind, /* file= */ 0, /* figure= */ 0, /* forces= */ 0);
  }

  private long created(String way) {
    return seen(way, Tape.OPEN);
  }

  private void written(String way, long file, long length) {
    written(way, file, length, /* forces= */ 0);
  }

  private void written(String way, long file, long length, int forces) {
    find(way, Tape.WRITE, file, length, forces);
  }

  private void sized(String way, long file, long size) {
    find(way, Tape.FTRUNCATE, file, size, /* forces= */ 0);
  }

  private void forced(String way, long file, boolean metadata) {
    find(way, Tape.FSYNC, file, metadata ? 1 : 0, /* forces= */ 0);
  }

  /**
   * Looks for an operation that succeeded in the records since the last look.
   *
   * @param figure its length or size, or whether it forces metadata
   * @return the number of the file; -1 if there is no such record
   */
  private long find(String way, int kind, long file, long figure, int forces) {
    long found = -1;
    long end = tape.end();
    for (long at = looked; at < end; at += tape.getInt(at)) {
      if (tape.getInt(at + 4) == kind
          && tape.hasSucceeded(at)
          && fits(at, kind, file, figure, forces)) {
        found = tape.getLong(at + Tape.A);
      }
    }
    looked = end;
    if (found < 0) {
      missed(way);
    }
    return found;
  }

  private boolean fits(long at, int kind, long file, long figure, int forces) {
    return switch (kind) {
      case Tape.OPEN -> (tape.getLong(at + Tape.B) & Tape.CREAT) != 0 && is(at, Tape.C, 0);
      case Tape.WRITE -> is(at, Tape.A, file) && is(at, Tape.C, figure) && is(at, Tape.D, forces);
      case Tape.FTRUNCATE -> is(at, Tape.A, file) && is(at, Tape.B, figure);
      case Tape.FSYNC -> is(at, Tape.A, file) && is(at, Tape.C, figure);
      case Tape.MMAP -> is(at, Tape.A, file);
      case Tape.MSYNC -> is(at, Tape.A, file) && is(at, Tape.C, 0) && is(at, Tape.D, figure);
      default -> true;
    };
  }

  private boolean is(long at, long field, long value) {
    return tape.getLong(at + field) == value;
  }

  private void closed(String way) {
    if (forgets.getAsBoolean()) {
      missed(way);
    }
  }

  private void missed(String way) {
    if (!unseen.contains(way)) {
      unseen.add(way);
    }
  }
}

package org.revenantdb.chaos.recording;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousFileChannel;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;

/**
 * Random work on files, the same for the same seed on every file system. Each step gives a line
 * with its result, which may be an exception.
 */
final class RandomFiles implements AutoCloseable {

  private static final List<String> NAMES = List.of("a", "b", "c", "d/a", "d/b", "d/e/a", "d", "e");

  private final Path directory;
  private final RandomGenerator random;
  private final List<FileChannel> open = new ArrayList<>();
  private final List<String> said = new ArrayList<>();

  RandomFiles(Path directory, long seed) {
    this.directory = directory;
    this.random = RandomGeneratorFactory.of("L64X128MixRandom").create(seed);
  }

  List<String> said() {
    return said;
  }

  void steps(int count) {
    for (int i = 0; i < count; i++) {
      String step = "";
      try {
        step = step();
      } catch (Exception e) {
        step = e.getClass().getSimpleName() + where(e);
      }
      said.add(i + ": " + step);
    }
  }

  /** The step that threw. */
  private static String where(Exception e) {
    for (StackTraceElement frame : e.getStackTrace()) {
      if (frame.getClassName().equals(RandomFiles.class.getName())) {
        return " in line " + frame.getLineNumber();
      }
    }
    return "";
  }

  private String step() throws Exception {
    return switch (open.size() < 3 && random.nextBoolean() ? 0 : random.nextInt(24)) {
      case 0, 1 -> open();
      case 2 -> closeOne();
      case 3, 4 -> "written " + any().write(bytes());
      case 5, 6 -> "written " + any().write(bytes(), random.nextInt(20_000));
      case 7 -> "gathered " + any().write(new ByteBuffer[] {bytes(), bytes(), bytes()});
      case 8 -> read(any());
      case 9 -> readAt(any());
      case 10 -> "size " + any().truncate(random.nextInt(20_000)).size();
      case 11 -> "position " + any().position(random.nextInt(20_000)).position();
      case 12 -> {
        any().force(random.nextBoolean());
        yield "forced";
      }
      case 13 -> transferTo(any());
      case 14 -> transferFrom(any());
      case 15 -> "created " + relative(Files.createDirectory(path()));
      case 16 -> {
        Path path = path();
        Files.delete(path);
        yield "deleted " + relative(path);
      }
      case 17 -> "moved to " + relative(Files.move(path(), path(), move()));
      case 18 -> "copied to " + relative(Files.copy(path(), path(), replace()));
      case 19 -> "linked " + relative(Files.createLink(path(), path()));
      case 20 -> list();
      case 21 -> {
        Path path = path();
        Files.write(path, bytes().array());
        yield "file " + relative(path) + " " + Files.size(path);
      }
      case 22 -> asynchronously();
      default -> stream();
    };
  }

  private String open() throws IOException {
    Set<OpenOption> options = new TreeSet<>();
    options.add(StandardOpenOption.WRITE);
    StandardOpenOption[] more = {
      StandardOpenOption.READ,
      StandardOpenOption.CREATE,
      StandardOpenOption.CREATE_NEW,
      StandardOpenOption.TRUNCATE_EXISTING,
      StandardOpenOption.APPEND,
      StandardOpenOption.DSYNC,
      StandardOpenOption.SYNC,
      StandardOpenOption.DELETE_ON_CLOSE
    };
    int[] oneIn = {2, 2, 8, 6, 4, 8, 8, 10};
    for (int i = 0; i < more.length; i++) {
      if (random.nextInt(oneIn[i]) == 0) {
        options.add(more[i]);
      }
    }
    Path path = path();
    open.add(FileChannel.open(path, options));
    return "opened " + relative(path) + " " + options;
  }

  private String closeOne() throws IOException {
    FileChannel channel = any();
    channel.close();
    open.remove(channel);
    return "closed";
  }

  private String read(FileChannel channel) throws IOException {
    ByteBuffer[] buffers = {ByteBuffer.allocate(100), ByteBuffer.allocateDirect(3000)};
    long n = channel.read(buffers);
    return "read " + n + " " + hash(buffers[0]) + " " + hash(buffers[1]);
  }

  private String readAt(FileChannel channel) throws IOException {
    ByteBuffer buffer = ByteBuffer.allocate(5000);
    int n = channel.read(buffer, random.nextInt(20_000));
    return "read " + n + " " + hash(buffer);
  }

  /** Into a file of its own: the result of copying a file onto itself is not specified. */
  private String transferTo(FileChannel channel) throws IOException {
    try (FileChannel sink =
        FileChannel.open(
            directory.resolve("sink"), StandardOpenOption.WRITE, StandardOpenOption.CREATE)) {
      sink.position(random.nextInt(100));
      long n = channel.transferTo(random.nextInt(9000), 9000, sink);
      return "transferred " + n + " to " + sink.position();
    }
  }

  private String transferFrom(FileChannel channel) throws IOException {
    try (FileChannel source = FileChannel.open(directory.resolve("source"))) {
      source.position(random.nextInt(100));
      long n = channel.transferFrom(source, random.nextInt(9000), 90_000);
      return "transferred " + n + " from " + source.position();
    }
  }

  private String list() throws IOException {
    Set<String> names = new TreeSet<>();
    try (DirectoryStream<Path> entries = Files.newDirectoryStream(directory, "[a-d]")) {
      entries.forEach(entry -> names.add(entry.getFileName().toString()));
    }
    try (var all = Files.walk(directory)) {
      all.forEach(
          path -> names.add(relative(path) + Files.isRegularFile(path, LinkOption.NOFOLLOW_LINKS)));
    }
    return names.toString();
  }

  private String asynchronously() throws Exception {
    Path path = path();
    try (AsynchronousFileChannel channel =
        AsynchronousFileChannel.open(
            path, StandardOpenOption.READ, StandardOpenOption.WRITE, StandardOpenOption.CREATE)) {
      int written = channel.write(bytes(), random.nextInt(5000)).get();
      ByteBuffer buffer = ByteBuffer.allocate(5000);
      channel.force(true);
      return written + " and " + channel.read(buffer, 100).get() + " " + hash(buffer);
    }
  }

  private String stream() throws IOException {
    Path path = path();
    try (OutputStream out =
        Files.newOutputStream(path, StandardOpenOption.CREATE, StandardOpenOption.APPEND)) {
      out.write("a line\n".getBytes(StandardCharsets.UTF_8));
    }
    try (var in = Files.newInputStream(path)) {
      return "stream " + in.readAllBytes().length;
    }
  }

  private FileChannel any() {
    if (open.isEmpty()) {
      throw new IllegalStateException("no channel");
    }
    return open.get(random.nextInt(open.size()));
  }

  private Path path() {
    return directory.resolve(NAMES.get(random.nextInt(NAMES.size())));
  }

  private String relative(Path path) {
    return directory.relativize(path).toString();
  }

  private ByteBuffer bytes() {
    byte[] bytes = new byte[random.nextInt(6000)];
    random.nextBytes(bytes);
    return ByteBuffer.wrap(bytes);
  }

  private StandardCopyOption[] move() {
    EnumSet<StandardCopyOption> options = EnumSet.noneOf(StandardCopyOption.class);
    if (random.nextBoolean()) {
      options.add(StandardCopyOption.REPLACE_EXISTING);
    }
    if (random.nextBoolean()) {
      options.add(StandardCopyOption.ATOMIC_MOVE);
    }
    return options.toArray(StandardCopyOption[]::new);
  }

  private StandardCopyOption[] replace() {
    return random.nextBoolean()
        ? new StandardCopyOption[] {StandardCopyOption.REPLACE_EXISTING}
        : new StandardCopyOption[0];
  }

  private static String hash(ByteBuffer buffer) {
    return buffer.position() + "/" + buffer.flip().hashCode();
  }

  @Override
  public void close() throws IOException {
    for (FileChannel channel : open) {
      channel.close();
    }
  }

  /** Puts something into a directory. */
  static void prepare(Path directory) throws IOException {
    Files.createDirectories(directory.resolve("d/e"));
    Files.write(directory.resolve("a"), new byte[5000]);
    Files.writeString(directory.resolve("d/b"), "what was there");
    Files.writeString(directory.resolve("source"), "from the source ".repeat(5000));
  }
}

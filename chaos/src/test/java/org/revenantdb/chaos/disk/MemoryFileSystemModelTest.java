package org.revenantdb.chaos.disk;

import static java.nio.file.StandardCopyOption.ATOMIC_MOVE;
import static java.nio.file.StandardCopyOption.COPY_ATTRIBUTES;
import static java.nio.file.StandardCopyOption.REPLACE_EXISTING;
import static java.nio.file.StandardOpenOption.APPEND;
import static java.nio.file.StandardOpenOption.CREATE;
import static java.nio.file.StandardOpenOption.CREATE_NEW;
import static java.nio.file.StandardOpenOption.DELETE_ON_CLOSE;
import static java.nio.file.StandardOpenOption.READ;
import static java.nio.file.StandardOpenOption.TRUNCATE_EXISTING;
import static java.nio.file.StandardOpenOption.WRITE;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.CopyOption;
import java.nio.file.Files;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The same random operations on the default file system and on one in memory: same results, same
 * classes of exceptions, same files in the end.
 */
class MemoryFileSystemModelTest {

  private static final int SEQUENCES = 12;
  private static final int STEPS = 1000;
  private static final int CHANNELS = 4;
  private static final List<String> NAMES =
      List.of(
          "a", "b", "d", "d/a", "d/b", "d/e", "d/e/a", "b/a", "d/../a", "./b", "a/../b", "d/.",
          "d/..");
  private static final List<StandardOpenOption> OPTIONS =
      List.of(READ, WRITE, APPEND, CREATE, CREATE_NEW, TRUNCATE_EXISTING, DELETE_ON_CLOSE);

  /** One of the two, with the files that it holds open. */
  private static final class World {
    final Path root;
    final FileChannel[] channels = new FileChannel[CHANNELS];
    final FileLock[] locks = new FileLock[CHANNELS];

    /** The open file, if it is a file whose name still exists; otherwise null. */
    final @Nullable Object[] files = new Object[CHANNELS];

    World(Path root) {
      this.root = root;
    }

    Path path(String name) {
      return root.resolve(name);
    }

    FileChannel channel(int which) throws IOException {
      if (channels[which] == null) {
        throw new IOException("not open");
      }
      return channels[which];
    }

    /**
     * Overlapping ranges of one file may be copied forwards or backwards. How often a path is
     * checked before it counts as no directory depends on a size that is not specified.
     */
    void checkTransfer(int one, int two) {
      if (files[one] == null || files[two] == null || files[one].equals(files[two])) {
        throw new IllegalArgumentException("not compared");
      }
    }

    void close() throws IOException {
      for (FileChannel channel : channels) {
        if (channel != null) {
          channel.close();
        }
      }
    }
  }

  /** An operation for both. */
  private interface Step {
    Object on(World world) throws IOException;
  }

  private record Named(String name, Step step) {}

  @Test
  void memory_answers_as_the_default_file_system_does(@TempDir Path directory) throws IOException {
    long seed = Long.getLong("revenant.disk.seed", System.nanoTime());
    System.out.println("MemoryFileSystemModelTest: -Drevenant.disk.seed=" + seed);
    for (int sequence = 0; sequence < SEQUENCES; sequence++) {
      Random random = new Random(seed + sequence);
      World real = new World(Files.createDirectory(directory.resolve("s" + sequence)));
      try (MemoryFileSystem memory = MemoryFileSystem.of(new DiskImage())) {
        World model = new World(memory.root());
        for (int i = 0; i < STEPS; i++) {
          Named step = step(random);
          String where = "seed " + seed + ", sequence " + sequence + ", " + i + ": " + step.name();
          assertEquals(outcome(step.step(), real), outcome(step.step(), model), where);
        }
        String where = "seed " + seed + ", sequence " + sequence;
        assertEquals(tree(real), tree(model), where);
        for (int i = 0; i < CHANNELS; i++) {
          Step read = readAll(i);
          assertEquals(outcome(read, real), outcome(read, model), where);
        }
        real.close();
        model.close();
        assertEquals(DiskImage.of(real.root).hash(), memory.image().hash(), where);
        assertOnlyNamedNodes(memory.image());
      }
    }
  }

  /** No node without a name stays in an image once nothing is open. */
  private static void assertOnlyNamedNodes(DiskImage image) {
    Set<Integer> there = new TreeSet<>();
    for (int node = 1; node < image.nextNode(); node++) {
      if (image.exists(node)) {
        there.add(node);
      }
    }
    assertEquals(new TreeSet<>(image.paths().values()), there);
  }

  private static String outcome(Step step, World world) {
    try {
      return String.valueOf(step.on(world));
    } catch (IOException | RuntimeException e) {
      return e.getClass().getName();
    }
  }

  private static TreeMap<String, String> tree(World world) throws IOException {
    TreeMap<String, String> result = new TreeMap<>();
    try (Stream<Path> walk = Files.walk(world.root)) {
      for (Path path : walk.toList()) {
        result.put(
            world.root.relativize(path).toString(),
            Files.isDirectory(path)
                ? "directory"
                : Files.size(path) + " " + Arrays.hashCode(Files.readAllBytes(path)));
      }
    }
    return result;
  }

  private static Step readAll(int channel) {
    return world -> {
      ByteBuffer buffer = ByteBuffer.allocate(1 << 16);
      int n = world.channel(channel).read(buffer, 0);
      return n + " " + Arrays.hashCode(buffer.array());
    };
  }

  private static Named step(Random random) {
    String name = NAMES.get(random.nextInt(NAMES.size()));
    String other = NAMES.get(random.nextInt(NAMES.size()));
    int which = random.nextInt(CHANNELS);
    int second = random.nextInt(CHANNELS);
    long at = random.nextInt(3) * 4096L + random.nextInt(30) - 3;
    int length = random.nextInt(4) * 2000 + random.nextInt(50);
    byte[] data = new byte[length];
    Arrays.fill(data, (byte) random.nextInt(4));
    return switch (random.nextInt(27)) {
      case 0, 1 -> open(which, name, options(random));
      case 2 ->
          new Named(
              "close " + which,
              world -> {
                world.files[which] = null;
                world.channel(which).close();
                return "closed";
              });
      case 3, 4 ->
          new Named(
              "write " + which + " " + at + "+" + length,
              world -> world.channel(which).write(ByteBuffer.wrap(data), at));
      case 5 ->
          new Named(
              "write " + which + " " + length,
              world -> world.channel(which).write(ByteBuffer.wrap(data)));
      case 6 ->
          new Named(
              "write vector " + which + " 5," + length,
              world ->
                  world
                      .channel(which)
                      .write(new ByteBuffer[] {ByteBuffer.allocate(5), ByteBuffer.wrap(data)}));
      case 7 ->
          new Named(
              "read " + which + " " + at + "+" + length, world -> read(world, which, at, data));
      case 8 -> new Named("read " + which + " " + length, world -> read(world, which, -1, data));
      case 9 ->
          new Named(
              "truncate " + which + " " + at, world -> state(world.channel(which).truncate(at)));
      case 10 ->
          new Named(
              "position " + which + " " + at,
              world -> world.channel(which).position(at).position());
      case 11 ->
          new Named(
              "transferTo " + which + " " + at + "+" + length + " " + second,
              world -> {
                world.checkTransfer(which, second);
                return world.channel(which).transferTo(at, length, world.channel(second));
              });
      case 12 ->
          new Named(
              "transferFrom " + which + " " + at + "+" + length + " " + second,
              world -> {
                world.checkTransfer(which, second);
                return world.channel(which).transferFrom(world.channel(second), at, length);
              });
      case 13 ->
          new Named(
              "lock " + which + " " + at + "+" + length,
              world -> {
                world.locks[which] = world.channel(which).tryLock(at, length, second == 0);
                return world.locks[which].size() + " " + world.locks[which].isShared();
              });
      case 14 ->
          new Named(
              "unlock " + which,
              world -> {
                world.locks[which].release();
                return world.locks[which].isValid();
              });
      case 15 ->
          new Named(
              "delete " + name,
              world -> {
                Files.delete(world.path(name));
                return "deleted";
              });
      case 16 ->
          new Named("deleteIfExists " + name, world -> Files.deleteIfExists(world.path(name)));
      case 17, 18 -> move(random, name, other);
      case 19 -> copy(random, name, other);
      case 20 -> made("createDirectory " + name, name, path -> Files.createDirectory(path));
      case 21 -> made("createDirectories " + name, name, path -> Files.createDirectories(path));
      case 22 ->
          made(
              "link " + name + " " + other,
              name,
              path -> Files.createLink(path, relative(path, name, other)));
      case 23 -> new Named("list " + name, world -> list(world, world.path(name)));
      case 24 ->
          new Named("questions " + name + " " + other, world -> questions(world, name, other));
      case 25 -> made("file " + name + " " + length, name, path -> Files.write(path, data));
      default ->
          new Named(
              "all of " + name, world -> Arrays.hashCode(Files.readAllBytes(world.path(name))));
    };
  }

  private interface Made {
    Path of(Path path) throws IOException;
  }

  private static Named made(String what, String name, Made made) {
    return new Named(
        what,
        world -> {
          made.of(world.path(name));
          return "done";
        });
  }

  /** The path from one file to another whose root is not known. */
  private static Path relative(Path path, String name, String other) {
    Path root = path;
    for (int i = 0; i < path.getFileSystem().getPath(name).getNameCount(); i++) {
      root = root.getParent();
    }
    return root.resolve(other);
  }

  private static Set<OpenOption> options(Random random) {
    Set<OpenOption> options = new HashSet<>();
    for (StandardOpenOption option : OPTIONS) {
      if (random.nextInt(option == DELETE_ON_CLOSE ? 10 : 3) == 0) {
        options.add(option);
      }
    }
    return options;
  }

  private static Named open(int which, String name, Set<OpenOption> options) {
    if (name.endsWith("/.")) {
      // The default one reports that it exists already without looking at the directory.
      options.remove(CREATE_NEW);
    }
    return new Named(
        "open " + which + " " + name + " " + options,
        world -> {
          world.files[which] = null;
          if (world.channels[which] != null) {
            world.channels[which].close();
            world.channels[which] = null;
          }
          world.channels[which] = FileChannel.open(world.path(name), options);
          world.files[which] = keyOfFile(world.path(name));
          return world.channels[which].position();
        });
  }

  private static @Nullable Object keyOfFile(Path path) throws IOException {
    return Files.isRegularFile(path)
        ? Files.readAttributes(path, BasicFileAttributes.class).fileKey()
        : null;
  }

  private static String read(World world, int which, long at, byte[] room) throws IOException {
    FileChannel channel = world.channel(which);
    ByteBuffer buffer = ByteBuffer.allocate(room.length);
    int n = at == -1 ? channel.read(buffer) : channel.read(buffer, at);
    return n + " " + Arrays.hashCode(buffer.array());
  }

  private static String state(FileChannel channel) throws IOException {
    return channel.position() + " of " + channel.size();
  }

  private static Named move(Random random, String from, String to) {
    CopyOption[] options =
        switch (random.nextInt(3)) {
          case 0 -> new CopyOption[] {ATOMIC_MOVE};
          case 1 -> new CopyOption[] {REPLACE_EXISTING};
          default -> new CopyOption[0];
        };
    return new Named(
        "move " + from + " " + to + " " + Arrays.toString(options),
        world -> world.root.relativize(Files.move(world.path(from), world.path(to), options)));
  }

  private static Named copy(Random random, String from, String to) {
    CopyOption[] options =
        switch (random.nextInt(3)) {
          case 0 -> new CopyOption[] {REPLACE_EXISTING, COPY_ATTRIBUTES};
          case 1 -> new CopyOption[] {REPLACE_EXISTING};
          default -> new CopyOption[0];
        };
    return new Named(
        "copy " + from + " " + to + " " + Arrays.toString(options),
        world -> world.root.relativize(Files.copy(world.path(from), world.path(to), options)));
  }

  private static Set<String> list(World world, Path path) throws IOException {
    Set<String> names = new TreeSet<>();
    try (Stream<Path> list = Files.list(path)) {
      list.forEach(entry -> names.add(world.root.relativize(entry).toString()));
    }
    return names;
  }

  private static String questions(World world, String name, String other) throws IOException {
    Path path = world.path(name);
    StringBuilder answers = new StringBuilder();
    answers.append(Files.exists(path)).append(Files.notExists(path));
    answers.append(Files.isDirectory(path)).append(Files.isRegularFile(path));
    answers.append(Files.isReadable(path)).append(Files.isWritable(path));
    BasicFileAttributes attributes = Files.readAttributes(path, BasicFileAttributes.class);
    answers.append(attributes.isDirectory() ? "directory" : attributes.size());
    answers.append(Files.isSameFile(path, world.path(other)));
    answers.append(world.root.toRealPath().relativize(path.toRealPath()));
    return answers.toString();
  }
}

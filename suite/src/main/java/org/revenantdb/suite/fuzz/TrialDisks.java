package org.revenantdb.suite.fuzz;

import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.revenantdb.chaos.crash.FileTrees;
import org.revenantdb.chaos.disk.DiskImage;
import org.revenantdb.chaos.disk.MemoryFileSystem;

/** The places of a trial's files: in memory, or on a real disk for special kinds of files. */
final class TrialDisks {

  /** The files that any open may write, refused or not (format.md). */
  private static final List<String> ANY_OPEN_WRITES = List.of("revenant.lock", "revenant.counters");

  private static final long ROOM = 64L << 20;

  private TrialDisks() {}

  private static boolean counts(String path) {
    return ANY_OPEN_WRITES.stream().noneMatch(path::endsWith);
  }

  /** Files in memory. */
  record InMemory(MemoryFileSystem files) implements Trial.Disk, AutoCloseable {

    static InMemory of(DiskImage image) {
      MemoryFileSystem files = MemoryFileSystem.of(image);
      long size = 0;
      for (int node : image.nodes()) {
        size += image.isDirectory(node) ? 0 : image.file(node).size();
      }
      files.limitGrowth(3 * size + ROOM);
      return new InMemory(files);
    }

    @Override
    public Path directory() {
      return files.root().resolve(Place.DIRECTORY);
    }

    @Override
    public Map<String, Long> marks() {
      DiskImage image = files.image();
      Map<String, Long> marks = new TreeMap<>();
      image
          .paths()
          .forEach((path, node) -> {
            if (counts(path)) {
              marks.put(path, image.isDirectory(node) ? -1L : image.file(node).hash());
            }
          });
      return marks;
    }

    @Override
    public boolean hasOutgrown() {
      return files.hasOutgrown();
    }

    @Override
    public void close() {
      files.close();
    }
  }

  /** Files in a directory of the default file system. */
  record OnDisk(Path root, long size) implements Trial.Disk, AutoCloseable {

    static OnDisk of(DamagedDisk damaged, Path root) throws IOException {
      FileTrees.delete(root);
      Files.createDirectories(root);
      damaged.image().writeTo(root);
      Path directory = root.resolve(Place.DIRECTORY);
      for (DamagedDisk.Special special : damaged.specials()) {
        make(special.kind(), directory.resolve(special.path()));
      }
      return new OnDisk(root, sizeOf(directory));
    }

    private static void make(String kind, Path path) throws IOException {
      if (Files.exists(path, LinkOption.NOFOLLOW_LINKS)) {
        return;
      }
      switch (kind) {
        case "fifo" -> makeFifo(path);
        case "socket" -> {
          try (ServerSocketChannel socket = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            socket.bind(UnixDomainSocketAddress.of(path));
          }
        }
        case "self" -> Files.createSymbolicLink(path, path.getFileName());
        case "dangling" -> Files.createSymbolicLink(path, Path.of("nowhere"));
        case "zero" -> Files.createSymbolicLink(path, Path.of("/dev/zero"));
        case "null" -> Files.createSymbolicLink(path, Path.of("/dev/null"));
        case "link" -> Files.createSymbolicLink(path, Path.of("revenant.data"));
        default -> throw new IllegalArgumentException("no kind of file is called " + kind);
      }
    }

    private static void makeFifo(Path path) throws IOException {
      try {
        new ProcessBuilder("mkfifo", path.toString()).start().waitFor();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }

    @Override
    public Path directory() {
      return root.resolve(Place.DIRECTORY);
    }

    @Override
    public Map<String, Long> marks() {
      Map<String, Long> marks = new TreeMap<>();
      try (Stream<Path> files = Files.walk(root)) {
        for (Path file : files.toList()) {
          String path = root.relativize(file).toString();
          if (counts(path)) {
            marks.put(path, mark(file));
          }
        }
      } catch (IOException e) {
        throw new java.io.UncheckedIOException(e);
      }
      return marks;
    }

    private static long mark(Path file) throws IOException {
      if (Files.isSymbolicLink(file)) {
        return Files.readSymbolicLink(file).hashCode();
      }
      return Files.isRegularFile(file) ? State.mark(Files.readAllBytes(file)) : -1;
    }

    @Override
    public boolean hasOutgrown() {
      try {
        return sizeOf(directory()) > 4 * size + ROOM;
      } catch (IOException e) {
        throw new java.io.UncheckedIOException(e);
      }
    }

    private static long sizeOf(Path directory) throws IOException {
      try (Stream<Path> files = Files.walk(directory)) {
        long sum = 0;
        for (Path file : files.toList()) {
          sum += Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS) ? Files.size(file) : 0;
        }
        return sum;
      }
    }

    @Override
    public void close() {
      FileTrees.delete(root);
    }
  }
}

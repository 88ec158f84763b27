package org.revenantdb.chaos.disk;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The content of a disk: files and directories by node number, and the names that lead to them.
 *
 * <p>A fork shares all content with the original until either side writes it. A directory is
 * created before an entry is made in it, and contains the names of its entries. A file may have
 * several names or none.
 *
 * <p>Threads: one at a time, but forks of one another may be used by different threads.
 */
public final class DiskImage {

  /** The node of the root directory of the image. */
  public static final int ROOT = 0;

  private static final int PART = 1 << 16;
  private static final byte[] ZEROS = new byte[PART];

  private final Map<Integer, FileContent> files = new HashMap<>();
  private final Map<Integer, TreeMap<String, Integer>> directories = new HashMap<>();

  /** Creates an image of an empty directory. */
  public DiskImage() {
    directories.put(ROOT, new TreeMap<>());
  }

  /**
   * Copies a directory of any file system with everything below it. Nodes are numbered from 1.
   *
   * @param directory what to copy
   * @return the image
   * @throws IOException if something cannot be read
   */
  public static DiskImage of(Path directory) throws IOException {
    DiskImage image = new DiskImage();
    image.copyIn(ROOT, directory);
    return image;
  }

  private void copyIn(int node, Path directory) throws IOException {
    List<Path> entries;
    try (Stream<Path> list = Files.list(directory)) {
      entries = list.sorted().toList();
    }
    for (Path entry : entries) {
      int child = nextNode();
      boolean isDirectory = Files.isDirectory(entry);
      create(child, isDirectory);
      link(node, String.valueOf(entry.getFileName()), child);
      if (isDirectory) {
        copyIn(child, entry);
      } else {
        readInto(file(child), entry);
      }
    }
  }

  private static void readInto(FileContent content, Path file) throws IOException {
    try (InputStream in = Files.newInputStream(file)) {
      byte[] buffer = new byte[1 << 16];
      long at = 0;
      for (int n; (n = in.read(buffer)) >= 0; at += n) {
        content.write(at, ByteBuffer.wrap(buffer, 0, n));
      }
    }
  }

  /**
   * Writes everything below the root into a directory of any file system.
   *
   * @param directory exists and is empty
   * @throws IOException if something cannot be written
   */
  public void writeTo(Path directory) throws IOException {
    copyOut(ROOT, directory);
  }

  private void copyOut(int node, Path directory) throws IOException {
    for (Map.Entry<String, Integer> entry : entries(node).entrySet()) {
      Path target = directory.resolve(entry.getKey());
      if (isDirectory(entry.getValue())) {
        Files.createDirectory(target);
        copyOut(entry.getValue(), target);
      } else {
        copyOut(file(entry.getValue()), target);
      }
    }
  }

  /** Zeros become holes, because a store may create large files and fill them slowly. */
  private static void copyOut(FileContent content, Path target) throws IOException {
    try (SeekableByteChannel out =
        Files.newByteChannel(target, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
      for (long at = 0; at < content.size(); at += PART) {
        byte[] part = content.bytes(at, (int) Math.min(PART, content.size() - at));
        boolean last = at + part.length == content.size();
        int from = Arrays.equals(part, 0, part.length, ZEROS, 0, part.length) ? part.length : 0;
        // The last byte gives the file its size.
        ByteBuffer bytes = ByteBuffer.wrap(part);
        bytes.position(last ? Math.min(from, part.length - 1) : from);
        out.position(at + bytes.position());
        while (bytes.hasRemaining()) {
          out.write(bytes);
        }
      }
    }
  }

  /**
   * Copies the image. This is cheap, because content is shared until one side writes it.
   *
   * @return an equal, independent image
   */
  public DiskImage fork() {
    DiskImage copy = new DiskImage();
    directories.forEach((node, entries) -> copy.directories.put(node, new TreeMap<>(entries)));
    files.forEach((node, content) -> copy.files.put(node, content.copy()));
    return copy;
  }

  /**
   * Returns a number for a new node.
   *
   * @return greater than that of every existing node
   */
  public int nextNode() {
    int last = ROOT;
    for (int node : files.keySet()) {
      last = Math.max(last, node);
    }
    for (int node : directories.keySet()) {
      last = Math.max(last, node);
    }
    return last + 1;
  }

  /**
   * Returns every file and directory, whether a name leads to it or not.
   *
   * @return their numbers in a new list
   */
  public List<Integer> nodes() {
    return Stream.concat(files.keySet().stream(), directories.keySet().stream()).toList();
  }

  /**
   * Creates a node without a name.
   *
   * @param node a number that is not in use
   * @param directory whether it is a directory
   */
  public void create(int node, boolean directory) {
    if (exists(node)) {
      throw new IllegalArgumentException("node " + node + " is there already");
    }
    if (directory) {
      directories.put(node, new TreeMap<>());
    } else {
      files.put(node, new FileContent());
    }
  }

  /**
   * Removes a node. The caller has removed its names.
   *
   * @param node the node
   */
  public void remove(int node) {
    files.remove(node);
    directories.remove(node);
  }

  /**
   * Returns whether a node exists.
   *
   * @param node the node
   * @return true if it exists
   */
  public boolean exists(int node) {
    return files.containsKey(node) || directories.containsKey(node);
  }

  /**
   * Returns whether a node is a directory.
   *
   * @param node the node
   * @return true if it is
   */
  public boolean isDirectory(int node) {
    return directories.containsKey(node);
  }

  /**
   * Returns the content of a file, to read and to write.
   *
   * @param node the file
   * @return its content
   */
  public FileContent file(int node) {
    FileContent content = files.get(node);
    if (content == null) {
      throw new IllegalArgumentException("node " + node + " is not a file");
    }
    return content;
  }

  /**
   * Replaces the content of a file.
   *
   * @param node the file
   * @param content the new content; belongs to the image from now on
   */
  public void replace(int node, FileContent content) {
    if (files.replace(node, content) == null) {
      throw new IllegalArgumentException("node " + node + " is not a file");
    }
  }

  /**
   * Returns the entries of a directory, in the order of their names.
   *
   * @param node the directory
   * @return a view: name to node
   */
  public SortedMap<String, Integer> entries(int node) {
    return Collections.unmodifiableSortedMap(directory(node));
  }

  /**
   * Adds an entry, replacing one with the same name.
   *
   * @param directory the directory
   * @param name the entry
   * @param node the node that the name leads to
   */
  public void link(int directory, String name, int node) {
    directory(directory).put(name, node);
  }

  /**
   * Removes an entry. The node stays.
   *
   * @param directory the directory
   * @param name the entry
   */
  public void unlink(int directory, String name) {
    directory(directory).remove(name);
  }

  /**
   * Looks up an entry.
   *
   * @param directory the directory
   * @param name the entry
   * @return the node, or null if there is no such entry
   */
  public @Nullable Integer lookup(int directory, String name) {
    return directory(directory).get(name);
  }

  /**
   * Returns every file and directory that a name leads to, by its path from the root, with {@code
   * /} between names. A file with two names occurs twice.
   *
   * @return path to node, the root itself not included
   */
  public SortedMap<String, Integer> paths() {
    SortedMap<String, Integer> result = new TreeMap<>();
    collect(ROOT, "", result);
    return result;
  }

  private void collect(int node, String prefix, SortedMap<String, Integer> result) {
    for (Map.Entry<String, Integer> entry : entries(node).entrySet()) {
      String path = prefix + entry.getKey();
      result.put(path, entry.getValue());
      if (isDirectory(entry.getValue())) {
        collect(entry.getValue(), path + "/", result);
      }
    }
  }

  /**
   * Returns a hash: equal for equal trees, and different for others except by chance. Nodes without
   * a name and node numbers do not count.
   *
   * @return a 64-bit hash of all paths, sizes and bytes
   */
  public long hash() {
    long sum = 1;
    for (Map.Entry<String, Integer> entry : paths().entrySet()) {
      long content = isDirectory(entry.getValue()) ? -1 : file(entry.getValue()).hash();
      sum += Hash.mix(Hash.of(entry.getKey()) ^ Hash.mix(content));
    }
    return sum;
  }

  private SortedMap<String, Integer> directory(int node) {
    SortedMap<String, Integer> entries = directories.get(node);
    if (entries == null) {
      throw new IllegalArgumentException("node " + node + " is not a directory");
    }
    return entries;
  }
}

package org.revenantdb.chaos.disk;

import java.io.Closeable;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.ClosedFileSystemException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermission;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The tree of names over an image: creates, links, deletes, renames and opens.
 *
 * <p>Threads: any. Every method is atomic. It throws the same exceptions as the default file system
 * of Linux.
 */
final class NameSpace {
  /*
   * All structure of the image is read under the read lock and changed under the write lock. Bytes
   * are not guarded by it: an open file has its Node, whose own lock is taken after this one if
   * both are needed.
   *
   * A Node is made on first use and stays until the image loses the node. The number of names of a
   * file is counted once, when a name is first removed, and kept up to date afterwards.
   */

  private final DiskImage image;
  private final ReentrantReadWriteLock lock = new ReentrantReadWriteLock();
  private final Map<Integer, Node> nodes = new ConcurrentHashMap<>();
  private final Set<Closeable> opened = ConcurrentHashMap.newKeySet();
  private final AtomicLong lastTick = new AtomicLong();
  private final FileTime start = tick();
  private final AtomicLong room = new AtomicLong(Long.MAX_VALUE);
  private volatile boolean outgrown;

  // All under the lock: whether the file system is open, the next new node (0: not yet computed),
  // and the number of names of each file (null: not yet counted).
  private volatile boolean open = true;
  private int nextNode;
  private @Nullable Map<Integer, Integer> links;

  NameSpace(DiskImage image) {
    this.image = image;
  }

  DiskImage image() {
    return image;
  }

  boolean isOpen() {
    return open;
  }

  /** The image at one moment: no name and no file changes meanwhile. */
  DiskImage snapshot() {
    try (Held _ = writing()) {
      List<Node> all = List.copyOf(nodes.values());
      all.forEach(node -> node.lock.writeLock().lock());
      try {
        return image.fork();
      } finally {
        all.forEach(node -> node.lock.writeLock().unlock());
      }
    }
  }

  void limitGrowth(long bytes) {
    room.set(bytes);
    outgrown = false;
  }

  boolean hasOutgrown() {
    return outgrown;
  }

  /** Reserves space for a file that grows. */
  void grow(long bytes) throws IOException {
    if (room.getAndUpdate(left -> left < bytes ? left : left - bytes) < bytes) {
      outgrown = true;
      throw new IOException("No space left on device");
    }
  }

  /** Closes all open files. After it has returned nothing changes the image. */
  void close() {
    lock.writeLock().lock();
    try {
      open = false;
    } finally {
      lock.writeLock().unlock();
    }
    for (Closeable each : opened) {
      try {
        each.close();
      } catch (IOException e) {
        throw new UncheckedIOException("nothing here fails to close", e);
      }
    }
  }

  /** Removes a closed object from the list of open ones. */
  void forget(Closeable closed) {
    opened.remove(closed);
  }

  /**
   * The time for an operation: the system's time, but later than every time before, so that files
   * can be ordered by their times.
   */
  FileTime tick() {
    long now = System.currentTimeMillis() * 1_000_000;
    return FileTime.from(
        lastTick.updateAndGet(last -> Math.max(last + 1000, now)), TimeUnit.NANOSECONDS);
  }

  // ---- looking up paths ----

  /**
   * The end of a path.
   *
   * @param trail nodes from the root to the node found, or to the directory in which nothing was
   *     found
   * @param depth the index of the last one in {@code trail}
   * @param name the last name if it is an entry of its own, else empty (the root, {@code .}, {@code
   *     ..})
   * @param found the kind of object there
   */
  private record Place(int[] trail, int depth, String name, Found found) {

    boolean exists() {
      return found == Found.NODE;
    }

    /** The node found. */
    int node() {
      return trail[depth];
    }

    /** The directory that has the entry, or would have it. */
    int parent() {
      return exists() ? trail[depth - 1] : trail[depth];
    }

    boolean isBelow(int node) {
      for (int i = 0; i <= depth; i++) {
        if (trail[i] == node) {
          return true;
        }
      }
      return false;
    }
  }

  /** What is at the end of a path. */
  private enum Found {
    /** A file or directory. */
    NODE,
    /** Nothing, but its directory exists. */
    NOTHING,
    /** Nothing, and its directory does not exist. */
    NO_PARENT,
    /** A file where a directory is needed. */
    FILE_ON_THE_WAY
  }

  private Place walk(MemoryPath path) {
    String[] steps = path.names();
    int[] trail = new int[steps.length + 1];
    trail[0] = DiskImage.ROOT;
    int depth = 0;
    String name = "";
    for (int i = 0; i < steps.length; i++) {
      String step = steps[i];
      if (!image.isDirectory(trail[depth])) {
        return new Place(trail, depth, "", Found.FILE_ON_THE_WAY);
      }
      name = "";
      if (step.equals("..")) {
        depth = Math.max(0, depth - 1);
      } else if (!step.isEmpty() && !step.equals(".")) {
        name = step;
        Integer child = image.lookup(trail[depth], step);
        if (child == null) {
          boolean last = i == steps.length - 1;
          return new Place(trail, depth, step, last ? Found.NOTHING : Found.NO_PARENT);
        }
        depth++;
        trail[depth] = child;
      }
    }
    return new Place(trail, depth, name, Found.NODE);
  }

  private Place existing(MemoryPath path) throws FileSystemException {
    Place place = walk(path);
    if (!place.exists()) {
      throw notFound(place, path, null);
    }
    return place;
  }

  private static FileSystemException notFound(
      Place place, MemoryPath path, @Nullable MemoryPath other) {
    return place.found() == Found.FILE_ON_THE_WAY
        ? FileErrors.notADirectory(path, other)
        : new NoSuchFileException(
            path.toString(), other == null ? null : other.toString(), /* reason= */ null);
  }

  private Node node(int number) {
    Node known = nodes.get(number);
    return known != null
        ? known
        : nodes.computeIfAbsent(
            number,
            n ->
                image.isDirectory(n)
                    ? new Node(n, null, start, Permissions.DIRECTORY)
                    : new Node(n, image.file(n), start, Permissions.FILE));
  }

  /** The node that a path leads to, or null if there is none, for whatever reason. */
  @Nullable Node find(MemoryPath path) {
    try (Held _ = reading()) {
      Place place = walk(path);
      return place.exists() ? node(place.node()) : null;
    }
  }

  Node get(MemoryPath path) throws FileSystemException {
    try (Held _ = reading()) {
      return node(existing(path).node());
    }
  }

  /** The names in a directory, in order. */
  List<String> list(MemoryPath path) throws FileSystemException {
    try (Held _ = reading()) {
      Place place = walk(path);
      if (place.found() == Found.FILE_ON_THE_WAY
          || (place.exists() && !image.isDirectory(place.node()))) {
        throw new NotDirectoryException(path.toString());
      }
      if (!place.exists()) {
        throw notFound(place, path, null);
      }
      return List.copyOf(image.entries(place.node()).keySet());
    }
  }

  // ---- files ----

  /**
   * Opens a file, after creating or emptying it if the mode says so.
   *
   * @param channel creates the object to return, which is closed with the file system
   */
  <C extends Closeable> C open(
      MemoryPath path,
      OpenMode mode,
      Set<PosixFilePermission> permissions,
      Function<OpenFile, C> channel)
      throws FileSystemException {
    if (!mode.createNew() && !mode.deleteOnClose()) {
      try (Held _ = reading()) {
        Place place = walk(path);
        if (place.exists()) {
          return opened(node(place.node()), path, mode, channel);
        }
        if (!mode.create()) {
          throw notFound(place, path, null);
        }
      }
    }
    try (Held _ = writing()) {
      Place place = walk(path);
      if (place.exists() && mode.createNew()) {
        throw new FileAlreadyExistsException(path.toString());
      }
      if (!place.exists()) {
        if (place.found() != Found.NOTHING || (!mode.create() && !mode.createNew())) {
          throw notFound(place, path, null);
        }
        createIn(place, /* directory= */ false, permissions);
        place = walk(path);
      }
      Node node = node(place.node());
      C result = opened(node, path, mode, channel);
      if (mode.deleteOnClose() && !node.isDirectory()) {
        unlink(place);
      }
      return result;
    }
  }

  private <C extends Closeable> C opened(
      Node node, MemoryPath path, OpenMode mode, Function<OpenFile, C> channel)
      throws FileSystemException {
    if (mode.write() && node.isDirectory()) {
      throw FileErrors.isADirectory(path, null);
    }
    node.handles.incrementAndGet();
    OpenFile file = new OpenFile(this, node, mode);
    if (mode.truncate()) {
      empty(node);
    }
    C result = channel.apply(file);
    opened.add(result);
    return result;
  }

  private void empty(Node node) {
    node.lock.writeLock().lock();
    try {
      long end = node.content().size();
      node.content().setSize(0);
      node.changed(0, end);
      node.modified = tick();
    } finally {
      node.lock.writeLock().unlock();
    }
  }

  /** Registers an object that is not a file until it is closed or the file system is. */
  void keep(Closeable other) {
    try (Held _ = reading()) {
      opened.add(other);
    }
  }

  /** Closes a handle. */
  void release(Node node) {
    if (node.handles.decrementAndGet() == 0 && node.nameless) {
      // Without writing(): the handle may be closed because the file system was closed.
      lock.writeLock().lock();
      try {
        if (node.handles.get() == 0) {
          drop(node.number);
        }
      } finally {
        lock.writeLock().unlock();
      }
    }
  }

  // ---- names ----

  void createDirectory(MemoryPath path, Set<PosixFilePermission> permissions)
      throws FileSystemException {
    try (Held _ = writing()) {
      Place place = walk(path);
      if (place.exists()) {
        throw new FileAlreadyExistsException(path.toString());
      }
      if (place.found() != Found.NOTHING) {
        throw notFound(place, path, null);
      }
      createIn(place, /* directory= */ true, permissions);
    }
  }

  void createLink(MemoryPath path, MemoryPath file) throws FileSystemException {
    try (Held _ = writing()) {
      Place source = walk(file);
      if (!source.exists()) {
        throw notFound(source, path, file);
      }
      Place target = walk(path);
      if (target.exists()) {
        throw new FileAlreadyExistsException(path.toString(), file.toString(), null);
      }
      if (target.found() != Found.NOTHING) {
        throw notFound(target, path, file);
      }
      if (image.isDirectory(source.node())) {
        throw FileErrors.notPermitted(path, file);
      }
      enter(target, source.node());
    }
  }

  /**
   * Deletes a file or an empty directory.
   *
   * @return false if there is nothing with that name
   */
  boolean delete(MemoryPath path) throws FileSystemException {
    try (Held _ = writing()) {
      Place place = walk(path);
      if (place.found() == Found.FILE_ON_THE_WAY) {
        throw FileErrors.notADirectory(path, null);
      }
      if (place.exists()) {
        checkDeletable(place, path);
        unlink(place);
      }
      return place.exists();
    }
  }

  private void checkDeletable(Place place, MemoryPath path) throws FileSystemException {
    boolean full = image.isDirectory(place.node()) && !image.entries(place.node()).isEmpty();
    if (place.name().isEmpty() && !path.endsWith("..")) {
      throw FileErrors.busy(path, null);
    }
    if (full || path.endsWith("..")) {
      throw new DirectoryNotEmptyException(path.toString());
    }
  }

  /** An atomic rename: a file with the new name is replaced at the same instant. */
  void rename(MemoryPath from, MemoryPath to) throws FileSystemException {
    try (Held _ = writing()) {
      renameInto(from, to);
    }
  }

  /** {@code Files.move} where it need not be atomic: a file with the new name is deleted first. */
  void move(MemoryPath from, MemoryPath to, boolean replace) throws FileSystemException {
    try (Held _ = writing()) {
      Place source = walk(from);
      if (!source.exists()) {
        throw new NoSuchFileException(from.toString());
      }
      Place target = walk(to);
      if (target.exists()) {
        if (source.node() == target.node()) {
          return;
        }
        clear(target, to, replace);
      }
      renameInto(from, to);
    }
  }

  /**
   * Prepares a copy.
   *
   * @return the node to copy, or null if both are the same file
   */
  @Nullable Node beforeCopy(MemoryPath from, MemoryPath to, boolean replace)
      throws FileSystemException {
    try (Held _ = writing()) {
      Place source = walk(from);
      if (!source.exists()) {
        throw new NoSuchFileException(from.toString());
      }
      Place target = walk(to);
      if (target.exists()) {
        if (source.node() == target.node()) {
          return null;
        }
        clear(target, to, replace);
      }
      return node(source.node());
    }
  }

  private void clear(Place target, MemoryPath path, boolean replace) throws FileSystemException {
    if (!replace) {
      throw new FileAlreadyExistsException(path.toString());
    }
    checkDeletable(target, path);
    unlink(target);
  }

  private void renameInto(MemoryPath from, MemoryPath to) throws FileSystemException {
    // The checks are in the order of Linux: directories on the way, names without an entry, the
    // node to move.
    Place source = walk(from);
    Place target = walk(to);
    for (Place place : List.of(source, target)) {
      if (!place.exists() && place.found() != Found.NOTHING) {
        throw notFound(place, from, to);
      }
    }
    if (source.name().isEmpty() || target.name().isEmpty()) {
      throw FileErrors.busy(from, to);
    }
    if (!source.exists()) {
      throw notFound(source, from, to);
    }
    int node = source.node();
    if (target.exists() && target.node() == node) {
      return;
    }
    if (target.isBelow(node)) {
      throw FileErrors.invalid(from, to);
    }
    if (target.exists()) {
      checkReplaceable(source, target, from, to);
      unlink(target);
    }
    int parent = source.parent();
    image.unlink(parent, source.name());
    image.link(target.parent(), target.name(), node);
    touch(parent);
    touch(target.parent());
  }

  private void checkReplaceable(Place source, Place target, MemoryPath from, MemoryPath to)
      throws FileSystemException {
    if (source.isBelow(target.node())) {
      throw FileErrors.notEmpty(from, to);
    }
    boolean directory = image.isDirectory(source.node());
    if (directory != image.isDirectory(target.node())) {
      throw directory ? FileErrors.notADirectory(from, to) : FileErrors.isADirectory(from, to);
    }
    if (directory && !image.entries(target.node()).isEmpty()) {
      throw FileErrors.notEmpty(from, to);
    }
  }

  // ---- the image, under the write lock ----

  private void createIn(Place place, boolean directory, Set<PosixFilePermission> permissions) {
    if (nextNode == 0) {
      nextNode = image.nextNode();
    }
    int number = nextNode++;
    image.create(number, directory);
    enter(place, number);
    nodes.put(number, new Node(number, directory ? null : image.file(number), tick(), permissions));
  }

  private void enter(Place place, int node) {
    image.link(place.parent(), place.name(), node);
    if (links != null) {
      links.merge(node, 1, Integer::sum);
    }
    touch(place.parent());
  }

  private void unlink(Place place) {
    Map<Integer, Integer> counts = links();
    int number = place.node();
    image.unlink(place.parent(), place.name());
    touch(place.parent());
    if (counts.merge(number, -1, Integer::sum) == 0) {
      counts.remove(number);
      Node node = node(number);
      node.nameless = true;
      if (node.handles.get() == 0) {
        drop(number);
      }
    }
  }

  private Map<Integer, Integer> links() {
    Map<Integer, Integer> counts = links;
    if (counts == null) {
      counts = new HashMap<>();
      for (int node : image.paths().values()) {
        counts.merge(node, 1, Integer::sum);
      }
      links = counts;
    }
    return counts;
  }

  private void drop(int node) {
    image.remove(node);
    nodes.remove(node);
  }

  private void touch(int directory) {
    node(directory).modified = tick();
  }

  // ---- the lock ----

  /** The lock, held until it is closed. */
  private record Held(Lock lock) implements AutoCloseable {
    @Override
    public void close() {
      lock.unlock();
    }
  }

  private Held reading() {
    return hold(lock.readLock());
  }

  private Held writing() {
    return hold(lock.writeLock());
  }

  private Held hold(Lock which) {
    which.lock();
    if (!open) {
      which.unlock();
      throw new ClosedFileSystemException();
    }
    return new Held(which);
  }
}

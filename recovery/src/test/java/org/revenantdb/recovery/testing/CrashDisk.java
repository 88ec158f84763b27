package org.revenantdb.recovery.testing;

import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileStore;
import java.nio.file.FileSystem;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.PathMatcher;
import java.nio.file.WatchService;
import java.nio.file.attribute.UserPrincipalLookupService;
import java.nio.file.spi.FileSystemProvider;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.LongPredicate;

/**
 * A disk in memory that can be copied as a crash would leave it.
 *
 * <p>What may break: <br>
 * of the bytes written since a file was forced, any subset of 512-byte sectors of any subset of
 * writes is missing; <br>
 * of the creations, renames and deletions since a directory was forced, any tail, or any subset, is
 * missing; <br>
 * a kill without a power cut leaves all of both.
 *
 * <p>What holds: a sector is whole; a force that returned has done its work; a rename is one step.
 *
 * <p>Not modelled: permissions, times, links, directories as files.
 */
public final class CrashDisk extends FileSystem {
  private static final int SECTOR = 512;

  /** Sees that something is about to be changed; called under the disk's lock. */
  @FunctionalInterface
  public interface Observer {
    /** Something is about to be written, forced, renamed, created or deleted. */
    void beforeChange();

    /**
     * The same, for a caller that needs to know the operation.
     *
     * @param operation in words, with the file that it changes
     */
    default void beforeChange(String operation) {
      beforeChange();
    }
  }

  private record Write(long position, byte[] bytes) {}

  /** A file without a name. */
  static final class Inode {
    private String name = "a directory";
    private Bytes now = new Bytes(new byte[0]);
    private Bytes forced = new Bytes(new byte[0]);
    private final List<Write> unforced = new ArrayList<>();
  }

  /** Bytes of a file: copies share the array until one of them is written to. */
  private static final class Bytes {
    private byte[] array;
    private int length;
    private boolean isShared;

    Bytes(byte[] array) {
      this.array = array;
      this.length = array.length;
    }

    Bytes copy() {
      isShared = true;
      Bytes copy = new Bytes(array);
      copy.length = length;
      copy.isShared = true;
      return copy;
    }

    byte[] toArray() {
      return Arrays.copyOf(array, length);
    }

    void put(long position, byte[] bytes, int from, int count) {
      int end = (int) position + count;
      if (end > array.length) {
        array = Arrays.copyOf(array, Math.max(end, array.length + array.length / 2));
        isShared = false;
      } else if (isShared) {
        array = array.clone();
        isShared = false;
      }
      System.arraycopy(bytes, from, array, (int) position, count);
      length = Math.max(length, end);
    }

    /** What is beyond the length is zeros, so that a file with a hole reads them. */
    void truncate(int size) {
      array = Arrays.copyOf(array, size);
      length = size;
      isShared = false;
    }
  }

  /** A change of a name: from == null created, to == null deleted, else renamed. */
  private record NameChange(String from, String to, Inode inode) {}

  private final CrashDiskProvider provider = new CrashDiskProvider(this);
  private final Map<String, Inode> names = new TreeMap<>();
  private final Map<String, Inode> forcedNames = new TreeMap<>();
  private final List<NameChange> unforcedNames = new ArrayList<>();
  private Observer observer = () -> {};
  private int failForcesAfter = Integer.MAX_VALUE;
  private long room = Long.MAX_VALUE;

  /** An empty disk. */
  public CrashDisk() {}

  /**
   * A path on this disk.
   *
   * @param name an absolute path
   * @return the path
   */
  public Path path(String name) {
    return new CrashPath(this, Path.of(name));
  }

  /**
   * Sets what sees every change before it happens.
   *
   * @param newObserver replaces the former one
   */
  public synchronized void observe(Observer newObserver) {
    observer = newObserver;
  }

  /**
   * As {@link #observe}, for a caller that needs to know the operation.
   *
   * @param before receives each operation in words, with the file that it changes
   */
  public void observeOperations(Consumer<String> before) {
    observe(
        new Observer() {
          @Override
          public void beforeChange() {
            throw new AssertionError("each operation has its words");
          }

          @Override
          public void beforeChange(String operation) {
            before.accept(operation);
          }
        });
  }

  /**
   * Lets forces fail after so many more; what they should have forced stays in the cache, and no
   * later force writes it.
   *
   * @param forces how many still succeed
   */
  public synchronized void failForcesAfter(int forces) {
    failForcesAfter = forces;
  }

  /**
   * What the next start of the process finds when it alone was killed.
   *
   * @return another disk
   */
  public synchronized CrashDisk afterKill() {
    CrashDisk copy = new CrashDisk();
    Map<Inode, Inode> copies = new HashMap<>();
    names.forEach((name, inode) -> copy.names.put(name, copyOf(inode, copies)));
    forcedNames.forEach((name, inode) -> copy.forcedNames.put(name, copyOf(inode, copies)));
    for (NameChange change : unforcedNames) {
      copy.unforcedNames.add(new NameChange(change.from, change.to, copyOf(change.inode, copies)));
    }
    return copy;
  }

  private static Inode copyOf(Inode inode, Map<Inode, Inode> copies) {
    return copies.computeIfAbsent(
        inode,
        old -> {
          Inode copy = new Inode();
          copy.name = old.name;
          copy.now = old.now.copy();
          copy.forced = old.forced.copy();
          copy.unforced.addAll(old.unforced);
          return copy;
        });
  }

  /**
   * What a power cut leaves.
   *
   * @param random decides; print its seed
   * @return another disk
   */
  public synchronized CrashDisk afterPowerCut(Random random) {
    CrashDisk disk = new CrashDisk();
    Map<Inode, Inode> survivors = new HashMap<>();
    forcedNames.forEach((name, inode) -> disk.names.put(name, survivor(inode, survivors, random)));
    int kept = random.nextInt(unforcedNames.size() + 1);
    boolean anySubset = random.nextBoolean();
    for (int i = 0; i < unforcedNames.size(); i++) {
      if (anySubset ? random.nextBoolean() : i < kept) {
        NameChange change = unforcedNames.get(i);
        Inode inode = survivor(change.inode, survivors, random);
        if (change.from == null || disk.names.get(change.from) == inode) {
          disk.names.remove(change.from == null ? "" : change.from);
          if (change.to != null) {
            disk.names.put(change.to, inode);
          }
        }
      }
    }
    disk.forcedNames.putAll(disk.names);
    return disk;
  }

  private static Inode survivor(Inode inode, Map<Inode, Inode> survivors, Random random) {
    return survivors.computeIfAbsent(
        inode,
        old -> {
          int mode = random.nextInt(4);
          int last = random.nextInt(old.unforced.size() + 1);
          return survivor(
              old,
              (write, sector) ->
                  switch (mode) {
                    case 0 -> false;
                    case 1 -> true;
                    case 2 -> random.nextBoolean();
                    default -> write < last || (write == last && random.nextBoolean());
                  });
        });
  }

  /** Says of a sector of an unforced write whether it reached the medium. */
  private interface Luck {
    boolean keeps(int write, long sector);
  }

  /** A sector that reached the medium has all bytes that the cache had when it was written. */
  private static Inode survivor(Inode old, Luck luck) {
    Inode survivor = new Inode();
    survivor.name = old.name;
    survivor.now = old.forced.copy();
    Bytes cache = old.forced.copy();
    for (int i = 0; i < old.unforced.size(); i++) {
      Write write = old.unforced.get(i);
      cache.put(write.position, write.bytes, 0, write.bytes.length);
      long end = write.position + write.bytes.length;
      for (long sector = write.position / SECTOR * SECTOR; sector < end; sector += SECTOR) {
        if (luck.keeps(i, sector)) {
          int length = (int) Math.min(SECTOR, cache.length - sector);
          survivor.now.put(sector, cache.array, (int) sector, length);
        }
      }
    }
    survivor.forced = survivor.now.copy();
    return survivor;
  }

  /**
   * What a power cut leaves when it loses all names that were not forced, and sectors by choice.
   *
   * @param keeps says of a sector's place in its file whether an unforced write of it was kept
   * @return another disk
   */
  public synchronized CrashDisk afterPowerCut(LongPredicate keeps) {
    CrashDisk disk = new CrashDisk();
    forcedNames.forEach(
        (name, old) -> disk.names.put(name, survivor(old, (write, sector) -> keeps.test(sector))));
    disk.forcedNames.putAll(disk.names);
    return disk;
  }

  /**
   * Lets the disk be full after so many more bytes.
   *
   * @param bytes what can still be written
   */
  public synchronized void fullAfter(long bytes) {
    room = bytes;
  }

  /**
   * Flips a bit of a file, in cache and medium.
   *
   * @param name the file
   * @param position the byte
   * @param bit 0 to 7
   */
  public synchronized void flip(String name, long position, int bit) {
    Inode inode = names.get(name);
    byte[] flipped = {(byte) (inode.now.array[(int) position] ^ (1 << bit))};
    inode.now.put(position, flipped, 0, flipped.length);
    inode.forced = inode.now.copy();
    inode.unforced.clear();
  }

  /**
   * The content of a file.
   *
   * @param name the file
   * @return a copy
   */
  public synchronized byte[] content(String name) {
    return names.get(name).now.toArray();
  }

  /**
   * Replaces the content of a file.
   *
   * @param name the file
   * @param bytes what it holds, durable
   */
  public synchronized void content(String name, byte[] bytes) {
    Inode inode = names.get(name);
    inode.now = new Bytes(bytes.clone());
    inode.forced = inode.now.copy();
    inode.unforced.clear();
  }

  /**
   * Deletes or renames a file like another process, durably.
   *
   * @param from its name
   * @param to its new name, or null
   */
  public synchronized void move(String from, String to) {
    Inode inode = names.remove(from);
    if (to != null) {
      names.put(to, inode);
    }
    forcedNames.clear();
    forcedNames.putAll(names);
    unforcedNames.clear();
  }

  /**
   * The files.
   *
   * @return their names, sorted
   */
  public synchronized List<String> files() {
    return List.copyOf(names.keySet());
  }

  synchronized Inode open(Path path, boolean createNew) throws IOException {
    Inode inode = names.get(path.toString());
    if (createNew) {
      if (inode != null) {
        throw new FileAlreadyExistsException(path.toString());
      }
      observer.beforeChange("create " + path);
      inode = new Inode();
      inode.name = path.toString();
      names.put(path.toString(), inode);
      unforcedNames.add(new NameChange(null, path.toString(), inode));
    } else if (inode == null) {
      throw new NoSuchFileException(path.toString());
    }
    return inode;
  }

  synchronized int read(Inode inode, long position, byte[] target) {
    int length = (int) Math.min(target.length, inode.now.length - position);
    if (length <= 0) {
      return -1;
    }
    System.arraycopy(inode.now.array, (int) position, target, 0, length);
    return length;
  }

  synchronized void write(Inode inode, long position, byte[] bytes) throws IOException {
    observer.beforeChange(
        "write " + inode.name + " at " + position + ", " + bytes.length + " bytes");
    if (room < bytes.length) {
      throw new IOException("No space left on device");
    }
    room -= room == Long.MAX_VALUE ? 0 : bytes.length;
    inode.now.put(position, bytes, 0, bytes.length);
    inode.unforced.add(new Write(position, bytes));
  }

  synchronized void truncate(Inode inode, long size) {
    observer.beforeChange("truncate " + inode.name + " to " + size);
    inode.now.truncate((int) Math.min(size, inode.now.length));
  }

  synchronized long size(Inode inode) {
    return inode.now.length;
  }

  synchronized void force(Inode inode) throws IOException {
    observer.beforeChange("force " + inode.name);
    if (failForcesAfter-- <= 0) {
      inode.unforced.clear(); // marked clean, and never written
      throw new IOException("Input/output error");
    }
    for (Write write : inode.unforced) {
      inode.forced.put(write.position, write.bytes, 0, write.bytes.length);
    }
    inode.unforced.clear();
  }

  synchronized void forceNames() throws IOException {
    observer.beforeChange("force names");
    if (failForcesAfter-- <= 0) {
      throw new IOException("Input/output error");
    }
    forcedNames.clear();
    forcedNames.putAll(names);
    unforcedNames.clear();
  }

  synchronized void rename(Path from, Path to) throws IOException {
    if (!names.containsKey(from.toString())) {
      throw new NoSuchFileException(from.toString());
    }
    observer.beforeChange("rename " + from + " to " + to);
    Inode inode = names.remove(from.toString());
    inode.name = to.toString();
    names.put(to.toString(), inode);
    unforcedNames.add(new NameChange(from.toString(), to.toString(), inode));
  }

  synchronized void delete(Path path) throws IOException {
    if (!names.containsKey(path.toString())) {
      throw new NoSuchFileException(path.toString());
    }
    observer.beforeChange("delete " + path);
    Inode inode = names.remove(path.toString());
    unforcedNames.add(new NameChange(path.toString(), null, inode));
  }

  synchronized List<String> list(Path directory) {
    String prefix = directory + "/";
    return names.keySet().stream()
        .filter(name -> name.startsWith(prefix))
        .map(name -> {
          int end = name.indexOf('/', prefix.length());
          return end < 0 ? name : name.substring(0, end);
        })
        .distinct()
        .toList();
  }

  synchronized boolean exists(Path path) {
    return names.containsKey(path.toString());
  }

  /** The size of a file; -1 if there is none of this name. */
  synchronized long sizeIfFile(Path path) {
    Inode inode = names.get(path.toString());
    return inode == null ? -1 : inode.now.length;
  }

  @Override
  public FileSystemProvider provider() {
    return provider;
  }

  @Override
  public void close() {}

  @Override
  public boolean isOpen() {
    return true;
  }

  @Override
  public boolean isReadOnly() {
    return false;
  }

  @Override
  public String getSeparator() {
    return "/";
  }

  @Override
  public Iterable<Path> getRootDirectories() {
    return List.of(path("/"));
  }

  @Override
  public Iterable<FileStore> getFileStores() {
    return List.of();
  }

  @Override
  public Set<String> supportedFileAttributeViews() {
    return Set.of("basic");
  }

  @Override
  public Path getPath(String first, String... more) {
    return new CrashPath(this, Path.of(first, more));
  }

  @Override
  public PathMatcher getPathMatcher(String syntaxAndPattern) {
    throw new UnsupportedOperationException();
  }

  @Override
  public UserPrincipalLookupService getUserPrincipalLookupService() {
    throw new UnsupportedOperationException();
  }

  @Override
  public WatchService newWatchService() {
    throw new UnsupportedOperationException();
  }
}

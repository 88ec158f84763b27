package org.revenantdb.chaos.disk;

import java.nio.file.ClosedFileSystemException;
import java.nio.file.FileStore;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Path;
import java.nio.file.PathMatcher;
import java.nio.file.WatchService;
import java.nio.file.attribute.UserPrincipalLookupService;
import java.nio.file.spi.FileSystemProvider;
import java.util.List;
import java.util.Set;

/**
 * A file system over one {@link DiskImage}, for any code that uses paths, {@code Files} and
 * channels.
 *
 * <p>It behaves as Linux does: an open file lives on without a name, a rename replaces, a directory
 * can be opened and forced. A force has nothing to do, because an image is what a disk holds.
 * Nothing is copied when it is made, so that each of many crash states can have its own. It starts
 * as root does: permissions are kept and returned, never enforced.
 *
 * <p>What it refuses, always with an {@link UnsupportedOperationException}: symbolic links,
 * mappings ({@code FileChannel.map}), {@code Path.toFile} and watch services. Code that needs one
 * of them is tested on the default file system. It is not in the list of installed providers, so a
 * path is made from {@link #root} and never from a URI.
 *
 * {@snippet :
 * try (MemoryFileSystem disk = MemoryFileSystem.of(image.fork())) {
 *   MyStore.open(disk.root()).close();
 *   DiskImage after = disk.image();
 * }
 * }
 *
 * <p>Threads: any. After {@link #close} has returned no thread changes the image any more, whatever
 * channel it still holds.
 */
public final class MemoryFileSystem extends FileSystem {
  /*
   * Who guards what
   *   names (which node has which entry, which nodes there are)   NameSpace, one read-write lock
   *   bytes and size of a file                                    its Node, one read-write lock each
   *   locks of a file                                             its LockTable, a monitor
   *   position of a channel                                       the channel, a monitor
   * Order: position, names, bytes. An open file needs no lock that is shared with other files to be read or written.
   */

  private final NameSpace names;
  private final MemoryProvider provider;
  private final MemoryPath root;

  private MemoryFileSystem(DiskImage image) {
    names = new NameSpace(image);
    provider = new MemoryProvider(this, names);
    root = MemoryPath.root(this);
  }

  /**
   * Opens an image as a file system.
   *
   * @param image what there is; from now on changed by this file system and by nobody else
   * @return a file system whose root is the root of the image
   */
  public static MemoryFileSystem of(DiskImage image) {
    return new MemoryFileSystem(image);
  }

  /**
   * The directory that the image is an image of.
   *
   * @return an absolute path, {@code /}
   */
  public Path root() {
    return root;
  }

  /**
   * What the disk holds now.
   *
   * @return the live image itself; fork it, or look at it, when nobody writes
   */
  public DiskImage image() {
    return names.image();
  }

  /**
   * What the disk holds at one moment, while others go on: each write is in it whole or not at all.
   *
   * @return an image with a life of its own
   */
  public DiskImage snapshot() {
    return names.snapshot();
  }

  /**
   * Bounds by how much files may get longer, all of them together and without what is cut off or
   * deleted: a write that goes beyond fails as on a full disk.
   *
   * @param bytes from now on
   */
  public void limitGrowth(long bytes) {
    names.limitGrowth(bytes);
  }

  /**
   * Tells whether a write was refused since {@link #limitGrowth}.
   *
   * @return true if so
   */
  public boolean hasOutgrown() {
    return names.hasOutgrown();
  }

  @Override
  public FileSystemProvider provider() {
    return provider;
  }

  /** Closes every channel and every directory stream; later calls do nothing. */
  @Override
  public void close() {
    names.close();
  }

  @Override
  public boolean isOpen() {
    return names.isOpen();
  }

  @Override
  public boolean isReadOnly() {
    return false;
  }

  @Override
  public String getSeparator() {
    return MemoryPath.SEPARATOR;
  }

  @Override
  public Iterable<Path> getRootDirectories() {
    return List.of(root);
  }

  @Override
  public Iterable<FileStore> getFileStores() {
    return List.of(MemoryFileStore.ONLY);
  }

  @Override
  public Set<String> supportedFileAttributeViews() {
    return AttributeNames.VIEWS;
  }

  @Override
  public Path getPath(String first, String... more) {
    return MemoryPath.parse(this, first, more);
  }

  /**
   * A matcher by the rules of the default file system, which is asked about the same names.
   *
   * @param syntaxAndPattern as in {@link FileSystem#getPathMatcher}
   * @return the matcher
   */
  @Override
  public PathMatcher getPathMatcher(String syntaxAndPattern) {
    FileSystem rules = FileSystems.getDefault();
    PathMatcher matcher = rules.getPathMatcher(syntaxAndPattern);
    return path -> matcher.matches(rules.getPath(path.toString()));
  }

  @Override
  public UserPrincipalLookupService getUserPrincipalLookupService() {
    return MemoryPrincipal.LOOKUP;
  }

  @Override
  public WatchService newWatchService() {
    throw new UnsupportedOperationException("a file system in memory has no watch service");
  }

  NameSpace names() {
    return names;
  }

  void ensureOpen() {
    if (!isOpen()) {
      throw new ClosedFileSystemException();
    }
  }
}

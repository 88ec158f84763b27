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
import java.util.concurrent.atomic.AtomicLong;

/**
 * A file system over one {@link DiskImage}, for any code that uses paths, {@code Files} and
 * channels.
 *
 * <p>It behaves like Linux: an open file exists without a name, a rename replaces, a directory can
 * be opened and forced. A force does nothing, because an image is the content of the disk. Creating
 * it copies nothing, so each of many crash states can have its own. It behaves as for root:
 * permissions are kept and returned, never enforced.
 *
 * <p>It refuses symbolic links, mappings for writing ({@code FileChannel.map}), {@code Path.toFile}
 * and watch services, always with an {@link UnsupportedOperationException}. Code that needs one of
 * them is tested on the default file system. It is not an installed provider, so paths are made
 * from {@link #root} and never from a URI.
 *
 * {@snippet :
 * try (MemoryFileSystem disk = MemoryFileSystem.of(image.fork())) {
 *   MyStore.open(disk.root()).close();
 *   DiskImage after = disk.image();
 * }
 * }
 *
 * <p>Threads: any. After {@link #close} has returned no thread changes the image, whatever channel
 * it still holds.
 */
public final class MemoryFileSystem extends FileSystem {
  /*
   * Which lock guards what
   *   names (which node has which entry, which nodes there are)   NameSpace, one read-write lock
   *   bytes and size of a file                                    its Node, one read-write lock each
   *   locks of a file                                             its LockTable, a monitor
   *   position of a channel                                       the channel, a monitor
   * Order: position, names, bytes. An open file needs no lock that is shared with other files to be read or written.
   */

  /** A file is in the place of the directory, so no program can create anything below it. */
  private static final String NOWHERE = "/dev/null/revenant-chaos-";

  private static final AtomicLong COUNT = new AtomicLong();

  private final NameSpace names;
  private final MemoryProvider provider;
  private final String above;
  private final MemoryPath root;

  private MemoryFileSystem(DiskImage image, String above) {
    this.above = above;
    names = new NameSpace(image);
    provider = new MemoryProvider(this, names);
    root = MemoryPath.root(this);
  }

  /**
   * Opens an image as a file system.
   *
   * @param image the content; from now on only this file system may change it
   * @return a file system whose root is the root of the image
   */
  public static MemoryFileSystem of(DiskImage image) {
    return new MemoryFileSystem(image, "");
  }

  /**
   * Opens an image as a file system whose absolute paths have a text of their own, unlike those of
   * any other. So a store that keys a table of its process by the text does not confuse two images.
   * On the default file system a path with that text does not exist and cannot be created. So a
   * store that makes a {@link java.io.File} from the text fails instead of writing elsewhere.
   *
   * @param image the content; from now on only this file system may change it
   * @return a file system whose root is the root of the image
   */
  public static MemoryFileSystem apart(DiskImage image) {
    return new MemoryFileSystem(image, NOWHERE + COUNT.incrementAndGet());
  }

  /**
   * Returns whether a text contains a path of a file system that was made by {@link #apart}.
   *
   * @param text for instance the message of an exception
   * @return true if it does
   */
  public static boolean isIn(String text) {
    return text.contains(NOWHERE);
  }

  /**
   * Returns the root directory of the image.
   *
   * @return an absolute path, {@code /} or one of its own
   */
  public Path root() {
    return root;
  }

  /**
   * Returns the content of the disk.
   *
   * @return the live image itself; fork it or read it only while no thread writes
   */
  public DiskImage image() {
    return names.image();
  }

  /**
   * Returns the content of the disk at one moment, while other threads continue. Each write is in
   * it whole or not at all.
   *
   * @return an independent image
   */
  public DiskImage snapshot() {
    return names.snapshot();
  }

  /**
   * Limits the growth of all files together. Bytes that are cut off or deleted are not given back.
   * A write beyond the limit fails as on a full disk.
   *
   * @param bytes the limit from now on
   */
  public void limitGrowth(long bytes) {
    names.limitGrowth(bytes);
  }

  /**
   * Returns whether a write was refused since {@link #limitGrowth}.
   *
   * @return true if one was
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
   * Returns a matcher with the rules of the default file system, which receives the same names.
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

  /** The text before each absolute path; empty or an absolute path. */
  String above() {
    return above;
  }

  void ensureOpen() {
    if (!isOpen()) {
      throw new ClosedFileSystemException();
    }
  }
}

package org.revenantdb.recovery.testing;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileStore;
import java.nio.file.FileSystem;
import java.nio.file.Path;
import java.nio.file.PathMatcher;
import java.nio.file.WatchService;
import java.nio.file.attribute.UserPrincipalLookupService;
import java.nio.file.spi.FileSystemProvider;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;

/**
 * A file system over a real one, whose writes come up short, whose disk fills up, whose forces fail
 * and whose power can be cut.
 *
 * <p>Faults: <br>
 * {@link #shortWrites} a write takes only part of its bytes; <br>
 * {@link #diskFullAfter} no room is left after so many bytes, an overwrite costs as an append does;
 * <br>
 * {@link #failForces} forces fail from now on; what they should have forced is never forced, even
 * if a later force succeeds, as on Linux; <br>
 * {@link #readOnly} nothing may be created, written or deleted; <br>
 * {@link #deny} this user may not even look whether a file is there; <br>
 * {@link #misplace} bytes that are written to one place are lost, or end up in another, and the
 * write says that all is well; <br>
 * {@link #mappable} files can be mapped for writing; what is stored there is not seen; <br>
 * {@link #hook} anything else: it sees each event before it happens and may throw; <br>
 * {@link #powerCut} of the bytes that were not forced since {@link #trackForces}, any subset of
 * 512-byte sectors is lost.
 *
 * <p>Not modelled: names. A file that was created or renamed is there after the power cut, whether
 * its directory was forced or not; tests see those forces in {@link #events}.
 *
 * {@snippet :
 * FaultyFileSystem faulty = new FaultyFileSystem();
 * Path directory = faulty.wrap(temporaryDirectory);
 * faulty.failForces(true);
 * }
 */
public final class FaultyFileSystem extends FileSystem {
  /** Sees an event before it happens. */
  @FunctionalInterface
  public interface Hook {
    /**
     * Lets the event happen by returning.
     *
     * @param event what is about to happen
     * @throws IOException to make it fail
     */
    void before(IoEvent event) throws IOException;
  }

  /** The place where misplaced bytes end up that are nowhere. */
  public static final long NOWHERE = -1;

  private static final long NO_LIMIT = Long.MAX_VALUE;

  private final FileSystem real;
  private final FaultyProvider provider;
  private final List<IoEvent> events = new ArrayList<>();
  private final Map<Path, UnforcedWrites> unforced = new HashMap<>();
  private final List<Path> open = new ArrayList<>();
  private Hook hook = event -> {};
  private Hook gate = event -> {};
  private int shortWrite = Integer.MAX_VALUE;
  private long room = NO_LIMIT;
  private boolean forcesFail;
  private boolean readOnly;
  private boolean tracking;
  private boolean mappable;
  private String denied = "";
  private Misplaced misplaced = Misplaced.NONE;

  /** Faults over the default file system, none of them switched on. */
  public FaultyFileSystem() {
    real = java.nio.file.FileSystems.getDefault();
    provider = new FaultyProvider(this, real.provider());
  }

  /**
   * The same place, seen through this file system.
   *
   * @param path a real path
   * @return the path to give to the code under test
   */
  public Path wrap(Path path) {
    return path instanceof FaultyPath ? path : new FaultyPath(this, path);
  }

  /**
   * The same place without faults.
   *
   * @param path a path of this file system or a real one
   * @return the real path
   */
  public static Path unwrap(Path path) {
    return path instanceof FaultyPath faulty ? faulty.real() : path;
  }

  /**
   * Lets each write take at most so many bytes.
   *
   * @param bytes at least 1; {@link Integer#MAX_VALUE} = off
   */
  public synchronized void shortWrites(int bytes) {
    shortWrite = bytes;
  }

  /**
   * Lets the disk be full after so many more bytes; the write that crosses the mark takes part of
   * its bytes, the next one fails.
   *
   * @param bytes how many; {@link Long#MAX_VALUE} = off
   */
  public synchronized void diskFullAfter(long bytes) {
    room = bytes;
  }

  /**
   * Lets forces of files and directories fail.
   *
   * @param fail whether they do
   */
  public synchronized void failForces(boolean fail) {
    forcesFail = fail;
  }

  /**
   * Lets files be mapped for writing.
   *
   * @param can whether they can be, as in a real file system; else as in one in memory
   */
  public synchronized void mappable(boolean can) {
    mappable = can;
  }

  synchronized boolean isMappable() {
    return mappable;
  }

  /**
   * Denies everything that would change a file or directory.
   *
   * @param denied whether it does
   */
  public synchronized void readOnly(boolean denied) {
    readOnly = denied;
  }

  /**
   * Denies all that is done to a file, to look whether it is there included, as where the user may
   * not enter its directory.
   *
   * @param fileName the last part of its path, or nothing = off
   */
  public synchronized void deny(String fileName) {
    denied = fileName;
  }

  synchronized void checkVisible(Path file) throws AccessDeniedException {
    if (file.endsWith(denied) && !denied.isEmpty()) {
      throw new AccessDeniedException(file.toString());
    }
  }

  /**
   * From now on what is written to a place of a file ends up elsewhere, and the write says that all
   * is well. One place at a time.
   *
   * @param fileName the last part of its path
   * @param from the first byte of the place
   * @param length how many bytes; 0 = off
   * @param to where they go, or {@link #NOWHERE}
   */
  public synchronized void misplace(String fileName, long from, long length, long to) {
    misplaced = new Misplaced(fileName, from, length, to);
  }

  synchronized Misplaced misplaced() {
    return misplaced;
  }

  /**
   * Sets what sees each event before it happens.
   *
   * @param newHook replaces the former one
   */
  public synchronized void hook(Hook newHook) {
    hook = newHook;
  }

  /**
   * Sees each event after the hook, without any lock: it may wait, and others go on.
   *
   * @param newGate replaces the former one
   */
  public synchronized void gate(Hook newGate) {
    gate = newGate;
  }

  /**
   * Begins to remember what is written and not forced; files as they are now count as forced.
   *
   * <p>To be called before the files are opened for writing.
   */
  public synchronized void trackForces() {
    tracking = true;
    unforced.clear();
  }

  /**
   * What the power cut leaves: each file as it was last forced, with a random subset of the sectors
   * written since. Channels must be closed; tracking goes on from here.
   *
   * @param random decides; print its seed
   * @throws IOException if a real file cannot be rewritten
   */
  public synchronized void powerCut(Random random) throws IOException {
    for (UnforcedWrites writes : unforced.values()) {
      writes.powerCut(random);
    }
    unforced.clear();
  }

  /**
   * What happened so far.
   *
   * @return a copy, oldest first; events that failed included
   */
  public synchronized List<IoEvent> events() {
    return List.copyOf(events);
  }

  /** Forgets what happened so far. */
  public synchronized void clearEvents() {
    events.clear();
  }

  /**
   * How often a thing happened to a file.
   *
   * @param kind what
   * @param fileName the last part of its path
   * @return number of events, failed ones included
   */
  public synchronized int count(IoEvent.Kind kind, String fileName) {
    return (int) events.stream().filter(event -> event.is(kind, fileName)).count();
  }

  /**
   * The files that were opened and are not closed.
   *
   * @return their names, a name for each channel, in order
   */
  public synchronized List<String> openFiles() {
    return open.stream().map(file -> file.getFileName().toString()).sorted().toList();
  }

  synchronized void opened(Path file) {
    open.add(file);
  }

  synchronized void closed(Path file) {
    open.remove(file);
  }

  void happens(IoEvent.Kind kind, Path file, long position, long length) throws IOException {
    IoEvent event = new IoEvent(kind, file, position, length);
    Hook nowGate;
    if (kind == IoEvent.Kind.OPEN || kind == IoEvent.Kind.DELETE || kind == IoEvent.Kind.RENAME) {
      checkVisible(file);
    }
    synchronized (this) {
      events.add(event);
      hook.before(event);
      nowGate = gate;
    }
    nowGate.before(event);
  }

  synchronized void checkWritable(Path file) throws AccessDeniedException {
    if (readOnly) {
      throw new AccessDeniedException(file.toString());
    }
  }

  /** How many of these bytes the next write may take. */
  synchronized int takeRoom(int wanted) throws IOException {
    if (room == NO_LIMIT) {
      return Math.min(wanted, shortWrite);
    }
    if (room == 0 && wanted > 0) {
      throw new IOException("No space left on device");
    }
    int taken = (int) Math.min(Math.min(wanted, shortWrite), room);
    room -= taken;
    return taken;
  }

  synchronized void opensForWriting(Path file) throws IOException {
    if (tracking && !unforced.containsKey(key(file))) {
      unforced.put(key(file), new UnforcedWrites(file));
    }
  }

  synchronized void wrote(Path file, long position, byte[] bytes) {
    UnforcedWrites writes = unforced.get(key(file));
    if (writes != null) {
      writes.wrote(position, bytes);
    }
  }

  synchronized void truncated(Path file, long size) {
    UnforcedWrites writes = unforced.get(key(file));
    if (writes != null) {
      writes.truncated(size);
    }
  }

  /** Called before the real force; throws if this one is to fail. */
  synchronized void forces(Path file) throws IOException {
    UnforcedWrites writes = unforced.get(key(file));
    if (forcesFail) {
      if (writes != null) {
        writes.forceFailed();
      }
      throw new IOException("Input/output error");
    }
    if (writes != null) {
      writes.forced();
    }
  }

  synchronized void renamed(Path from, Path to) {
    UnforcedWrites writes = unforced.remove(key(from));
    unforced.remove(key(to));
    if (writes != null) {
      unforced.put(key(to), writes.movedTo(to));
    }
  }

  synchronized void deleted(Path file) {
    unforced.remove(key(file));
  }

  private static Path key(Path file) {
    return file.toAbsolutePath().normalize();
  }

  @Override
  public FileSystemProvider provider() {
    return provider;
  }

  @Override
  public void close() {
    throw new UnsupportedOperationException("the default file system stays open");
  }

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
    return real.getSeparator();
  }

  @Override
  public Iterable<Path> getRootDirectories() {
    List<Path> roots = new ArrayList<>();
    real.getRootDirectories().forEach(root -> roots.add(wrap(root)));
    return roots;
  }

  @Override
  public Iterable<FileStore> getFileStores() {
    return real.getFileStores();
  }

  @Override
  public Set<String> supportedFileAttributeViews() {
    return real.supportedFileAttributeViews();
  }

  @Override
  public Path getPath(String first, String... more) {
    return wrap(real.getPath(first, more));
  }

  @Override
  public PathMatcher getPathMatcher(String syntaxAndPattern) {
    PathMatcher matcher = real.getPathMatcher(syntaxAndPattern);
    return path -> matcher.matches(unwrap(path));
  }

  @Override
  public UserPrincipalLookupService getUserPrincipalLookupService() {
    return real.getUserPrincipalLookupService();
  }

  @Override
  public WatchService newWatchService() {
    throw new UnsupportedOperationException();
  }
}

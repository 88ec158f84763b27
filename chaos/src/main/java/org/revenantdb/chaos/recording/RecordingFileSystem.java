package org.revenantdb.chaos.recording;

import java.io.IOException;
import java.nio.file.FileStore;
import java.nio.file.FileSystem;
import java.nio.file.Files;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.PathMatcher;
import java.nio.file.ProviderMismatchException;
import java.nio.file.WatchService;
import java.nio.file.attribute.UserPrincipalLookupService;
import java.nio.file.spi.FileSystemProvider;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.revenantdb.chaos.disk.DiskImage;
import org.revenantdb.chaos.fault.FaultInjector;
import org.revenantdb.chaos.trace.Trace;
import org.revenantdb.chaos.trace.TraceClock;

/**
 * A file system that does what the one below it does, and records what is done at or below one
 * directory.
 *
 * {@snippet :
 * RecordingFileSystem recording = RecordingFileSystem.over(directory).start();
 * try (MyStore store = MyStore.open(recording.directory())) {
 *   store.put(key, value);
 * }
 * Trace trace = recording.trace();
 * }
 *
 * <p>Every path of the file system below has its twin here; only a program that is given one, and
 * uses nothing but {@link Path}, {@link Files} and channels opened from paths, is seen. What it
 * changes outside the directory is done, and noted as an <em>escape</em>. What it does that cannot
 * be seen is done too, if possible, and noted as a <em>gap</em>: a mapping for writing, a {@link
 * java.io.File}, a symbolic link. Watching directories is not supported.
 *
 * <p>In the trace a move that replaces something, and is not {@code ATOMIC_MOVE}, is a deletion and
 * then a rename, because that is what the JDK makes of it, on Unix and on Windows; both are asked
 * for faults. A copy is a creation and writes.
 *
 * <p>Nobody else may change the directory during the recording, another recording of it included.
 *
 * <p>Threads: any; {@link #trace} when no operation is under way. Failure: exceptions of the file
 * system below pass through, with its paths in them; only what was done is recorded.
 */
public final class RecordingFileSystem extends FileSystem {

  private final FileSystem delegate;
  private final Path base;
  private final Path realBase;
  private final DiskImage start;
  private final Recorder recorder;
  private final NameSpace names;
  private final NameOperations operations;
  private final RecordingProvider provider;
  private volatile boolean open = true;

  private RecordingFileSystem(Path base, DiskImage start, NameSpace names, Recorder recorder)
      throws IOException {
    this.delegate = base.getFileSystem();
    this.base = base;
    this.realBase = base.toRealPath();
    this.start = start;
    this.recorder = recorder;
    this.names = names;
    FileSystemProvider below = delegate.provider();
    this.operations = new NameOperations(this, below, recorder, names, start);
    this.provider = new RecordingProvider(this, below, recorder, operations);
  }

  /**
   * Prepares to record a directory.
   *
   * @param existingDirectory of any file system
   * @return a builder
   */
  public static Builder over(Path existingDirectory) {
    return new Builder(existingDirectory);
  }

  /**
   * The directory, seen through the recording.
   *
   * @return a path of this file system
   */
  public Path directory() {
    return wrap(base);
  }

  /**
   * The order that operations take their places from.
   *
   * @return the clock
   */
  public TraceClock clock() {
    return recorder.clock();
  }

  /**
   * What was done so far. Also looks whether the names in the directory are those that it should
   * have, and notes a gap if not.
   *
   * @return the trace; whole if no operation is under way
   * @throws IllegalStateException if the trace was not to be kept
   */
  public Trace trace() {
    if (!recorder.keeping()) {
      throw new IllegalStateException("this recording keeps no trace");
    }
    operations.compare();
    return recorder.trace(start);
  }

  /**
   * Ends the process that has worked here so far, and lets another one go on: the same directory,
   * the same trace, but paths of its own. All that is still asked through the old paths and
   * channels fails and leaves nothing; the channels are closed, so that their locks are free. When
   * this returns nothing of the dead process is under way.
   *
   * @param faults asked before every operation of the next process
   * @return the recording as the next process sees it
   * @throws IOException if a channel cannot be closed
   */
  public RecordingFileSystem nextProcess(FaultInjector faults) throws IOException {
    recorder.end(names);
    return new RecordingFileSystem(base, start, names, new Recorder(recorder, faults));
  }

  /**
   * How much was asked so far.
   *
   * @return the counts
   */
  public IoCount counted() {
    return recorder.counter().snapshot();
  }

  /** The twin of a path of the file system below. */
  RecordingPath wrap(Path path) {
    return new RecordingPath(this, path);
  }

  /** The path below. */
  Path unwrap(Path path) {
    if (path instanceof RecordingPath ours && ours.getFileSystem() == this) {
      return ours.delegate();
    }
    if (path == null) {
      throw new NullPointerException("no path");
    }
    throw new ProviderMismatchException(path + " is no path of this recording");
  }

  /** The path below of a path from the directory. */
  Path below(String relative) {
    return base.resolve(relative);
  }

  /** The names that lead from the directory to a path of the file system below; null if outside. */
  @Nullable List<String> locate(Path path) {
    Path absolute = path.toAbsolutePath().normalize();
    Path from = absolute.startsWith(base) ? base : realBase;
    if (!absolute.startsWith(from)) {
      return null;
    }
    List<String> names = new ArrayList<>();
    for (Path name : absolute) {
      names.add(name.toString());
    }
    return names.subList(from.getNameCount(), names.size());
  }

  Recorder recorder() {
    return recorder;
  }

  @Override
  public FileSystemProvider provider() {
    return provider;
  }

  /** Ends nothing: paths and channels go on working, and go on being recorded. */
  @Override
  public void close() {
    open = false;
  }

  @Override
  public boolean isOpen() {
    return open;
  }

  @Override
  public boolean isReadOnly() {
    return delegate.isReadOnly();
  }

  @Override
  public String getSeparator() {
    return delegate.getSeparator();
  }

  @Override
  public Iterable<Path> getRootDirectories() {
    List<Path> roots = new ArrayList<>();
    delegate.getRootDirectories().forEach(root -> roots.add(wrap(root)));
    return roots;
  }

  @Override
  public Iterable<FileStore> getFileStores() {
    return delegate.getFileStores();
  }

  @Override
  public Set<String> supportedFileAttributeViews() {
    return delegate.supportedFileAttributeViews();
  }

  @Override
  public Path getPath(String first, String... more) {
    return wrap(delegate.getPath(first, more));
  }

  @Override
  public PathMatcher getPathMatcher(String syntaxAndPattern) {
    PathMatcher matcher = delegate.getPathMatcher(syntaxAndPattern);
    return path -> matcher.matches(unwrap(path));
  }

  @Override
  public UserPrincipalLookupService getUserPrincipalLookupService() {
    return delegate.getUserPrincipalLookupService();
  }

  @Override
  public WatchService newWatchService() {
    throw new UnsupportedOperationException("a recording cannot watch directories");
  }

  /** What a recording is to do. */
  public static final class Builder {

    private final Path directory;
    private FaultInjector faults = FaultInjector.NOTHING;
    private TraceClock clock = new TraceClock();
    private boolean stacks = true;
    private boolean keepTrace = true;
    private @Nullable SlowForces slowForces;

    private Builder(Path directory) {
      this.directory = directory;
    }

    /**
     * Says who decides what goes wrong; by default nothing does.
     *
     * @param injector asked before every operation
     * @return this
     */
    public Builder faults(FaultInjector injector) {
      faults = injector;
      return this;
    }

    /**
     * Gives the order that operations take their places from; by default a new one.
     *
     * @param order shared with promises
     * @return this
     */
    public Builder clock(TraceClock order) {
      clock = order;
      return this;
    }

    /**
     * Says whether operations have call stacks; by default they do.
     *
     * @param wanted false to save time
     * @return this
     */
    public Builder stacks(boolean wanted) {
      stacks = wanted;
      return this;
    }

    /**
     * Says whether there will be a {@link #trace}; by default there will. Without one there are
     * only faults and counts, and memory does not grow; a stale read needs the trace.
     *
     * @param wanted false for programs that run long
     * @return this
     */
    public Builder keepTrace(boolean wanted) {
      keepTrace = wanted;
      return this;
    }

    /**
     * Says that forces take a while; by default they do not. A drawn share of them waits for other
     * threads to change what is forced, so that what was written during a force, and is not covered
     * by it, is there to be found. A process in which one thread does everything is not slowed
     * down; others wait a millisecond at most, and stop that if it is always in vain.
     *
     * @param seed of what is drawn
     * @param when asked at each force
     * @return this
     */
    public Builder slowForces(long seed, BooleanSupplier when) {
      slowForces = new SlowForces(seed, when);
      return this;
    }

    /**
     * Looks at what is there and begins to record.
     *
     * @return the recording
     * @throws IOException if the directory cannot be read
     */
    public RecordingFileSystem start() throws IOException {
      Path base = directory.toAbsolutePath().normalize();
      if (!Files.isDirectory(base)) {
        throw new NotDirectoryException(directory.toString());
      }
      Recorder recorder = new Recorder(clock, faults, stacks, keepTrace, slowForces);
      StartScan scan = new StartScan(recorder);
      DiskImage image = keepTrace ? scan.content(base) : scan.names(base);
      NameSpace names = new NameSpace();
      names.load(image);
      return new RecordingFileSystem(base, image, names, recorder);
    }
  }
}

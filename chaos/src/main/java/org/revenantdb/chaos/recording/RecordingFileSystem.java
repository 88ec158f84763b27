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
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.revenantdb.chaos.disk.DiskImage;
import org.revenantdb.chaos.fault.FaultInjector;
import org.revenantdb.chaos.trace.Trace;
import org.revenantdb.chaos.trace.TraceClock;

/**
 * A file system that passes everything to the one below it, and records the operations at or below
 * one directory.
 *
 * {@snippet :
 * RecordingFileSystem recording = RecordingFileSystem.over(directory).start();
 * try (MyStore store = MyStore.open(recording.directory())) {
 *   store.put(key, value);
 * }
 * Trace trace = recording.trace();
 * }
 *
 * <p>Every path of the file system below has a counterpart here. The recording sees a program only
 * if the program receives such a path and uses nothing but {@link Path}, {@link Files} and channels
 * opened from paths. A change outside the directory is carried out and noted as an <em>escape</em>.
 * A change that cannot be recorded is carried out if possible and noted as a <em>gap</em>: a
 * mapping for writing, a {@link java.io.File}, a symbolic link. Watching directories is not
 * supported.
 *
 * <p>In the trace, a move that replaces something without {@code ATOMIC_MOVE} is a deletion and
 * then a rename, as the JDK does it on Unix and on Windows. Faults can be injected into both. A
 * copy is a creation and writes.
 *
 * <p>No other program, and no other recording, may change the directory during the recording.
 *
 * <p>Threads: any; {@link #trace} when no operation is under way. Failure: exceptions of the file
 * system below pass through, with its paths in them. Only operations that succeeded are recorded.
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
   * Returns the directory, seen through the recording.
   *
   * @return a path of this file system
   */
  public Path directory() {
    return wrap(base);
  }

  /**
   * Returns the clock from which operations take their places.
   *
   * @return the clock
   */
  public TraceClock clock() {
    return recorder.clock();
  }

  /**
   * Returns the trace so far. Also compares the names in the directory with the expected ones, and
   * notes a gap if they differ.
   *
   * @return the trace; complete if no operation is under way
   * @throws IllegalStateException if the recording keeps no trace
   */
  public Trace trace() {
    if (!recorder.keeping()) {
      throw new IllegalStateException("this recording keeps no trace");
    }
    operations.compare();
    return recorder.trace(start);
  }

  /**
   * Returns the gaps of the trace that have changed no file by themselves: a {@code java.io.File}
   * was made of a path, or there is a symbolic link or a second name of a file. If files are
   * changed that way later, they differ from the trace.
   *
   * @return some of the gaps of {@link #trace}
   */
  public Set<String> waysAround() {
    return recorder.waysAround();
  }

  /**
   * Ends the process that has worked here so far, and starts the next: the same directory and the
   * same trace, but paths of its own. All calls through the old paths and channels fail and leave
   * no trace. The channels are closed, so that their locks are free. When this returns, no
   * operation of the dead process is under way.
   *
   * @param faults decides before every operation of the next process
   * @return the recording as the next process sees it
   * @throws IOException if a channel cannot be closed
   */
  public RecordingFileSystem nextProcess(FaultInjector faults) throws IOException {
    recorder.end(names);
    return new RecordingFileSystem(base, start, names, new Recorder(recorder, faults));
  }

  /**
   * Returns the number of operations so far, of the threads that {@linkplain Builder#count count}.
   *
   * @return the counts
   */
  public IoCount counted() {
    return recorder.counter().snapshot();
  }

  /** The counterpart of a path of the file system below. */
  RecordingPath wrap(Path path) {
    return new RecordingPath(this, path);
  }

  /** The path in the file system below. */
  Path unwrap(Path path) {
    if (path instanceof RecordingPath ours && ours.getFileSystem() == this) {
      return ours.delegate();
    }
    if (path == null) {
      throw new NullPointerException("no path");
    }
    throw new ProviderMismatchException(path + " is no path of this recording");
  }

  /** The path in the file system below for a path relative to the directory. */
  Path below(String relative) {
    return base.resolve(relative);
  }

  /**
   * The names that lead from the directory to a path of the file system below; null if it is
   * outside.
   */
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

  /** Does nothing: paths and channels continue to work, and are still recorded. */
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

  /** The settings of a recording. */
  public static final class Builder {

    private final Path directory;
    private FaultInjector faults = FaultInjector.NOTHING;
    private TraceClock clock = new TraceClock();
    private boolean stacks = true;
    private boolean keepTrace = true;
    private @Nullable SlowForces slowForces;
    private Predicate<Thread> counted = thread -> true;

    private Builder(Path directory) {
      this.directory = directory;
    }

    /**
     * Sets the injector of faults; by default there are none.
     *
     * @param injector decides before every operation
     * @return this
     */
    public Builder faults(FaultInjector injector) {
      faults = injector;
      return this;
    }

    /**
     * Sets the clock from which operations take their places; by default a new one.
     *
     * @param order shared with promises
     * @return this
     */
    public Builder clock(TraceClock order) {
      clock = order;
      return this;
    }

    /**
     * Sets whether operations have call stacks; by default they have.
     *
     * @param wanted false to save time
     * @return this
     */
    public Builder stacks(boolean wanted) {
      stacks = wanted;
      return this;
    }

    /**
     * Sets whether there will be a {@link #trace}; by default there will. Without one there are
     * only faults and counts, and memory does not grow. A stale read needs the trace.
     *
     * @param wanted false for programs that run for a long time
     * @return this
     */
    public Builder keepTrace(boolean wanted) {
      keepTrace = wanted;
      return this;
    }

    /**
     * Makes forces slow; by default they are not. A random share of them waits until other threads
     * have changed the forced node, so that writes during a force, which it does not cover, occur
     * in the trace. A process with a single thread is not slowed down. Other processes wait a
     * millisecond at most, and no more after several waits without effect.
     *
     * @param seed of the random choices
     * @param when whether a force may be slow, called at each force
     * @return this
     */
    public Builder slowForces(long seed, BooleanSupplier when) {
      slowForces = new SlowForces(seed, when);
      return this;
    }

    /**
     * Sets which threads' operations are {@linkplain RecordingFileSystem#counted counted}; by
     * default all are. A count that leaves out threads in the background does not depend on how far
     * they come meanwhile.
     *
     * @param which is asked by the thread of each operation, about itself
     * @return this
     */
    public Builder count(Predicate<Thread> which) {
      counted = which;
      return this;
    }

    /**
     * Reads the initial content and begins to record.
     *
     * @return the recording
     * @throws IOException if the directory cannot be read
     */
    public RecordingFileSystem start() throws IOException {
      Path base = directory.toAbsolutePath().normalize();
      if (!Files.isDirectory(base)) {
        throw new NotDirectoryException(directory.toString());
      }
      Recorder recorder =
          new Recorder(clock, faults, stacks, keepTrace, slowForces, new IoCounter(counted));
      StartScan scan = new StartScan(recorder);
      DiskImage image = keepTrace ? scan.content(base) : scan.names(base);
      NameSpace names = new NameSpace();
      names.load(image);
      return new RecordingFileSystem(base, image, names, recorder);
    }
  }
}

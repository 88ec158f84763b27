package org.revenantdb.chaos.recording;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.URI;
import java.nio.channels.AsynchronousFileChannel;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.AccessMode;
import java.nio.file.CopyOption;
import java.nio.file.DirectoryStream;
import java.nio.file.FileStore;
import java.nio.file.FileSystem;
import java.nio.file.FileSystemAlreadyExistsException;
import java.nio.file.FileSystemNotFoundException;
import java.nio.file.LinkOption;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.FileAttributeView;
import java.nio.file.spi.FileSystemProvider;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import org.jspecify.annotations.Nullable;

/**
 * The provider that {@code Files} and every open of a channel calls. It unwraps paths and passes
 * changes to {@link NameOperations}, everything else to the provider below.
 *
 * <p>One for each {@link RecordingFileSystem}. It is not installed, so no URI leads here.
 */
final class RecordingProvider extends FileSystemProvider {

  static final String SCHEME = "recorded";

  private final RecordingFileSystem fileSystem;
  private final FileSystemProvider below;
  private final Recorder recorder;
  private final NameOperations operations;

  RecordingProvider(
      RecordingFileSystem fileSystem,
      FileSystemProvider below,
      Recorder recorder,
      NameOperations operations) {
    this.fileSystem = fileSystem;
    this.below = below;
    this.recorder = recorder;
    this.operations = operations;
  }

  @Override
  public String getScheme() {
    return SCHEME;
  }

  @Override
  public FileSystem newFileSystem(URI uri, Map<String, ?> env) {
    throw new FileSystemAlreadyExistsException("made by RecordingFileSystem.over only");
  }

  @Override
  public FileSystem getFileSystem(URI uri) {
    return fileSystem;
  }

  @Override
  public Path getPath(URI uri) {
    if (!SCHEME.equals(uri.getScheme())) {
      throw new FileSystemNotFoundException("not of a recording: " + uri);
    }
    return fileSystem.wrap(below.getPath(URI.create(uri.getSchemeSpecificPart())));
  }

  // Opening

  @Override
  public FileChannel newFileChannel(
      Path path, Set<? extends OpenOption> options, FileAttribute<?>... attributes)
      throws IOException {
    return operations.open(unwrap(path), options, /* interruptible= */ true, attributes);
  }

  @Override
  public SeekableByteChannel newByteChannel(
      Path path, Set<? extends OpenOption> options, FileAttribute<?>... attributes)
      throws IOException {
    return newFileChannel(path, options, attributes);
  }

  @Override
  public AsynchronousFileChannel newAsynchronousFileChannel(
      Path path,
      Set<? extends OpenOption> options,
      @Nullable ExecutorService executor,
      FileAttribute<?>... attributes)
      throws IOException {
    if (options.contains(StandardOpenOption.APPEND)) {
      throw new UnsupportedOperationException("APPEND");
    }
    return new RecordingAsynchronousChannel(
        operations.open(unwrap(path), options, /* interruptible= */ false, attributes),
        recorder,
        OpenMode.of(options),
        executor);
  }

  @Override
  public InputStream newInputStream(Path path, OpenOption... options) throws IOException {
    Set<OpenOption> all = new HashSet<>(List.of(options));
    if (all.contains(StandardOpenOption.APPEND) || all.contains(StandardOpenOption.WRITE)) {
      throw new UnsupportedOperationException("a stream to read cannot be opened to write");
    }
    all.add(StandardOpenOption.READ);
    return Channels.newInputStream(operations.open(unwrap(path), all, /* interruptible= */ false));
  }

  @Override
  public OutputStream newOutputStream(Path path, OpenOption... options) throws IOException {
    Set<OpenOption> all = new HashSet<>(List.of(options));
    if (all.contains(StandardOpenOption.READ)) {
      throw new IllegalArgumentException("a stream to write cannot be opened to read");
    }
    if (all.isEmpty()) {
      all.add(StandardOpenOption.CREATE);
      all.add(StandardOpenOption.TRUNCATE_EXISTING);
    }
    all.add(StandardOpenOption.WRITE);
    return Channels.newOutputStream(operations.open(unwrap(path), all, /* interruptible= */ false));
  }

  // Names

  @Override
  public void createDirectory(Path directory, FileAttribute<?>... attributes) throws IOException {
    operations.createDirectory(unwrap(directory), attributes);
  }

  @Override
  public void createLink(Path link, Path existing) throws IOException {
    operations.createLink(unwrap(link), unwrap(existing));
  }

  @Override
  public void createSymbolicLink(Path link, Path target, FileAttribute<?>... attributes)
      throws IOException {
    operations.createSymbolicLink(unwrap(link), unwrap(target), attributes);
  }

  @Override
  public Path readSymbolicLink(Path link) throws IOException {
    return fileSystem.wrap(below.readSymbolicLink(unwrap(link)));
  }

  @Override
  public void delete(Path path) throws IOException {
    operations.delete(unwrap(path));
  }

  @Override
  public void copy(Path source, Path target, CopyOption... options) throws IOException {
    operations.copy(unwrap(source), unwrap(target), options);
  }

  @Override
  public void move(Path source, Path target, CopyOption... options) throws IOException {
    operations.move(unwrap(source), unwrap(target), options);
  }

  @Override
  public DirectoryStream<Path> newDirectoryStream(
      Path directory, DirectoryStream.Filter<? super Path> filter) throws IOException {
    Path path = unwrap(directory);
    count(path);
    DirectoryStream<Path> entries =
        below.newDirectoryStream(path, entry -> filter.accept(fileSystem.wrap(entry)));
    return new Wrapped(entries);
  }

  // Queries

  @Override
  public boolean isSameFile(Path path, Path other) throws IOException {
    return path.equals(other)
        || (other.getFileSystem() == fileSystem && below.isSameFile(unwrap(path), unwrap(other)));
  }

  @Override
  public boolean isHidden(Path path) throws IOException {
    return below.isHidden(unwrap(path));
  }

  @Override
  public FileStore getFileStore(Path path) throws IOException {
    return below.getFileStore(unwrap(path));
  }

  @Override
  public void checkAccess(Path path, AccessMode... modes) throws IOException {
    below.checkAccess(counted(path), modes);
  }

  @Override
  public boolean exists(Path path, LinkOption... options) {
    return below.exists(counted(path), options);
  }

  @Override
  public <V extends FileAttributeView> @Nullable V getFileAttributeView(
      Path path, Class<V> type, LinkOption... options) {
    return below.getFileAttributeView(counted(path), type, options);
  }

  @Override
  public <A extends BasicFileAttributes> A readAttributes(
      Path path, Class<A> type, LinkOption... options) throws IOException {
    return below.readAttributes(counted(path), type, options);
  }

  @Override
  public <A extends BasicFileAttributes> @Nullable A readAttributesIfExists(
      Path path, Class<A> type, LinkOption... options) throws IOException {
    return below.readAttributesIfExists(counted(path), type, options);
  }

  @Override
  public Map<String, Object> readAttributes(Path path, String attributes, LinkOption... options)
      throws IOException {
    return below.readAttributes(counted(path), attributes, options);
  }

  @Override
  public void setAttribute(
      Path path, String attribute, @Nullable Object value, LinkOption... options)
      throws IOException {
    below.setAttribute(counted(path), attribute, value, options);
  }

  private Path unwrap(Path path) {
    return fileSystem.unwrap(path);
  }

  private Path counted(Path path) {
    Path below = unwrap(path);
    count(below);
    return below;
  }

  private void count(Path path) {
    if (fileSystem.locate(path) != null) {
      recorder.counter().other();
    }
  }

  /** The entries of a directory as paths of the recording. */
  private final class Wrapped implements DirectoryStream<Path> {

    private final DirectoryStream<Path> entries;

    Wrapped(DirectoryStream<Path> entries) {
      this.entries = entries;
    }

    @Override
    public Iterator<Path> iterator() {
      Iterator<Path> all = entries.iterator();
      return new Iterator<>() {
        @Override
        public boolean hasNext() {
          return all.hasNext();
        }

        @Override
        public Path next() {
          return fileSystem.wrap(all.next());
        }
      };
    }

    @Override
    public void close() throws IOException {
      entries.close();
    }
  }
}

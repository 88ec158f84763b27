package org.revenantdb.chaos.recording;

import java.io.File;
import java.io.IOException;
import java.net.URI;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.WatchEvent;
import java.nio.file.WatchKey;
import java.nio.file.WatchService;
import java.util.Iterator;
import org.jspecify.annotations.Nullable;

/** The counterpart of a path of the file system below. Immutable. */
final class RecordingPath implements Path {

  private final RecordingFileSystem fileSystem;
  private final Path delegate;

  RecordingPath(RecordingFileSystem fileSystem, Path delegate) {
    this.fileSystem = fileSystem;
    this.delegate = delegate;
  }

  Path delegate() {
    return delegate;
  }

  @Override
  public RecordingFileSystem getFileSystem() {
    return fileSystem;
  }

  @Override
  public boolean isAbsolute() {
    return delegate.isAbsolute();
  }

  @Override
  public @Nullable Path getRoot() {
    return wrapNullable(delegate.getRoot());
  }

  @Override
  public @Nullable Path getFileName() {
    return wrapNullable(delegate.getFileName());
  }

  @Override
  public @Nullable Path getParent() {
    return wrapNullable(delegate.getParent());
  }

  @Override
  public int getNameCount() {
    return delegate.getNameCount();
  }

  @Override
  public Path getName(int index) {
    return wrap(delegate.getName(index));
  }

  @Override
  public Path subpath(int beginIndex, int endIndex) {
    return wrap(delegate.subpath(beginIndex, endIndex));
  }

  @Override
  public boolean startsWith(Path other) {
    return other instanceof RecordingPath ours
        && ours.fileSystem == fileSystem
        && delegate.startsWith(ours.delegate);
  }

  @Override
  public boolean endsWith(Path other) {
    return other instanceof RecordingPath ours
        && ours.fileSystem == fileSystem
        && delegate.endsWith(ours.delegate);
  }

  @Override
  public Path normalize() {
    return wrap(delegate.normalize());
  }

  @Override
  public Path resolve(Path other) {
    return wrap(delegate.resolve(fileSystem.unwrap(other)));
  }

  @Override
  public Path relativize(Path other) {
    return wrap(delegate.relativize(fileSystem.unwrap(other)));
  }

  /** The URI of the file below. It does not open the file through this recording. */
  @Override
  public URI toUri() {
    return URI.create(RecordingProvider.SCHEME + ":" + delegate.toUri());
  }

  @Override
  public Path toAbsolutePath() {
    return wrap(delegate.toAbsolutePath());
  }

  @Override
  public Path toRealPath(LinkOption... options) throws IOException {
    return wrap(delegate.toRealPath(options));
  }

  @Override
  public File toFile() {
    fileSystem.recorder().wayAround("operations on a java.io.File cannot be recorded: " + delegate);
    return delegate.toFile();
  }

  @Override
  public WatchKey register(
      WatchService watcher, WatchEvent.Kind<?>[] events, WatchEvent.Modifier... modifiers) {
    throw new UnsupportedOperationException("a recording cannot watch directories");
  }

  @Override
  public Iterator<Path> iterator() {
    Iterator<Path> names = delegate.iterator();
    return new Iterator<>() {
      @Override
      public boolean hasNext() {
        return names.hasNext();
      }

      @Override
      public Path next() {
        return wrap(names.next());
      }
    };
  }

  @Override
  public int compareTo(Path other) {
    return delegate.compareTo(fileSystem.unwrap(other));
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof RecordingPath path
        && path.fileSystem == fileSystem
        && path.delegate.equals(delegate);
  }

  @Override
  public int hashCode() {
    return delegate.hashCode();
  }

  @Override
  public String toString() {
    return delegate.toString();
  }

  private RecordingPath wrap(Path path) {
    return new RecordingPath(fileSystem, path);
  }

  private @Nullable Path wrapNullable(@Nullable Path path) {
    return path == null ? null : wrap(path);
  }
}

package org.revenantdb.recovery.testing;

import java.io.IOException;
import java.net.URI;
import java.nio.file.FileSystem;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.WatchEvent;
import java.nio.file.WatchKey;
import java.nio.file.WatchService;

/** A real path that belongs to a {@link FaultyFileSystem}. */
final class FaultyPath implements Path {
  private final FaultyFileSystem system;
  private final Path real;

  FaultyPath(FaultyFileSystem system, Path real) {
    this.system = system;
    this.real = real;
  }

  Path real() {
    return real;
  }

  private Path wrap(Path path) {
    return path == null ? null : system.wrap(path);
  }

  private static Path unwrap(Path path) {
    return FaultyFileSystem.unwrap(path);
  }

  @Override
  public FileSystem getFileSystem() {
    return system;
  }

  @Override
  public boolean isAbsolute() {
    return real.isAbsolute();
  }

  @Override
  public Path getRoot() {
    return wrap(real.getRoot());
  }

  @Override
  public Path getFileName() {
    return wrap(real.getFileName());
  }

  @Override
  public Path getParent() {
    return wrap(real.getParent());
  }

  @Override
  public int getNameCount() {
    return real.getNameCount();
  }

  @Override
  public Path getName(int index) {
    return wrap(real.getName(index));
  }

  @Override
  public Path subpath(int begin, int end) {
    return wrap(real.subpath(begin, end));
  }

  @Override
  public boolean startsWith(Path other) {
    return real.startsWith(unwrap(other));
  }

  @Override
  public boolean endsWith(Path other) {
    return real.endsWith(unwrap(other));
  }

  @Override
  public Path normalize() {
    return wrap(real.normalize());
  }

  @Override
  public Path resolve(Path other) {
    return wrap(real.resolve(unwrap(other)));
  }

  @Override
  public Path relativize(Path other) {
    return wrap(real.relativize(unwrap(other)));
  }

  @Override
  public URI toUri() {
    return real.toUri();
  }

  @Override
  public Path toAbsolutePath() {
    return wrap(real.toAbsolutePath());
  }

  @Override
  public Path toRealPath(LinkOption... options) throws IOException {
    return wrap(real.toRealPath(options));
  }

  @Override
  public WatchKey register(
      WatchService watcher, WatchEvent.Kind<?>[] kinds, WatchEvent.Modifier... modifiers) {
    throw new UnsupportedOperationException();
  }

  @Override
  public int compareTo(Path other) {
    return real.compareTo(unwrap(other));
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof FaultyPath path && path.system == system && path.real.equals(real);
  }

  @Override
  public int hashCode() {
    return real.hashCode();
  }

  @Override
  public String toString() {
    return real.toString();
  }
}

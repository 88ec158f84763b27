package org.revenantdb.recovery.testing;

import java.net.URI;
import java.nio.file.FileSystem;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.WatchEvent;
import java.nio.file.WatchKey;
import java.nio.file.WatchService;

/** A name on a {@link CrashDisk}; another path does the arithmetic. */
final class CrashPath implements Path {
  private final CrashDisk disk;
  private final Path name;

  CrashPath(CrashDisk disk, Path name) {
    this.disk = disk;
    this.name = name;
  }

  private Path wrap(Path path) {
    return path == null ? null : new CrashPath(disk, path);
  }

  private static Path unwrap(Path path) {
    return path instanceof CrashPath crash ? crash.name : path;
  }

  @Override
  public FileSystem getFileSystem() {
    return disk;
  }

  @Override
  public boolean isAbsolute() {
    return name.isAbsolute();
  }

  @Override
  public Path getRoot() {
    return wrap(name.getRoot());
  }

  @Override
  public Path getFileName() {
    return wrap(name.getFileName());
  }

  @Override
  public Path getParent() {
    return wrap(name.getParent());
  }

  @Override
  public int getNameCount() {
    return name.getNameCount();
  }

  @Override
  public Path getName(int index) {
    return wrap(name.getName(index));
  }

  @Override
  public Path subpath(int begin, int end) {
    return wrap(name.subpath(begin, end));
  }

  @Override
  public boolean startsWith(Path other) {
    return name.startsWith(unwrap(other));
  }

  @Override
  public boolean endsWith(Path other) {
    return name.endsWith(unwrap(other));
  }

  @Override
  public Path normalize() {
    return wrap(name.normalize());
  }

  @Override
  public Path resolve(Path other) {
    return wrap(name.resolve(unwrap(other)));
  }

  @Override
  public Path relativize(Path other) {
    return wrap(name.relativize(unwrap(other)));
  }

  @Override
  public URI toUri() {
    throw new UnsupportedOperationException();
  }

  @Override
  public Path toAbsolutePath() {
    return wrap(name.toAbsolutePath());
  }

  @Override
  public Path toRealPath(LinkOption... options) {
    return toAbsolutePath();
  }

  @Override
  public WatchKey register(
      WatchService watcher, WatchEvent.Kind<?>[] kinds, WatchEvent.Modifier... modifiers) {
    throw new UnsupportedOperationException();
  }

  @Override
  public int compareTo(Path other) {
    return name.compareTo(unwrap(other));
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof CrashPath path && path.disk == disk && path.name.equals(name);
  }

  @Override
  public int hashCode() {
    return name.hashCode();
  }

  @Override
  public String toString() {
    return name.toString();
  }
}

package org.revenantdb.recovery.testing;

import java.io.IOException;
import java.net.URI;
import java.nio.channels.FileChannel;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.AccessMode;
import java.nio.file.CopyOption;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileStore;
import java.nio.file.FileSystem;
import java.nio.file.LinkOption;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.FileAttributeView;
import java.nio.file.spi.FileSystemProvider;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Does what the real provider does, after it asked its file system. */
final class FaultyProvider extends FileSystemProvider {
  private static final Set<StandardOpenOption> CHANGING =
      EnumSet.of(
          StandardOpenOption.WRITE,
          StandardOpenOption.APPEND,
          StandardOpenOption.CREATE,
          StandardOpenOption.CREATE_NEW,
          StandardOpenOption.TRUNCATE_EXISTING,
          StandardOpenOption.DELETE_ON_CLOSE);

  private final FaultyFileSystem system;
  private final FileSystemProvider real;

  FaultyProvider(FaultyFileSystem system, FileSystemProvider real) {
    this.system = system;
    this.real = real;
  }

  @Override
  public FileChannel newFileChannel(
      Path path, Set<? extends OpenOption> options, FileAttribute<?>... attributes)
      throws IOException {
    Path file = FaultyFileSystem.unwrap(path);
    system.happens(IoEvent.Kind.OPEN, file, 0, 0);
    boolean changes = !Collections.disjoint(options, CHANGING);
    if (changes) {
      system.checkWritable(file);
    }
    FileChannel channel = real.newFileChannel(file, options, attributes);
    if (changes) {
      system.opensForWriting(file);
    }
    return new FaultyChannel(system, file, channel);
  }

  @Override
  public SeekableByteChannel newByteChannel(
      Path path, Set<? extends OpenOption> options, FileAttribute<?>... attributes)
      throws IOException {
    return newFileChannel(
        path, options.isEmpty() ? Set.of(StandardOpenOption.READ) : options, attributes);
  }

  @Override
  public DirectoryStream<Path> newDirectoryStream(
      Path directory, DirectoryStream.Filter<? super Path> filter) throws IOException {
    List<Path> entries = new ArrayList<>();
    try (DirectoryStream<Path> stream =
        real.newDirectoryStream(
            FaultyFileSystem.unwrap(directory), entry -> filter.accept(system.wrap(entry)))) {
      stream.forEach(entry -> entries.add(system.wrap(entry)));
    } catch (DirectoryIteratorException failed) {
      throw failed.getCause();
    }
    entries.sort(Comparator.comparing(Path::toString)); // the same for every run and machine
    return new DirectoryStream<>() {
      @Override
      public Iterator<Path> iterator() {
        return entries.iterator();
      }

      @Override
      public void close() {}
    };
  }

  @Override
  public void createDirectory(Path path, FileAttribute<?>... attributes) throws IOException {
    Path directory = FaultyFileSystem.unwrap(path);
    system.happens(IoEvent.Kind.CREATE_DIRECTORY, directory, 0, 0);
    system.checkWritable(directory);
    real.createDirectory(directory, attributes);
  }

  @Override
  public void delete(Path path) throws IOException {
    Path file = FaultyFileSystem.unwrap(path);
    system.happens(IoEvent.Kind.DELETE, file, 0, 0);
    system.checkWritable(file);
    real.delete(file);
    system.deleted(file);
  }

  @Override
  public void copy(Path from, Path to, CopyOption... options) {
    throw new UnsupportedOperationException("not used by the engine");
  }

  @Override
  public void move(Path from, Path to, CopyOption... options) throws IOException {
    Path source = FaultyFileSystem.unwrap(from);
    Path target = FaultyFileSystem.unwrap(to);
    system.happens(IoEvent.Kind.RENAME, target, 0, 0);
    system.checkWritable(target);
    real.move(source, target, options);
    system.renamed(source, target);
  }

  @Override
  public boolean isSameFile(Path one, Path other) throws IOException {
    return real.isSameFile(FaultyFileSystem.unwrap(one), FaultyFileSystem.unwrap(other));
  }

  @Override
  public boolean isHidden(Path path) throws IOException {
    return real.isHidden(FaultyFileSystem.unwrap(path));
  }

  @Override
  public FileStore getFileStore(Path path) throws IOException {
    return real.getFileStore(FaultyFileSystem.unwrap(path));
  }

  @Override
  public void checkAccess(Path path, AccessMode... modes) throws IOException {
    Path file = FaultyFileSystem.unwrap(path);
    system.checkVisible(file);
    real.checkAccess(file, modes);
    for (AccessMode mode : modes) {
      if (mode == AccessMode.WRITE) {
        system.checkWritable(file);
      }
    }
  }

  @Override
  public <V extends FileAttributeView> V getFileAttributeView(
      Path path, Class<V> type, LinkOption... options) {
    return real.getFileAttributeView(FaultyFileSystem.unwrap(path), type, options);
  }

  @Override
  public <A extends BasicFileAttributes> A readAttributes(
      Path path, Class<A> type, LinkOption... options) throws IOException {
    Path file = FaultyFileSystem.unwrap(path);
    system.checkVisible(file);
    return real.readAttributes(file, type, options);
  }

  @Override
  public Map<String, Object> readAttributes(Path path, String attributes, LinkOption... options)
      throws IOException {
    Path file = FaultyFileSystem.unwrap(path);
    system.checkVisible(file);
    return real.readAttributes(file, attributes, options);
  }

  @Override
  public void setAttribute(Path path, String attribute, Object value, LinkOption... options)
      throws IOException {
    real.setAttribute(FaultyFileSystem.unwrap(path), attribute, value, options);
  }

  @Override
  public String getScheme() {
    return "faulty";
  }

  @Override
  public FileSystem newFileSystem(URI uri, Map<String, ?> settings) {
    throw new UnsupportedOperationException("made by its constructor");
  }

  @Override
  public FileSystem getFileSystem(URI uri) {
    return system;
  }

  @Override
  public Path getPath(URI uri) {
    throw new UnsupportedOperationException("has no addresses");
  }
}

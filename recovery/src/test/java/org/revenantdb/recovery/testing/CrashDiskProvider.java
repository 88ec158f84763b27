package org.revenantdb.recovery.testing;

import java.io.IOException;
import java.net.URI;
import java.nio.channels.FileChannel;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.AccessMode;
import java.nio.file.CopyOption;
import java.nio.file.DirectoryStream;
import java.nio.file.FileStore;
import java.nio.file.FileSystem;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.FileAttributeView;
import java.nio.file.attribute.FileTime;
import java.nio.file.spi.FileSystemProvider;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** What {@code java.nio.file} asks of a {@link CrashDisk}; every unknown name is a directory. */
final class CrashDiskProvider extends FileSystemProvider {
  private final CrashDisk disk;

  CrashDiskProvider(CrashDisk disk) {
    this.disk = disk;
  }

  @Override
  public FileChannel newFileChannel(
      Path path, Set<? extends OpenOption> options, FileAttribute<?>... attributes)
      throws IOException {
    if (!options.contains(StandardOpenOption.WRITE) && !disk.exists(path) && isDirectory(path)) {
      return new CrashChannel(disk, null);
    }
    boolean create = options.contains(StandardOpenOption.CREATE) && !disk.exists(path);
    return new CrashChannel(
        disk, disk.open(path, create || options.contains(StandardOpenOption.CREATE_NEW)));
  }

  /** Names without a dot in their last part are directories. */
  private static boolean isDirectory(Path path) {
    return path.getFileName() == null || path.getFileName().toString().indexOf('.') < 0;
  }

  @Override
  public SeekableByteChannel newByteChannel(
      Path path, Set<? extends OpenOption> options, FileAttribute<?>... attributes)
      throws IOException {
    return newFileChannel(path, options, attributes);
  }

  @Override
  public DirectoryStream<Path> newDirectoryStream(
      Path directory, DirectoryStream.Filter<? super Path> filter) {
    List<Path> paths = disk.list(directory).stream().map(disk::path).toList();
    return new DirectoryStream<>() {
      @Override
      public Iterator<Path> iterator() {
        return paths.iterator();
      }

      @Override
      public void close() {}
    };
  }

  @Override
  public void createDirectory(Path directory, FileAttribute<?>... attributes) {}

  @Override
  public void delete(Path path) throws IOException {
    if (disk.exists(path) || !isDirectory(path)) {
      disk.delete(path);
    }
  }

  @Override
  public void copy(Path source, Path target, CopyOption... options) {
    throw new UnsupportedOperationException();
  }

  @Override
  public void move(Path source, Path target, CopyOption... options) throws IOException {
    disk.rename(source, target);
  }

  @Override
  public boolean isSameFile(Path path, Path other) {
    return path.equals(other);
  }

  @Override
  public boolean isHidden(Path path) {
    return false;
  }

  @Override
  public FileStore getFileStore(Path path) {
    throw new UnsupportedOperationException();
  }

  @Override
  public void checkAccess(Path path, AccessMode... modes) throws IOException {
    if (!disk.exists(path) && !isDirectory(path)) {
      throw new NoSuchFileException(path.toString());
    }
  }

  @Override
  public <V extends FileAttributeView> V getFileAttributeView(
      Path path, Class<V> type, LinkOption... options) {
    return null;
  }

  @Override
  public <A extends BasicFileAttributes> A readAttributes(
      Path path, Class<A> type, LinkOption... options) throws IOException {
    checkAccess(path);
    long size = disk.sizeIfFile(path); // of this moment: a file may go before it is asked for
    boolean directory = size < 0;
    if (directory) {
      checkAccess(path); // it may have been a file that has just gone
    }
    return type.cast(
        new BasicFileAttributes() {
          @Override
          public FileTime lastModifiedTime() {
            return FileTime.fromMillis(0);
          }

          @Override
          public FileTime lastAccessTime() {
            return FileTime.fromMillis(0);
          }

          @Override
          public FileTime creationTime() {
            return FileTime.fromMillis(0);
          }

          @Override
          public boolean isRegularFile() {
            return !directory;
          }

          @Override
          public boolean isDirectory() {
            return directory;
          }

          @Override
          public boolean isSymbolicLink() {
            return false;
          }

          @Override
          public boolean isOther() {
            return false;
          }

          @Override
          public long size() {
            return directory ? 0 : size;
          }

          @Override
          public Object fileKey() {
            return null;
          }
        });
  }

  @Override
  public Map<String, Object> readAttributes(Path path, String attributes, LinkOption... options) {
    throw new UnsupportedOperationException();
  }

  @Override
  public void setAttribute(Path path, String attribute, Object value, LinkOption... options) {
    throw new UnsupportedOperationException();
  }

  @Override
  public String getScheme() {
    return "crash";
  }

  @Override
  public FileSystem newFileSystem(URI uri, Map<String, ?> settings) {
    throw new UnsupportedOperationException();
  }

  @Override
  public FileSystem getFileSystem(URI uri) {
    return disk;
  }

  @Override
  public Path getPath(URI uri) {
    throw new UnsupportedOperationException();
  }
}

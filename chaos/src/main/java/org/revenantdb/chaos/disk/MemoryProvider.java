package org.revenantdb.chaos.disk;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousFileChannel;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.AccessMode;
import java.nio.file.CopyOption;
import java.nio.file.DirectoryStream;
import java.nio.file.FileStore;
import java.nio.file.FileSystem;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.ProviderMismatchException;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributeView;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.FileAttributeView;
import java.nio.file.attribute.FileOwnerAttributeView;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.spi.FileSystemProvider;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import org.jspecify.annotations.Nullable;

/**
 * The provider that {@code Files} and {@code FileChannel.open} call. Every file system in memory
 * has its own.
 */
final class MemoryProvider extends FileSystemProvider {

  private static final int COPY = 1 << 16;
  private static final Set<StandardOpenOption> REWRITE =
      EnumSet.of(StandardOpenOption.CREATE, StandardOpenOption.TRUNCATE_EXISTING);

  private final MemoryFileSystem fileSystem;
  private final NameSpace names;

  MemoryProvider(MemoryFileSystem fileSystem, NameSpace names) {
    this.fileSystem = fileSystem;
    this.names = names;
  }

  /** A path of this file system. */
  private MemoryPath own(Path path) {
    if (Objects.requireNonNull(path) instanceof MemoryPath memory
        && memory.getFileSystem() == fileSystem) {
      return memory;
    }
    throw new ProviderMismatchException(path + " is not of this file system");
  }

  // ---- by URI: the provider is not installed, so only the methods that the interface requires
  // ----

  @Override
  public String getScheme() {
    return MemoryPath.SCHEME;
  }

  @Override
  public FileSystem newFileSystem(URI uri, Map<String, ?> environment) {
    throw new UnsupportedOperationException("a file system in memory is made from an image");
  }

  @Override
  public FileSystem getFileSystem(URI uri) {
    checkScheme(uri);
    return fileSystem;
  }

  @Override
  public Path getPath(URI uri) {
    checkScheme(uri);
    return fileSystem.getPath(uri.getPath());
  }

  private static void checkScheme(URI uri) {
    if (!MemoryPath.SCHEME.equalsIgnoreCase(uri.getScheme())) {
      throw new IllegalArgumentException(uri + " is not of the scheme " + MemoryPath.SCHEME);
    }
  }

  // ---- opening ----

  @Override
  public FileChannel newFileChannel(
      Path path, Set<? extends OpenOption> options, FileAttribute<?>... attributes)
      throws IOException {
    return open(path, options, /* interruptible= */ true, attributes);
  }

  @Override
  public SeekableByteChannel newByteChannel(
      Path path, Set<? extends OpenOption> options, FileAttribute<?>... attributes)
      throws IOException {
    return open(path, options, /* interruptible= */ true, attributes);
  }

  private MemoryFileChannel open(
      Path path,
      Set<? extends OpenOption> options,
      boolean interruptible,
      FileAttribute<?>... attributes)
      throws IOException {
    Set<PosixFilePermission> permissions = Permissions.of(Permissions.FILE, attributes);
    return names.open(
        own(path),
        OpenMode.of(options),
        permissions,
        file -> new MemoryFileChannel(file, names, interruptible));
  }

  @Override
  public AsynchronousFileChannel newAsynchronousFileChannel(
      Path path,
      Set<? extends OpenOption> options,
      @Nullable ExecutorService executor,
      FileAttribute<?>... attributes)
      throws IOException {
    Set<PosixFilePermission> permissions = Permissions.of(Permissions.FILE, attributes);
    return names.open(
        own(path),
        OpenMode.ofAsynchronous(options),
        permissions,
        file -> new MemoryAsynchronousChannel(file, names, executor));
  }

  // Streams are not interruptible, unlike the channels that the default methods would open.

  @Override
  public InputStream newInputStream(Path path, OpenOption... options) throws IOException {
    Set<OpenOption> all = Set.copyOf(Arrays.asList(options));
    if (all.contains(StandardOpenOption.APPEND) || all.contains(StandardOpenOption.WRITE)) {
      throw new UnsupportedOperationException("a stream for reading, with " + all);
    }
    return Channels.newInputStream(open(path, all, /* interruptible= */ false));
  }

  @Override
  public OutputStream newOutputStream(Path path, OpenOption... options) throws IOException {
    Set<OpenOption> all = new HashSet<>(options.length == 0 ? REWRITE : Arrays.asList(options));
    if (all.contains(StandardOpenOption.READ)) {
      throw new IllegalArgumentException("READ not allowed");
    }
    all.add(StandardOpenOption.WRITE);
    return Channels.newOutputStream(open(path, all, /* interruptible= */ false));
  }

  @Override
  public DirectoryStream<Path> newDirectoryStream(
      Path path, DirectoryStream.Filter<? super Path> filter) throws IOException {
    Objects.requireNonNull(filter);
    MemoryPath directory = own(path);
    MemoryDirectoryStream stream =
        new MemoryDirectoryStream(directory, names.list(directory), filter, names);
    names.keep(stream);
    return stream;
  }

  // ---- names ----

  @Override
  public void createDirectory(Path path, FileAttribute<?>... attributes) throws IOException {
    names.createDirectory(own(path), Permissions.of(Permissions.DIRECTORY, attributes));
  }

  @Override
  public void createSymbolicLink(Path link, Path target, FileAttribute<?>... attributes) {
    throw new UnsupportedOperationException("a file system in memory has no symbolic links");
  }

  @Override
  public Path readSymbolicLink(Path link) {
    throw new UnsupportedOperationException("a file system in memory has no symbolic links");
  }

  @Override
  public void createLink(Path link, Path existing) throws IOException {
    names.createLink(own(link), own(existing));
  }

  @Override
  public void delete(Path path) throws IOException {
    if (!names.delete(own(path))) {
      throw new NoSuchFileException(path.toString());
    }
  }

  @Override
  public boolean deleteIfExists(Path path) throws IOException {
    return names.delete(own(path));
  }

  @Override
  public void move(Path source, Path target, CopyOption... options) throws IOException {
    boolean atomic = false;
    boolean replace = false;
    for (CopyOption option : options) {
      switch (Objects.requireNonNull(option)) {
        case StandardCopyOption.ATOMIC_MOVE -> atomic = true;
        case StandardCopyOption.REPLACE_EXISTING -> replace = true;
        case LinkOption.NOFOLLOW_LINKS -> {}
        default -> throw new UnsupportedOperationException("Unsupported option: " + option);
      }
    }
    if (atomic) {
      names.rename(own(source), own(target));
    } else {
      names.move(own(source), own(target), replace);
    }
  }

  @Override
  public void copy(Path source, Path target, CopyOption... options) throws IOException {
    boolean replace = false;
    boolean attributes = false;
    for (CopyOption option : options) {
      switch (Objects.requireNonNull(option)) {
        case StandardCopyOption.REPLACE_EXISTING -> replace = true;
        case StandardCopyOption.COPY_ATTRIBUTES -> attributes = true;
        case LinkOption.NOFOLLOW_LINKS -> {}
        default -> throw new UnsupportedOperationException("Unsupported copy option: " + option);
      }
    }
    Node original = names.beforeCopy(own(source), own(target), replace);
    if (original == null) {
      return;
    }
    Set<PosixFilePermission> permissions = Permissions.masked(original.permissions);
    if (original.isDirectory()) {
      names.createDirectory(own(target), permissions);
    } else {
      copyBytes(own(source), own(target), permissions);
    }
    if (attributes) {
      Node copy = names.get(own(target));
      copy.permissions = original.permissions;
      copy.owner = original.owner;
      copy.group = original.group;
      copy.accessed = original.accessed;
      copy.modified = original.modified;
    }
  }

  private void copyBytes(MemoryPath source, MemoryPath target, Set<PosixFilePermission> permissions)
      throws IOException {
    try (FileChannel from = channel(source, OpenMode.READ, Permissions.FILE);
        FileChannel to = channel(target, OpenMode.CREATE_NEW, permissions)) {
      ByteBuffer buffer = ByteBuffer.allocate((int) Math.min(COPY, from.size() + 1));
      while (from.read(buffer) >= 0) {
        to.write(buffer.flip());
        buffer.clear();
      }
    }
  }

  private FileChannel channel(MemoryPath path, OpenMode mode, Set<PosixFilePermission> permissions)
      throws IOException {
    return names.open(
        path,
        mode,
        permissions,
        file -> new MemoryFileChannel(file, names, /* interruptible= */ false));
  }

  // ---- queries ----

  @Override
  public boolean isSameFile(Path path, Path other) throws IOException {
    MemoryPath first = own(path);
    if (first.equals(Objects.requireNonNull(other))) {
      return true;
    }
    return other instanceof MemoryPath second
        && second.getFileSystem() == fileSystem
        && names.get(first).number == names.get(second).number;
  }

  @Override
  public boolean isHidden(Path path) {
    MemoryPath name = own(path).getFileName();
    fileSystem.ensureOpen();
    return name != null && name.toString().startsWith(".");
  }

  @Override
  public FileStore getFileStore(Path path) throws IOException {
    names.get(own(path));
    return MemoryFileStore.ONLY;
  }

  @Override
  public boolean exists(Path path, LinkOption... options) {
    return names.find(own(path)) != null;
  }

  @Override
  public void checkAccess(Path path, AccessMode... modes) throws IOException {
    Node node = names.find(own(path));
    if (node == null) {
      throw new NoSuchFileException(path.toString());
    }
    // Root may do everything, except execute a file without any execute permission.
    if (Arrays.asList(modes).contains(AccessMode.EXECUTE)
        && !node.isDirectory()
        && node.permissions.stream().noneMatch(each -> each.name().endsWith("EXECUTE"))) {
      throw new AccessDeniedException(path.toString());
    }
  }

  @Override
  public <V extends FileAttributeView> @Nullable V getFileAttributeView(
      Path path, Class<V> type, LinkOption... options) {
    String view;
    if (type == BasicFileAttributeView.class) {
      view = "basic";
    } else if (type == PosixFileAttributeView.class) {
      view = "posix";
    } else if (type == FileOwnerAttributeView.class) {
      view = "owner";
    } else {
      Objects.requireNonNull(type);
      return null;
    }
    return type.cast(new MemoryAttributeView(view, own(path), names));
  }

  @Override
  public <A extends BasicFileAttributes> A readAttributes(
      Path path, Class<A> type, LinkOption... options) throws IOException {
    checkAttributes(type);
    return type.cast(MemoryAttributes.of(names, own(path)));
  }

  private static void checkAttributes(Class<? extends BasicFileAttributes> type) {
    if (type != BasicFileAttributes.class && type != PosixFileAttributes.class) {
      throw new UnsupportedOperationException("no attributes of " + type);
    }
  }

  @Override
  public <A extends BasicFileAttributes> @Nullable A readAttributesIfExists(
      Path path, Class<A> type, LinkOption... options) {
    checkAttributes(type);
    Node node = names.find(own(path));
    return node == null ? null : type.cast(MemoryAttributes.of(names, node));
  }

  @Override
  public Map<String, Object> readAttributes(Path path, String attributes, LinkOption... options)
      throws IOException {
    return AttributeNames.read(new MemoryAttributeView("posix", own(path), names), attributes);
  }

  @Override
  public void setAttribute(
      Path path, String attribute, @Nullable Object value, LinkOption... options)
      throws IOException {
    AttributeNames.set(new MemoryAttributeView("posix", own(path), names), attribute, value);
  }
}

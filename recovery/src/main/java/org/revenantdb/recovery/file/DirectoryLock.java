package org.revenantdb.recovery.file;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.ReadOnlyFileSystemException;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileAttribute;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Lets only one opener at a time use a database: with a lock of the operating system on the
 * database's lock file, and a table of the directories that this JVM has open.
 *
 * <p>There is either one exclusive holder, or any number of shared holders, which only read. The
 * exclusive holder writes its name to the file. While the holder is alive, its name also keeps
 * others out, since the lock can be lost. The file is never deleted: one process could lock the
 * deleted file while another one creates and locks a new one.
 *
 * <p>Threads: any. The lock belongs to the process, not to the thread.
 *
 * <p>Failure: {@link DatabaseLockedException} if another opener has it; other {@link
 * FileException}s if the file cannot be opened or locked.
 */
public final class DirectoryLock implements AutoCloseable {
  /*
   * Why there is a table. The system's lock belongs to the process, and on POSIX systems *closing
   * any channel of the file releases it*. So a second opener in this JVM must be refused before it
   * touches the file (OpenInThisJvm, for all class loaders), and all shared holders use one channel.
   *
   * Why the text counts. Code of the user can open and close the file, too: a backup that copies the directory does.
   * So an opener that gets the lock reads the text, and is refused if the text names a live process (LockText,
   * ProcessIdentity). If that cannot be found out, on another host or in another container, only the lock counts, and
   * Ownership stops the engine that has lost its database. The table is in docs/protocols.md §42.
   *
   * The locked byte lies far behind the text, because on some systems a locked byte cannot be read.
   */

  /** Name of the lock file in the database's directory. */
  public static final String FILE_NAME = "revenant.lock";

  private static final long LOCKED_BYTE = 1L << 30;

  private static final Set<OpenOption> EXCLUSIVE_OPTIONS =
      Set.of(StandardOpenOption.READ, StandardOpenOption.WRITE, StandardOpenOption.CREATE);

  /**
   * Identifies a directory, under any name. What a record does by itself needs half a dozen method
   * handles at its first use, which is before the first row of a database.
   */
  private record Key(
      @Nullable FileSystem fileSystem, Object directory, @Nullable String nameInJvm) {
    @Override
    public boolean equals(@Nullable Object other) {
      return other instanceof Key key
          && directory.equals(key.directory)
          && Objects.equals(fileSystem, key.fileSystem)
          && Objects.equals(nameInJvm, key.nameInJvm);
    }

    @Override
    public int hashCode() {
      return directory.hashCode();
    }
  }

  /** What this copy of the library holds on one directory. */
  private static final class Held {
    final boolean shared;
    final LockFile file;
    final String jvmText;
    int holders = 1;

    Held(boolean shared, LockFile file, String jvmText) {
      this.shared = shared;
      this.file = file;
      this.jvmText = jvmText;
    }
  }

  /**
   * An open, locked file; without a channel if the directory cannot be written to.
   *
   * @param former the former content of the file
   * @param ofCopy whether that content was copied from another lock file, which was held then
   */
  private record LockFile(
      Path path,
      @Nullable FileChannel channel,
      Ownership ownership,
      byte[] former,
      boolean ofCopy) {}

  /**
   * Identifies a channel that must not be closed, since that would release the lock of another
   * holder.
   */
  private record Kept(Key key, boolean shared) {
    @Override
    public boolean equals(@Nullable Object other) {
      return other instanceof Kept kept && key.equals(kept.key) && shared == kept.shared;
    }

    @Override
    public int hashCode() {
      return key.hashCode();
    }
  }

  /**
   * Also the monitor that guards it. It is held while the lock file is opened, which takes a short
   * time.
   */
  private static final Map<Key, Held> TABLE = new HashMap<>();

  /**
   * Channels that must not be closed: at most two for a directory. The next attempt reuses them.
   * They exist only because of holders that are not in {@link OpenInThisJvm}.
   */
  private static final Map<Kept, FileChannel> NEVER_CLOSED = new HashMap<>();

  private final Key key;
  private final Ownership ownership;
  private final boolean ofCopy;
  private boolean open = true;
  private boolean putsBack;

  private DirectoryLock(Key key, LockFile file) {
    this.key = key;
    this.ownership = file.ownership;
    this.ofCopy = file.ofCopy;
  }

  /**
   * Locks a directory.
   *
   * @param directory the database's directory, which must exist
   * @param shared whether others may have it open too; then no process writes to it. If the
   *     directory cannot be written to and has no lock file, a shared lock holds only in this JVM.
   * @return the lock; closing it releases it
   * @throws DatabaseLockedException if another opener has the directory
   */
  public static DirectoryLock acquire(Path directory, boolean shared) {
    Key key = key(directory);
    Path path = directory.resolve(FILE_NAME);
    synchronized (TABLE) {
      @Nullable Held held = TABLE.get(key);
      if (held != null && !(shared && held.shared)) {
        throw lockedHere(path, held.shared);
      }
      if (held == null) {
        held = firstHere(key, path, shared);
        TABLE.put(key, held);
      } else {
        held.holders++;
      }
      return new DirectoryLock(key, held.file);
    }
  }

  /** Refused before the file is touched if another copy of the library in this JVM has it. */
  private static Held firstHere(Key key, Path path, boolean shared) {
    String text =
        (shared ? "read-only" : "for writing")
            + " since "
            + LockText.now()
            + " "
            + LockText.newToken();
    @Nullable String other = OpenInThisJvm.enter(key.nameInJvm, text);
    if (other != null) {
      throw lockedByAnotherCopy(path, other.substring(0, Math.max(0, other.lastIndexOf(' '))));
    }
    boolean locked = false;
    try {
      Held held = new Held(shared, lock(key, path, shared), text);
      locked = true;
      return held;
    } finally {
      if (!locked) {
        OpenInThisJvm.leave(key.nameInJvm, text);
      }
    }
  }

  /**
   * The ownership, which must be checked before each write to the directory.
   *
   * @return the ownership; for a shared lock, one whose checks never fail
   */
  public Ownership ownership() {
    return ownership;
  }

  /**
   * Whether the directory is a copy of one that was in use, or had not been closed, when it was
   * copied. Its files may be of different moments.
   *
   * @return true if the text of the lock file is that of another lock file
   */
  public boolean isOfCopy() {
    return ofCopy;
  }

  /** Makes the close restore the former content of the lock file. Called if the open has failed. */
  public void putBack() {
    putsBack = true;
  }

  private static Key key(Path directory) {
    try {
      BasicFileAttributes attributes = Files.readAttributes(directory, BasicFileAttributes.class);
      if (!attributes.isDirectory()) {
        throw new NotADatabaseException(
            directory,
            FileException.NO_OFFSET,
            "this is a file, but a database is a directory",
            "check the path",
            /* cause= */ null);
      }
      @Nullable Object fileKey = attributes.fileKey();
      FileSystem system = directory.getFileSystem();
      return new Key(
          system.equals(FileSystems.getDefault()) ? null : system,
          fileKey == null ? directory.toRealPath() : fileKey,
          OpenInThisJvm.nameOf(attributes));
    } catch (IOException failed) {
      throw IoFailures.of(
          directory, FileException.NO_OFFSET, "looking for the database's directory", failed);
    }
  }

  private static LockFile lock(Key key, Path path, boolean shared) {
    Kept kept = new Kept(key, shared);
    @Nullable FileChannel before = NEVER_CLOSED.remove(kept);
    @Nullable FileChannel channel = before != null ? before : open(path, shared);
    if (channel == null) {
      return new LockFile(path, null, Ownership.none(), new byte[0], /* ofCopy= */ false);
    }
    boolean done = false;
    boolean mayClose = true;
    try {
      if (!tryLock(channel, shared)) {
        throw lockedElsewhere(path, read(channel));
      }
      LockFile file = owned(path, channel, shared);
      done = true;
      return file;
    } catch (OverlappingFileLockException overlapping) {
      mayClose = false;
      NEVER_CLOSED.put(kept, channel);
      throw lockedHere(path, /* shared= */ false);
    } catch (IOException failed) {
      throw IoFailures.of(
          path, FileException.NO_OFFSET, "locking the database", failed, /* room= */ 1);
    } finally {
      if (!done && mayClose) {
        closeQuietly(channel);
      }
    }
  }

  /**
   * The lock file, after the lock of the system was acquired. That lock alone proves little: see
   * the class comment.
   */
  private static LockFile owned(Path path, FileChannel channel, boolean shared) throws IOException {
    FileIdentity identity = FileIdentity.of(path);
    String file = identity.key().toString();
    byte[] former = LockText.read(channel);
    LockText owner = LockText.parse(former);
    if (owner.namesALiveOwnerOf(file)) {
      throw lockLost(path, owner);
    }
    boolean ofCopy = owner.isOfOtherThan(file);
    if (shared) {
      return new LockFile(path, channel, Ownership.none(), former, ofCopy);
    }
    @Nullable Path parent = path.toAbsolutePath().getParent();
    FileIdentity directory = FileIdentity.of(parent == null ? path : parent);
    byte[] text = leaveName(channel, LockText.mine(file));
    return new LockFile(
        path, channel, Ownership.of(path, directory, identity, channel, text), former, ofCopy);
  }

  private static LockText read(FileChannel channel) {
    try {
      return LockText.parse(LockText.read(channel));
    } catch (IOException unreadable) {
      return LockText.parse(new byte[0]);
    }
  }

  /**
   * Writes the name and returns the content of the file after that. A full disk must not prevent
   * opening a database, so the name may be missing.
   */
  private static byte[] leaveName(FileChannel channel, LockText mine) throws IOException {
    try {
      LockText.write(channel, mine.bytes());
    } catch (IOException failed) {
      if (!channel.isOpen()) {
        throw failed;
      }
    }
    return LockText.read(channel);
  }

  private static boolean tryLock(FileChannel channel, boolean shared) throws IOException {
    try {
      @Nullable FileLock lock = channel.tryLock(LOCKED_BYTE, 1, shared);
      return lock != null;
    } catch (UnsupportedOperationException inMemory) {
      // A file system without locks exists only in this JVM, where the table is enough.
      return true;
    }
  }

  /**
   * Opens the lock file. Null if there is none and none can be made; a shared holder can do without
   * it.
   */
  private static @Nullable FileChannel open(Path path, boolean shared) {
    FileAttribute<?>[] attributes = Directories.ownerOnly(path, "rw-------");
    FileKinds.isFile(path); // opening a pipe would block
    if (Files.isSymbolicLink(path)) {
      throw new DamagedFileException(
          path,
          FileException.NO_OFFSET,
          "the lock file is a symbolic link, and its target would be overwritten",
          "remove the link; the next open creates a new lock file",
          /* cause= */ null);
    }
    try {
      if (shared) {
        try {
          return FileChannel.open(path, StandardOpenOption.READ);
        } catch (NoSuchFileException missing) {
          // Made below: without the file a writer could not be kept out.
        }
      }
      return FileChannel.open(path, EXCLUSIVE_OPTIONS, attributes);
    } catch (IOException failed) {
      FileException meaning =
          IoFailures.of(
              path, FileException.NO_OFFSET, "opening the lock file", failed, /* room= */ 1);
      if (shared && meaning instanceof ReadOnlyStorageException && !Directories.exists(path)) {
        return null;
      }
      throw meaning;
    } catch (ReadOnlyFileSystemException readOnly) {
      if (shared) {
        return null;
      }
      throw IoFailures.readOnly(path, "opening the lock file", readOnly);
    }
  }

  private static DatabaseLockedException lockedHere(Path path, boolean shared) {
    long pid = ProcessHandle.current().pid();
    return new DatabaseLockedException(
        path,
        "this process (" + pid + ") has the database open already" + (shared ? ", read-only" : ""),
        "share the open database, or close it first",
        pid,
        /* cause= */ null);
  }

  private static DatabaseLockedException lockedByAnotherCopy(Path path, String how) {
    long pid = ProcessHandle.current().pid();
    return new DatabaseLockedException(
        path,
        "this process ("
            + pid
            + ") has the database open already, "
            + how
            + ", with classes of another class loader",
        "close it there first, or load RevenantDB only once, with a class loader that both can see",
        pid,
        /* cause= */ null);
  }

  private static DatabaseLockedException lockedElsewhere(Path path, LockText holder) {
    return new DatabaseLockedException(
        path,
        "another process has the database open: " + holder.described(),
        "close it there first",
        holder.owner().pid(),
        /* cause= */ null);
  }

  private static DatabaseLockedException lockLost(Path path, LockText owner) {
    return new DatabaseLockedException(
        path,
        "another process has the database open: "
            + owner.described()
            + "; it has lost the lock of the operating system, which happens when code in it opens"
            + " and closes the lock file, as a copy of the directory does",
        "close it there first; if process "
            + owner.owner().pid()
            + " does not use the database, empty the lock file",
        owner.owner().pid(),
        /* cause= */ null);
  }

  private static void closeQuietly(FileChannel channel) {
    try {
      channel.close();
    } catch (IOException ignored) {
      // The earlier failure is already being reported.
    }
  }

  /** Releases the lock; a released lock stays released. */
  @Override
  public void close() {
    synchronized (TABLE) {
      if (!open) {
        return;
      }
      open = false;
      Held held = Objects.requireNonNull(TABLE.get(key));
      held.holders--;
      if (held.holders == 0) {
        TABLE.remove(key);
        release(held);
      }
    }
  }

  private void release(Held held) {
    ownership.released();
    @Nullable FileChannel channel = held.file.channel;
    try {
      if (channel == null) {
        return;
      }
      if (!held.shared && ownership.isTextMine()) {
        eraseName(channel, putsBack ? held.file.former : new byte[0]);
      }
      channel.close();
    } catch (IOException failed) {
      throw IoFailures.of(held.file.path, FileException.NO_OFFSET, "releasing the lock", failed);
    } finally {
      OpenInThisJvm.leave(key.nameInJvm, held.jvmText);
    }
  }

  private static void eraseName(FileChannel channel, byte[] former) {
    try {
      LockText.write(channel, former);
    } catch (IOException failed) {
      // The next reader of the text finds that this process is not alive.
    }
  }
}

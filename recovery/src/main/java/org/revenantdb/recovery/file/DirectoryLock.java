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
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * One opener at a time: a lock of the operating system on the database's lock file, and a table of
 * what this JVM has open itself.
 *
 * <p>Either one exclusive holder, or any number of shared ones that only read. The exclusive holder
 * leaves its name in the file, for the message of whoever is refused. The file is never deleted:
 * someone may be about to lock the one that was deleted while another creates and locks a new one.
 *
 * <p>Threads: any. The lock belongs to the process, not to the thread.
 *
 * <p>Failure: {@link DatabaseLockedException} if someone else has it; other {@link
 * StorageException}s if the file cannot be opened or locked.
 */
public final class DirectoryLock implements AutoCloseable {
  /*
   * Why a table of our own. The system's lock belongs to the process, and on POSIX systems *closing
   * any channel of the file releases it*. So a second opener in this JVM must be refused before it
   * touches the file, and all shared holders of this JVM use one channel.
   *
   * The locked byte lies far behind the text, because on some systems a locked byte cannot be read.
   */

  /** Name of the lock file in the database's directory. */
  public static final String FILE_NAME = "revenant.lock";

  private static final long LOCKED_BYTE = 1L << 30;

  private static final Set<OpenOption> EXCLUSIVE_OPTIONS =
      Set.of(StandardOpenOption.READ, StandardOpenOption.WRITE, StandardOpenOption.CREATE);

  /** Which directory, under whatever name. */
  private record Key(@Nullable FileSystem fileSystem, Object directory) {}

  /** What this JVM holds on one directory. */
  private static final class Held {
    final boolean shared;
    final LockFile file;
    int holders = 1;

    Held(boolean shared, LockFile file) {
      this.shared = shared;
      this.file = file;
    }
  }

  /** An open, locked file; without a channel where the directory cannot be written to. */
  private record LockFile(Path path, @Nullable FileChannel channel) {}

  /** Guards itself; held while the lock file is opened, which is short. */
  private static final Map<Key, Held> TABLE = new HashMap<>();

  /** Channels that must not be closed, since that would release a lock of another holder. */
  private static final List<FileChannel> NEVER_CLOSED = new ArrayList<>();

  private final Key key;
  private boolean open = true;

  private DirectoryLock(Key key) {
    this.key = key;
  }

  /**
   * Locks a directory.
   *
   * @param directory the database's directory, which must exist
   * @param shared whether others may have it open too; nobody writes to it then. Where the
   *     directory cannot be written to and has no lock file, a shared lock is one in this JVM only.
   * @return the lock; closing it releases it
   * @throws DatabaseLockedException if someone else has the directory open
   */
  public static DirectoryLock acquire(Path directory, boolean shared) {
    Key key = key(directory);
    Path path = directory.resolve(FILE_NAME);
    synchronized (TABLE) {
      @Nullable Held held = TABLE.get(key);
      if (held != null && !(shared && held.shared)) {
        throw lockedHere(path, held.shared);
      }
      if (held != null) {
        held.holders++;
      } else {
        TABLE.put(key, new Held(shared, lock(path, shared)));
      }
    }
    return new DirectoryLock(key);
  }

  private static Key key(Path directory) {
    try {
      BasicFileAttributes attributes = Files.readAttributes(directory, BasicFileAttributes.class);
      if (!attributes.isDirectory()) {
        throw new NotADatabaseException(
            directory,
            StorageException.NO_OFFSET,
            "this is a file, but a database is a directory",
            "check the path",
            /* cause= */ null);
      }
      @Nullable Object fileKey = attributes.fileKey();
      FileSystem system = directory.getFileSystem();
      return new Key(
          system.equals(FileSystems.getDefault()) ? null : system,
          fileKey == null ? directory.toRealPath() : fileKey);
    } catch (IOException failed) {
      throw IoFailures.of(
          directory, StorageException.NO_OFFSET, "looking for the database's directory", failed);
    }
  }

  private static LockFile lock(Path path, boolean shared) {
    @Nullable FileChannel channel = open(path, shared);
    if (channel == null) {
      return new LockFile(path, null);
    }
    boolean locked = false;
    boolean mayClose = true;
    try {
      locked = tryLock(channel, shared);
      if (!locked) {
        throw lockedElsewhere(path, LockHolder.read(channel));
      }
      if (!shared) {
        leaveName(channel);
      }
      return new LockFile(path, channel);
    } catch (OverlappingFileLockException overlapping) {
      mayClose = false;
      NEVER_CLOSED.add(channel);
      throw lockedHere(path, /* shared= */ false);
    } catch (IOException failed) {
      locked = false;
      throw IoFailures.of(
          path, StorageException.NO_OFFSET, "locking the database", failed, /* room= */ 1);
    } finally {
      if (!locked && mayClose) {
        closeQuietly(channel);
      }
    }
  }

  /** The name is only an aid: a full disk must not keep anyone from opening a database. */
  private static void leaveName(FileChannel channel) throws IOException {
    try {
      LockHolder.me().write(channel);
    } catch (IOException failed) {
      if (!channel.isOpen()) {
        throw failed;
      }
    }
  }

  private static boolean tryLock(FileChannel channel, boolean shared) throws IOException {
    try {
      @Nullable FileLock lock = channel.tryLock(LOCKED_BYTE, 1, shared);
      return lock != null;
    } catch (UnsupportedOperationException inMemory) {
      // A file system without locks lives in this JVM, where the table is enough.
      return true;
    }
  }

  /** Null if there is no lock file and none can be made, which a shared holder tolerates. */
  private static @Nullable FileChannel open(Path path, boolean shared) {
    FileAttribute<?>[] attributes = Directories.ownerOnly(path, "rw-------");
    try {
      if (shared) {
        try {
          return FileChannel.open(path, StandardOpenOption.READ);
        } catch (NoSuchFileException missing) {
          // Made below: without it a writer could not be kept out.
        }
      }
      return FileChannel.open(path, EXCLUSIVE_OPTIONS, attributes);
    } catch (IOException failed) {
      StorageException meaning =
          IoFailures.of(
              path, StorageException.NO_OFFSET, "opening the lock file", failed, /* room= */ 1);
      if (shared && meaning instanceof ReadOnlyStorageException && !Files.exists(path)) {
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

  private static DatabaseLockedException lockedElsewhere(Path path, LockHolder holder) {
    return new DatabaseLockedException(
        path,
        "another process has the database open: " + holder.described(),
        "close it there first",
        holder.pid(),
        /* cause= */ null);
  }

  private static void closeQuietly(FileChannel channel) {
    try {
      channel.close();
    } catch (IOException ignored) {
      // What went wrong before is being reported already.
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

  private static void eraseName(FileChannel channel) {
    try {
      channel.truncate(0);
    } catch (IOException failed) {
      // The next reader of the text sees that no such process is alive.
    }
  }

  private static void release(Held held) {
    @Nullable FileChannel channel = held.file.channel;
    if (channel == null) {
      return;
    }
    try {
      if (!held.shared) {
        eraseName(channel);
      }
      channel.close();
    } catch (IOException failed) {
      throw IoFailures.of(held.file.path, StorageException.NO_OFFSET, "releasing the lock", failed);
    }
  }
}

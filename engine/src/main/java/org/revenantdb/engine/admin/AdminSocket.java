package org.revenantdb.engine.admin;

import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.lifecycle.DatabaseFiles;
import org.revenantdb.latch.PatientLock;
import org.revenantdb.recovery.file.Directories;
import org.revenantdb.recovery.file.FileException;
import org.revenantdb.recovery.file.FileThread;
import org.revenantdb.recovery.file.StorageIOException;

/**
 * A socket in the directory of an open database, through which the command reads it.
 *
 * <p>Threads: {@link #stop} and {@link #close} by one; a thread of its own accepts connections, and
 * each connection has one.
 *
 * <p>Failure: if connections cannot be accepted any more, the socket goes away with a warning in
 * the log of the application; the database goes on.
 */
public final class AdminSocket implements AutoCloseable {
  /*
   * Source      README.md beside this file, §54.
   *
   * State       LISTENING -> STOPPED   stop(), or an error of the socket: no connection is accepted, all are closed
   *             STOPPED -> closed      close(): no thread is left, the file is gone
   * Guarded     `connections` and `stopped` by `lock`: a connection that is accepted beside stop() is either in the map
   *             and closed there, or sees `stopped` and is closed at once.
   * Latches     None is held beside the lock, which no thread keeps while it waits.
   */

  /** The name of the socket. */
  public static final String FILE = DatabaseFiles.ADMIN_SOCKET;

  /** A directory that only the owner can enter: the socket is in it until its mode is set. */
  public static final String UNFINISHED = FILE + ".new";

  private static final String INNER = "s";

  /** Each holds a thread and a snapshot at most. */
  private static final int MOST_CONNECTIONS = 16;

  private static final System.Logger LOGGER = System.getLogger("org.revenantdb");

  private final Database db;
  private final Path file;
  private final Object fileKey;
  private final ServerSocketChannel server;
  private final FileThread accepting;
  private final PatientLock lock = new PatientLock();
  private final Map<AdminChannel, FileThread> connections = new HashMap<>();
  private boolean stopped;

  private AdminSocket(Database db, Path file, Object fileKey, ServerSocketChannel server) {
    this.db = db;
    this.file = file;
    this.fileKey = fileKey;
    this.server = server;
    accepting = FileThread.of("revenant-admin", this::accept, this::fail);
  }

  /**
   * Begins to listen.
   *
   * @param db the database, whose directory this process has locked
   * @return the socket
   * @throws FileException if there can be no socket in its directory
   */
  public static AdminSocket open(Database db) {
    Path directory = db.directory();
    Path file = directory.resolve(FILE);
    if (!directory.getFileSystem().equals(FileSystems.getDefault())) {
      throw refused(file, "this file system has no sockets", null);
    }
    Path room = directory.resolve(UNFINISHED);
    ServerSocketChannel server = null;
    try {
      removeLeftOvers(directory);
      Directories.createOwnerOnly(room);
      Path inner = room.resolve(INNER);
      server = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
      server.bind(UnixDomainSocketAddress.of(inner));
      if (inner.getFileSystem().supportedFileAttributeViews().contains("posix")) {
        Files.setPosixFilePermissions(inner, PosixFilePermissions.fromString("rw-------"));
      }
      Files.move(inner, file, StandardCopyOption.ATOMIC_MOVE);
      Files.delete(room);
      AdminSocket socket = new AdminSocket(db, file, key(file), server);
      socket.accepting.start();
      return socket;
    } catch (IOException | RuntimeException | OutOfMemoryError failed) {
      closeQuietly(server);
      try {
        removeLeftOvers(directory);
      } catch (IOException stays) {
        failed.addSuppressed(stays);
      }
      throw refused(file, "the socket cannot be made: " + failed, failed);
    }
  }

  /** Removes what a killed process has left. Refuses anything else of these names. */
  private static void removeLeftOvers(Path directory) throws IOException {
    Path file = directory.resolve(FILE);
    BasicFileAttributes found = attributes(file);
    if (found != null) {
      if (!found.isOther()) {
        throw new IOException("there is something else of this name");
      }
      Files.delete(file);
    }
    Path room = directory.resolve(UNFINISHED);
    if (attributes(room) != null) {
      Files.deleteIfExists(room.resolve(INNER));
      Files.delete(room);
    }
  }

  private static @Nullable BasicFileAttributes attributes(Path file) throws IOException {
    try {
      return Files.readAttributes(file, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
    } catch (NoSuchFileException nothing) {
      return null;
    }
  }

  private static Object key(Path file) throws IOException {
    BasicFileAttributes found = attributes(file);
    Object key = found == null ? null : found.fileKey();
    return key == null ? file : key; // a system without keys
  }

  private static FileException refused(Path file, String reason, @Nullable Throwable cause) {
    return new StorageIOException(
        file,
        FileException.NO_OFFSET,
        reason,
        "use a directory with a short path (100 bytes) on a local file system, or open the database"
            + " without the admin socket",
        cause);
  }

  private void accept() {
    while (true) {
      SocketChannel socket;
      try {
        socket = server.accept();
      } catch (IOException ended) {
        fail(ended);
        return;
      }
      serve(new AdminChannel(socket));
    }
  }

  private void serve(AdminChannel channel) {
    FileThread thread =
        FileThread.of(
            "revenant-admin-connection",
            new AdminConnection(channel, new OpenView(db))::serve,
            failure -> LOGGER.log(System.Logger.Level.WARNING, "a connection has failed", failure),
            () -> ended(channel));
    lock.lock();
    try {
      if (!stopped && connections.size() < MOST_CONNECTIONS) {
        connections.put(channel, thread);
        thread.start();
        return;
      }
    } catch (OutOfMemoryError noThread) {
      connections.remove(channel);
    } finally {
      lock.unlock();
    }
    try (AdminChannel refused = channel) {
      refused.refuse(MOST_CONNECTIONS + " others read the database; try again when one has ended");
    } catch (IOException gone) {
      // It did not wait for the answer.
    }
  }

  private void ended(AdminChannel channel) {
    closeQuietly(channel);
    lock.lock();
    try {
      connections.remove(channel);
    } finally {
      lock.unlock();
    }
  }

  private void fail(Throwable cause) {
    if (!isStopped()) {
      LOGGER.log(
          System.Logger.Level.WARNING,
          () -> file + ": no connections are accepted any more; the database goes on",
          cause);
      stop();
    }
  }

  private boolean isStopped() {
    lock.lock();
    try {
      return stopped;
    } finally {
      lock.unlock();
    }
  }

  /** Ends all connections, without waiting for their threads. */
  public void stop() {
    List<AdminChannel> open;
    lock.lock();
    try {
      stopped = true;
      open = new ArrayList<>(connections.keySet());
    } finally {
      lock.unlock();
    }
    closeQuietly(server);
    open.forEach(AdminSocket::closeQuietly);
    try {
      if (Objects.equals(key(file), fileKey)) { // the directory may have been moved
        Files.deleteIfExists(file);
      }
    } catch (IOException stays) {
      // The next open with a socket removes it; a connection to it is refused.
    }
  }

  /** Ends all connections and waits for their threads. */
  @Override
  public void close() {
    stop();
    accepting.join();
    List<FileThread> threads;
    lock.lock();
    try {
      threads = new ArrayList<>(connections.values());
    } finally {
      lock.unlock();
    }
    threads.forEach(FileThread::join);
  }

  private static void closeQuietly(@Nullable AutoCloseable closed) {
    if (closed != null) {
      try {
        closed.close();
      } catch (Exception gone) {
        // It is not used any more.
      }
    }
  }
}

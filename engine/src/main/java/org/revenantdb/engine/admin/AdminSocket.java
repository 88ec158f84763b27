package org.revenantdb.engine.admin;

import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.charset.StandardCharsets;
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
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.Database;
import org.revenantdb.latch.PatientLock;
import org.revenantdb.recovery.file.Directories;
import org.revenantdb.recovery.file.FileException;
import org.revenantdb.recovery.file.FileThread;
import org.revenantdb.recovery.file.IoFailures;
import org.revenantdb.recovery.file.StorageIOException;

/**
 * A socket in the directory of an open database, through which the command reads it.
 *
 * <p>Threads: {@link #stop} and {@link #close} by any; a thread of its own accepts connections, and
 * each connection has one.
 *
 * <p>Failure: an error of the socket is logged once for the application, and the socket goes on
 * trying; the database does not depend on it.
 */
public final class AdminSocket implements AutoCloseable {
  /*
   * Source      README.md beside this file, §54.
   *
   * State       LISTENING -> STOPPED   stop(), under the directory's lock: the file is gone, no connection is accepted,
   *                                    all are closed
   *             STOPPED -> closed      close(), after that of the database: no thread is left
   * Guarded     `connections`, `leaving`, `stopped` and the deletion of the file by `lock`. A connection that is accepted
   *             beside stop() is either in the map and closed there, or sees `stopped` and is closed at once. A second
   *             stop() waits for the first, and deletes nothing: the file may be that of a later open.
   */

  /** The name of the socket. */
  public static final String FILE = "revenant.admin";

  /** A directory that only the owner can enter: the socket is in it until its mode is set. */
  static final String ROOM = "revenant.new"; // with INNER as long as FILE

  private static final String INNER = "s";

  /** Each holds a thread and a snapshot at most. */
  private static final int MOST_CONNECTIONS = 16;

  private static final long BEFORE_NEXT_TRY = TimeUnit.MILLISECONDS.toNanos(100);

  private static final System.Logger LOGGER = System.getLogger("org.revenantdb");

  private final Database db;
  private final Path file;
  private final Object fileKey;
  private final ServerSocketChannel server;
  private final FileThread accepting;
  private final PatientLock lock = new PatientLock();
  private final Map<AdminChannel, FileThread> connections = new HashMap<>();

  /**
   * Threads whose connection has ended: they do nothing any more, and may not have ended yet. There
   * is room for all, as nothing may be allocated at the end of a thread.
   */
  private final List<FileThread> leaving = new ArrayList<>(2 * MOST_CONNECTIONS);

  private volatile boolean stopped;

  private AdminSocket(Database db, Path file, Object fileKey, ServerSocketChannel server) {
    this.db = db;
    this.file = file;
    this.fileKey = fileKey;
    this.server = server;
    accepting = FileThread.of("revenant-admin", this::accept, this::died);
  }

  /**
   * Refuses a directory that can have no socket, before anything is done in it.
   *
   * @param directory an absolute path
   * @throws FileException if its file system has no sockets, or its path is too long
   */
  public static void demandPossible(Path directory) {
    Path file = directory.resolve(FILE);
    if (!directory.getFileSystem().equals(FileSystems.getDefault())) {
      throw refused(
          file,
          "this file system has no sockets",
          "open the database without the admin socket",
          null);
    }
    int length = file.toString().getBytes(StandardCharsets.UTF_8).length;
    int most = longestPath();
    if (length > most) {
      throw refused(
          file,
          "the path of a socket has at most " + most + " bytes here, and this one has " + length,
          "use a directory with a shorter path, or open the database without the admin socket",
          null);
    }
  }

  /** The room for a path in the system's address of a socket, without the byte that ends it. */
  private static int longestPath() {
    return System.getProperty("os.name", "").toLowerCase(Locale.ROOT).startsWith("linux")
        ? 107
        : 103;
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
    ServerSocketChannel server = null;
    try {
      removeLeftOvers(directory);
      Path inner = directory.resolve(ROOM).resolve(INNER);
      Directories.makeOwnerOnly(directory.resolve(ROOM));
      server = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
      server.bind(UnixDomainSocketAddress.of(inner));
      if (inner.getFileSystem().supportedFileAttributeViews().contains("posix")) {
        Files.setPosixFilePermissions(inner, PosixFilePermissions.fromString("rw-------"));
      }
      Files.move(inner, file, StandardCopyOption.ATOMIC_MOVE);
      Files.delete(directory.resolve(ROOM));
      AdminSocket socket = new AdminSocket(db, file, key(file), server);
      socket.accepting.start();
      return socket;
    } catch (IOException failed) {
      throw IoFailures.of(
          file, FileException.NO_OFFSET, "making the socket", takenAway(directory, server, failed));
    } catch (RuntimeException failed) {
      throw takenAway(directory, server, failed);
    } catch (OutOfMemoryError failed) {
      throw takenAway(directory, server, failed);
    }
  }

  /** Removes what an open that fails has made. */
  private static <T extends Throwable> T takenAway(
      Path directory, @Nullable ServerSocketChannel server, T failure) {
    closeQuietly(server);
    try {
      removeLeftOvers(directory);
    } catch (IOException | FileException stays) {
      failure.addSuppressed(stays);
    }
    return failure;
  }

  /** Removes what a killed process has left. Refuses anything else of these names. */
  private static void removeLeftOvers(Path directory) throws IOException {
    removeSocket(directory.resolve(FILE));
    Path room = directory.resolve(ROOM);
    BasicFileAttributes found = attributes(room);
    if (found != null) {
      if (!found.isDirectory()) {
        throw foreign(room);
      }
      removeSocket(room.resolve(INNER));
      Files.delete(room);
    }
  }

  private static void removeSocket(Path file) throws IOException {
    BasicFileAttributes found = attributes(file);
    if (found != null) {
      if (!found.isOther()) {
        throw foreign(file);
      }
      Files.delete(file);
    }
  }

  private static FileException foreign(Path file) {
    return refused(
        file,
        "this is not the socket of a database",
        "move it away, or open the database without the admin socket",
        null);
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

  private static FileException refused(
      Path file, String reason, String cure, @Nullable Throwable cause) {
    return new StorageIOException(file, FileException.NO_OFFSET, reason, cure, cause);
  }

  private void accept() {
    boolean told = false;
    while (!stopped) {
      try {
        serve(new AdminChannel(server.accept()));
        told = false;
      } catch (IOException | OutOfMemoryError failed) { // no descriptor is free, for one
        if (!told && !stopped) {
          told = true;
          log(file + ": a connection could not be accepted; it is tried again", failed);
        }
        if (!stopped) {
          LockSupport.parkNanos(this, BEFORE_NEXT_TRY);
        }
      }
    }
  }

  private void serve(AdminChannel channel) {
    boolean served = false;
    String why = MOST_CONNECTIONS + " others read the database; try again when one has ended";
    try {
      FileThread thread =
          FileThread.of(
              "revenant-admin-connection",
              new AdminConnection(channel, new OpenView(db))::serve,
              failure -> log(file + ": a connection has failed", failure),
              () -> ended(channel));
      joinThoseThatLeave();
      lock.lock();
      try {
        if (!stopped && connections.size() < MOST_CONNECTIONS) {
          connections.put(channel, thread);
          served = true;
          thread.start();
        }
      } catch (OutOfMemoryError noThread) {
        connections.remove(channel);
        served = false;
        why = "there is no memory for a thread; try again later";
      } finally {
        lock.unlock();
      }
    } finally {
      if (!served) {
        refuse(channel, stopped ? "the database is being closed" : why);
      }
    }
  }

  private static void refuse(AdminChannel channel, String why) {
    try (AdminChannel refused = channel) {
      refused.refuse(why);
    } catch (IOException gone) {
      // It did not wait for the answer.
    }
  }

  private void ended(AdminChannel channel) {
    closeQuietly(channel);
    lock.lock();
    try {
      FileThread thread = connections.remove(channel);
      if (thread != null) {
        leaving.add(thread);
      }
    } finally {
      lock.unlock();
    }
  }

  private void joinThoseThatLeave() {
    List<FileThread> threads;
    lock.lock();
    try {
      threads = new ArrayList<>(leaving);
      leaving.clear();
    } finally {
      lock.unlock();
    }
    threads.forEach(FileThread::join);
  }

  private void died(Throwable cause) {
    log(file + ": no connections are accepted any more; the database goes on", cause);
  }

  private static void log(String text, Throwable cause) {
    try {
      LOGGER.log(System.Logger.Level.WARNING, text, cause);
    } catch (RuntimeException | OutOfMemoryError cannotBeTold) {
      // The application's own logger has failed.
    }
  }

  /**
   * Removes the file and ends all connections, without waiting for their threads. The directory
   * must still be locked. A second call waits for the first.
   */
  public void stop() {
    lock.lock();
    try {
      if (!stopped) {
        stopped = true;
        removeOwn();
        closeQuietly(server);
        connections.keySet().forEach(AdminSocket::closeQuietly);
      }
    } finally {
      lock.unlock();
    }
    accepting.unpark();
    accepting.join();
  }

  private void removeOwn() {
    try {
      if (Objects.equals(key(file), fileKey)) { // the directory may have been moved
        Files.deleteIfExists(file);
      }
    } catch (IOException stays) {
      // The next open with a socket removes it; a connection to it is refused.
    }
  }

  /** Ends all connections and waits for their threads, after what they were doing has ended. */
  @Override
  public void close() {
    stop();
    while (true) {
      List<FileThread> threads;
      lock.lock();
      try {
        threads = new ArrayList<>(connections.values());
      } finally {
        lock.unlock();
      }
      if (threads.isEmpty()) {
        break;
      }
      threads.forEach(FileThread::join);
    }
    joinThoseThatLeave();
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

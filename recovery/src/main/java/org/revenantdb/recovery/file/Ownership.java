package org.revenantdb.recovery.file;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.revenantdb.latch.PatientLock;

/**
 * Checks that the files at the database's path still belong to this engine, and that no other
 * engine has taken them over. The check is made before each write and after each force of the
 * database's files.
 *
 * <p>Threads: any thread that may access files. Failure: {@link OwnershipLostException}, at the
 * first check that finds the loss and at each later one. The first one also calls the listener of
 * {@link #onLost}.
 */
public final class Ownership {
  /*
   * Protocol    docs/protocols.md §42.
   * A take-over   1 lock of the system   2 text names no live owner   3 text := own   4 the files are read
   * A write       check; write           A force       force; check; only then is it reported as durable
   *
   * If a check finds the own text, then step 3 of any other engine comes later, and so does its step 4. So that
   * engine reads everything that was forced before the check, and misses nothing that was acknowledged. A write that
   * was checked before step 3 may still reach the file after it; that is one call on one file.
   *
   * The lock file is opened once. To read it by its name would open and close it again, and *that releases the lock*.
   * So the text is read through the channel that has the lock, and the name is compared by its attributes.
   */

  private static final Ownership NONE = new Ownership();

  private static final String DELETED =
      "until this process closes the database the former file can be copied from /proc/PID/fd"
          + " (Linux), else restore it from a copy";

  private record Watched(FileIdentity identity, LongSupplier leastBytes) {}

  private final @Nullable Path directory;
  private final @Nullable FileIdentity directoryIdentity;
  private final @Nullable Path lockFile;
  private final @Nullable FileIdentity lockIdentity;
  private final @Nullable FileChannel channel;
  private final byte[] text;

  private final PatientLock reading = new PatientLock();
  private final ByteBuffer found;
  private final Map<Path, Watched> watched = new ConcurrentHashMap<>();
  private final AtomicReference<@Nullable OwnershipLostException> lost = new AtomicReference<>();
  private volatile @Nullable Consumer<FileException> listener;
  private volatile boolean released;

  private Ownership() {
    directory = null;
    directoryIdentity = null;
    lockFile = null;
    lockIdentity = null;
    channel = null;
    text = new byte[0];
    found = ByteBuffer.allocate(0);
  }

  private Ownership(
      Path lockFile,
      FileIdentity directoryIdentity,
      FileIdentity lockIdentity,
      FileChannel channel,
      byte[] text) {
    Path absolute = lockFile.toAbsolutePath();
    @Nullable Path parent = absolute.getParent();
    this.directory = parent == null ? absolute : parent;
    this.directoryIdentity = directoryIdentity;
    this.lockFile = lockFile;
    this.lockIdentity = lockIdentity;
    this.channel = channel;
    this.text = text;
    this.found = ByteBuffer.allocateDirect(text.length + 1);
  }

  /**
   * An ownership whose checks always pass.
   *
   * @return the ownership for files without a directory lock, and for files that are only read
   */
  public static Ownership none() {
    return NONE;
  }

  boolean isNone() {
    return channel == null;
  }

  /** The ownership of a lock holder whose text is in the file. */
  static Ownership of(
      Path lockFile, FileIdentity directory, FileIdentity lock, FileChannel channel, byte[] text) {
    return new Ownership(lockFile, directory, lock, channel, text);
  }

  /**
   * Sets the listener for a loss of the ownership. It is called at once if the loss was found
   * before.
   *
   * @param newListener called once, by the thread that found the loss
   */
  public void onLost(Consumer<FileException> newListener) {
    listener = newListener;
    @Nullable OwnershipLostException before = lost.get();
    if (before != null) {
      newListener.accept(before);
    }
  }

  /**
   * Whether a check has failed.
   *
   * @return true from then on
   */
  public boolean isLost() {
    return lost.get() != null;
  }

  /**
   * Watches a file from now on: {@link #checkFiles} fails if it is missing, replaced or too short.
   *
   * @param file an existing file
   * @param leastBytes its least length
   */
  public void watch(Path file, LongSupplier leastBytes) {
    if (channel == null) {
      return;
    }
    try {
      watched.put(file, new Watched(FileIdentity.of(file), leastBytes));
    } catch (IOException gone) {
      check();
      throw lost(file, "the file was deleted while the database was open", DELETED, gone);
    }
  }

  /**
   * Stops watching a file.
   *
   * @param file the file, which need not exist any more
   */
  public void forget(Path file) {
    watched.remove(file);
  }

  /**
   * Checks that the lock file exists and names this opening. That takes some microseconds.
   *
   * @throws OwnershipLostException if it does not, or if an earlier check has failed
   */
  public void check() {
    @Nullable OwnershipLostException before = lost.get();
    if (before != null) {
      throw new OwnershipLostException(before.file(), before.reason(), before.cure(), before);
    }
    if (channel == null || released) {
      return;
    }
    checkName();
    checkText();
  }

  /**
   * Checks the lock file, and that every watched file exists, is the same file, and is long enough.
   *
   * @throws OwnershipLostException if this is not so, or if an earlier check has failed
   */
  public void checkFiles() {
    check();
    for (Map.Entry<Path, Watched> each : watched.entrySet()) {
      checkFile(each.getKey(), each.getValue());
    }
  }

  /**
   * Checks the lock file, and that one file or directory is still the same.
   *
   * @param file the file, watched or not
   * @throws OwnershipLostException if it is not, or if an earlier check has failed
   */
  public void checkFile(Path file) {
    check();
    @Nullable Watched known = watched.get(file);
    if (known != null) {
      checkFile(file, known);
    }
  }

  private void checkFile(Path file, Watched known) {
    FileIdentity now;
    try {
      now = FileIdentity.of(file);
    } catch (IOException gone) {
      if (watched.containsKey(file)) {
        check(); // it may be the whole directory
        throw lost(file, "the file was deleted while the database was open", DELETED, gone);
      }
      return;
    }
    if (!watched.containsKey(file)) {
      return; // no longer watched
    }
    if (!now.isSameFile(known.identity)) {
      throw lost(file, "another file took its place while the database was open", DELETED, null);
    }
    if (now.size() < known.leastBytes.getAsLong()) {
      throw lost(
          file,
          "the file was cut to " + now.size() + " bytes while the database was open",
          "restore it from a copy",
          null);
    }
  }

  private void checkName() {
    Path path = Objects.requireNonNull(lockFile);
    @Nullable IOException gone = null;
    try {
      if (FileIdentity.of(path).isSameFile(Objects.requireNonNull(lockIdentity))) {
        return;
      }
    } catch (NoSuchFileException missing) {
      gone = missing;
    } catch (IOException failed) {
      throw unreadable(path, failed);
    }
    checkDirectory();
    throw lost(
        path,
        "the lock file was "
            + (gone == null ? "replaced" : "deleted")
            + " while the database was"
            + " open, so that another process can open it as well",
        "make sure that no other process has the database open, then close it and open it again;"
            + " never delete this file",
        gone);
  }

  private void checkDirectory() {
    Path path = Objects.requireNonNull(directory);
    String cure =
        "move it back, or close the database and open it at its new place: it holds everything"
            + " that was acknowledged";
    try {
      if (!FileIdentity.of(path).isSameFile(Objects.requireNonNull(directoryIdentity))) {
        throw lost(
            path,
            "the directory was moved or replaced while the database was open; another directory has"
                + " its name now",
            cure,
            null);
      }
    } catch (IOException gone) {
      throw lost(
          path, "the directory was moved or deleted while the database was open", cure, gone);
    }
  }

  private void checkText() {
    FileChannel open = Objects.requireNonNull(channel);
    boolean same;
    reading.lock();
    try {
      found.clear();
      while (found.hasRemaining() && open.read(found, found.position()) >= 0) {
        // Reads to the end of the file, or one byte more than the text should have.
      }
      same = found.flip().equals(ByteBuffer.wrap(text));
    } catch (IOException failed) {
      if (released) {
        return;
      }
      throw unreadable(Objects.requireNonNull(lockFile), failed);
    } finally {
      reading.unlock();
    }
    if (!same) {
      throw takenOver(open);
    }
  }

  private OwnershipLostException takenOver(FileChannel open) {
    Path path = Objects.requireNonNull(lockFile);
    LockText now;
    try {
      now = LockText.parse(LockText.read(open));
    } catch (IOException failed) {
      return unreadable(path, failed);
    }
    LockText mine = LockText.parse(text);
    String me =
        "this engine (" + ProcessIdentity.me().described() + ", since " + mine.since() + ")";
    if (now.owner().pid() < 0) {
      return lost(
          path,
          "the lock file no longer names " + me + "; it was overwritten",
          "make sure that no other process has the database open, then close it and open it again;"
              + " leave this file alone",
          null);
    }
    return lost(
        path,
        "another engine has taken the database over: "
            + now.owner().described()
            + ", since "
            + now.since()
            + "; "
            + me
            + " has stopped before it wrote anything more",
        "close the database here. A process that opens and closes the lock file of its own open"
            + " database, as a copy of the directory does, loses the lock of the operating system",
        null);
  }

  /**
   * The exception for control slots that belong to another life than that of this engine.
   *
   * @param data the data file
   * @param mine the life of this engine
   * @param found the life in the slots
   * @return the exception to throw
   */
  OwnershipLostException overtaken(Path data, int mine, int found) {
    return lost(
        data,
        "the control slots were written by another engine, in life "
            + found
            + "; this engine ("
            + ProcessIdentity.me().described()
            + ", life "
            + mine
            + ") has stopped before it wrote anything more",
        "close the database here, and find out how two processes could have it open",
        null);
  }

  private OwnershipLostException unreadable(Path path, IOException failed) {
    return lost(
        path,
        "the lock file cannot be read (" + IoFailures.said(failed) + ")",
        "check the device, then open the database again",
        failed);
  }

  private OwnershipLostException lost(
      Path file, String reason, String cure, @Nullable Throwable cause) {
    OwnershipLostException mine = new OwnershipLostException(file, reason, cure, cause);
    if (lost.compareAndSet(null, mine)) {
      @Nullable Consumer<FileException> told = listener;
      if (told != null) {
        told.accept(mine);
      }
    }
    return mine;
  }

  /** Whether the text in the lock file is still that of this opening. */
  boolean isTextMine() {
    try {
      return channel != null && Arrays.equals(LockText.read(channel), text);
    } catch (IOException unreadable) {
      return false;
    }
  }

  /** Called when the lock is released: nothing is checked any more. */
  void released() {
    released = true;
  }
}

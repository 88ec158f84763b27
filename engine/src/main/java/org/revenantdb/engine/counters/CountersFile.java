package org.revenantdb.engine.counters;

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.page.Page;
import org.revenantdb.latch.PatientLock;
import org.revenantdb.recovery.file.Directories;
import org.revenantdb.recovery.file.IoStatistics;
import org.revenantdb.recovery.file.OpenMode;
import org.revenantdb.recovery.file.Ownership;
import org.revenantdb.recovery.file.OwnershipLostException;
import org.revenantdb.recovery.file.StorageFile;

/**
 * The counters file of an open database; its process writes it.
 *
 * <p>When a number has changed, the whole file is written in place. It is never forced, because it
 * is only for present readers. The first write creates it, and {@link #close} deletes it. So a file
 * that exists while no process has the database open was left by a crash.
 *
 * <p>Threads: any thread that may access files; one at a time writes. Failure: a failure stops
 * nothing. The first one is logged by {@link System.Logger} {@code org.revenantdb}; the next call
 * tries again.
 */
public final class CountersFile implements AutoCloseable {
  /** Name of the file in the database's directory. */
  public static final String FILE_NAME = "revenant.counters";

  private final Path path;
  private final InstantSource clock;
  private final IoStatistics io = new IoStatistics();
  private final PatientLock lock = new PatientLock();
  private final MemorySegment bytes = MemorySegment.ofArray(new byte[CountersLayout.SIZE]);
  private long[] lastCounters = {};
  private long[] lastWaits = {};
  private long[] lastRestart = {};
  private byte[] lastName = {};
  private @Nullable StorageFile file;
  private Ownership ownership = Ownership.none();
  private boolean told;
  private boolean closed;

  /**
   * Makes an object; the file is not written yet.
   *
   * @param directory the directory of the database
   * @param databaseId sixteen bytes
   * @param life the life of the database, which may still be followed by another one
   * @param clock the clock for the times of opening, which is now, and of writing
   */
  public CountersFile(Path directory, byte[] databaseId, int life, InstantSource clock) {
    this.path = directory.resolve(FILE_NAME);
    this.clock = clock;
    Page.putInt(bytes, CountersLayout.VERSION, CountersLayout.CURRENT_VERSION);
    Page.putLong(bytes, CountersLayout.MAGIC, CountersLayout.MAGIC_VALUE);
    MemorySegment.copy(
        MemorySegment.ofArray(databaseId), 0, bytes, CountersLayout.DATABASE_ID, databaseId.length);
    Page.putLong(bytes, CountersLayout.PID, ProcessHandle.current().pid());
    Page.putLong(bytes, CountersLayout.OPENED, clock.millis());
    Page.putInt(bytes, CountersLayout.LIFE, life);
  }

  /**
   * Sets the ownership that is checked before the file is made, written or deleted. Called before
   * the first write.
   *
   * @param owner the ownership of the directory
   * @return this
   */
  public CountersFile ownedBy(Ownership owner) {
    ownership = owner;
    return this;
  }

  /** Sets the life of the database for all writes from now on. */
  public void life(int life) {
    lock.lock();
    try {
      Page.putInt(bytes, CountersLayout.LIFE, life);
    } finally {
      lock.unlock();
    }
  }

  /**
   * Writes the numbers of an open database, if one has changed since the last time.
   *
   * @param counters in the order of {@link CounterOrder}
   * @param waits number, total and maximum of each class
   * @param name the name of the transaction with the oldest snapshot, at most a hundred characters;
   *     null if there is none
   * @return whether they are in the file now
   */
  public boolean write(long[] counters, long[] waits, @Nullable String name) {
    byte[] told = name == null ? new byte[0] : name.getBytes(StandardCharsets.UTF_8);
    return write(counters, waits, told, new long[CountersLayout.NUMBERS_OF_RESTART]);
  }

  /**
   * Writes the progress of a restart; there are no counters yet.
   *
   * @param phase what stands for it, from 1 on
   * @param done how much of it: bytes of log
   * @param total how much there is, 0 if that is not known
   * @return whether they are in the file now
   */
  public boolean writeRestart(int phase, long done, long total) {
    long[] restart = {phase, done, total};
    return write(new long[0], new long[0], new byte[0], restart);
  }

  private boolean write(long[] counters, long[] waits, byte[] name, long[] restart) {
    lock.lock();
    try {
      if (closed) {
        return false;
      }
      if (!Arrays.equals(counters, lastCounters)
          || !Arrays.equals(waits, lastWaits)
          || !Arrays.equals(name, lastName)
          || !Arrays.equals(restart, lastRestart)) {
        fill(counters, waits, name, restart);
        opened().write(0, bytes);
        lastCounters = counters.clone();
        lastWaits = waits.clone();
        lastName = name;
        lastRestart = restart.clone();
      }
      return true;
    } catch (RuntimeException | Error failed) {
      lastRestart = new long[0]; // the content of the file is not known
      tell(failed);
      closeFile();
      return false;
    } finally {
      lock.unlock();
    }
  }

  private void fill(long[] counters, long[] waits, byte[] name, long[] restart) {
    Page.putLong(bytes, CountersLayout.WRITTEN, clock.millis());
    Page.putShort(bytes, CountersLayout.COUNTERS, counters.length);
    Page.putShort(
        bytes, CountersLayout.WAIT_CLASSES, waits.length / CountersLayout.NUMBERS_OF_WAITS);
    int counted = put(CountersLayout.FIRST_COUNTER, counters);
    put(counted, waits);
    MemorySegment told =
        bytes.asSlice(CountersLayout.NAME, CountersLayout.RESTART - CountersLayout.NAME);
    told.fill((byte) 0);
    Page.putShort(bytes, CountersLayout.NAME, name.length);
    MemorySegment.copy(MemorySegment.ofArray(name), 0, told, Short.BYTES, name.length);
    put(CountersLayout.RESTART, restart);
    CountersLayout.seal(bytes);
  }

  private int put(int from, long[] numbers) {
    int at = from;
    for (long number : numbers) {
      Page.putLong(bytes, at, number);
      at += Long.BYTES;
    }
    return at;
  }

  private StorageFile opened() {
    StorageFile open = file;
    if (open == null) {
      ownership.check();
      OpenMode mode = Directories.exists(path) ? OpenMode.READ_WRITE : OpenMode.CREATE_NEW;
      open = StorageFile.open(path, mode, /* ownerOnly= */ true, io).ownedBy(ownership);
      file = open;
    }
    return open;
  }

  /**
   * How often the file was written.
   *
   * @return number of writes
   */
  public long writes() {
    return io.writes();
  }

  private void tell(Throwable failed) {
    if (!told) {
      told = true;
      System.getLogger("org.revenantdb")
          .log(
              System.Logger.Level.WARNING,
              path
                  + ": the counters could not be written, so the command stat shows old counters or"
                  + " none; the database itself is not affected",
              failed);
    }
  }

  private boolean isOurs() {
    try {
      ownership.check();
      return true;
    } catch (OwnershipLostException lost) {
      return false;
    }
  }

  private void closeFile() {
    StorageFile open = file;
    file = null;
    if (open != null) {
      try {
        open.close();
      } catch (RuntimeException failed) {
        tell(failed);
      }
    }
  }

  /** Deletes the file, even one that a crash has left. It is not written any more. */
  @Override
  public void close() {
    lock.lock();
    try {
      if (closed) {
        return;
      }
      closed = true;
      closeFile();
      if (!isOurs()) {
        return; // the file that has this name now may belong to another database
      }
      Directories.delete(path);
    } catch (RuntimeException failed) {
      tell(failed);
    } finally {
      lock.unlock();
    }
  }
}

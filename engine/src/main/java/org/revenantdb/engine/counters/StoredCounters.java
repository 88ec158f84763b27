package org.revenantdb.engine.counters;

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.page.Page;
import org.revenantdb.recovery.file.Directories;
import org.revenantdb.recovery.file.FileException;
import org.revenantdb.recovery.file.OpenMode;
import org.revenantdb.recovery.file.StorageFile;
import org.revenantdb.recovery.format.FileHeaderLayout;

/**
 * The content of a counters file. It can be read while another process writes the file.
 *
 * @param pid the process that wrote it
 * @param opened when that process opened the database
 * @param written when a number had changed last
 * @param life the life of the database
 * @param counters in the order of {@link CounterOrder}; there may be fewer, or more, than this
 *     version knows
 * @param waits the waits of each class, in the order of the engine's classes; there may also be
 *     fewer or more
 * @param oldestSnapshotName the name of the transaction with the oldest snapshot; empty if there is
 *     none
 * @param restart the progress of the restart; null if the database is open
 */
public record StoredCounters(
    long pid,
    Instant opened,
    Instant written,
    int life,
    List<Long> counters,
    List<Times> waits,
    String oldestSnapshotName,
    @Nullable RestartNumbers restart) {

  /** How often a file is read again if it is just being written. */
  private static final int TRIES = 100;

  /**
   * The waits of a class.
   *
   * @param count the number of waits
   * @param totalNanos their total time
   * @param maxNanos the time of the longest one
   */
  public record Times(long count, long totalNanos, long maxNanos) {}

  /**
   * The progress of a restart.
   *
   * @param phase what stands for its phase, from 1 on
   * @param done how much of it: bytes of log
   * @param total how much there is, 0 if that is not known
   */
  public record RestartNumbers(int phase, long done, long total) {}

  /**
   * Reads the file.
   *
   * @param directory the directory of the database
   * @param databaseId the id of the database, sixteen bytes
   * @return its content; null if there is no file
   * @throws FileException if it is damaged, of another version, or of another database, or if this
   *     user may not read it
   */
  public static @Nullable StoredCounters read(Path directory, byte[] databaseId) {
    Path path = directory.resolve(CountersFile.FILE_NAME);
    if (!Directories.exists(path)) {
      return null;
    }
    try (StorageFile file = StorageFile.open(path, OpenMode.READ, /* ownerOnly= */ true)) {
      MemorySegment bytes = MemorySegment.ofArray(new byte[CountersLayout.SIZE]);
      for (int attempt = 1; ; attempt++) {
        int length = file.readUpTo(0, bytes);
        @Nullable String problem = problemOf(bytes, length);
        if (problem == null) {
          return of(path, bytes, databaseId);
        }
        if (attempt == TRIES) {
          throw unusable(path, problem);
        }
        Thread.onSpinWait(); // perhaps it is being written just now
      }
    }
  }

  private static @Nullable String problemOf(MemorySegment bytes, int length) {
    if (length < CountersLayout.SIZE) {
      return "the counters file is damaged: it has "
          + length
          + " bytes and should have "
          + CountersLayout.SIZE;
    }
    long magic = Page.getLong(bytes, CountersLayout.MAGIC);
    if (magic != CountersLayout.MAGIC_VALUE) {
      return "this is not a counters file, or a damaged one: its magic number is wrong";
    }
    int version = Page.getInt(bytes, CountersLayout.VERSION);
    if (version != CountersLayout.CURRENT_VERSION) {
      return "the counters file has format version "
          + Integer.toUnsignedString(version)
          + ", and this program reads version "
          + CountersLayout.CURRENT_VERSION;
    }
    int stored = Page.getInt(bytes, CountersLayout.CRC);
    int computed = CountersLayout.checksum(bytes);
    if (stored != computed) {
      return "the counters file is damaged: its checksum is %08x, but its bytes have %08x"
          .formatted(stored, computed);
    }
    int counters = Page.getShort(bytes, CountersLayout.COUNTERS);
    int waits = Page.getShort(bytes, CountersLayout.WAIT_CLASSES);
    int name = Page.getShort(bytes, CountersLayout.NAME);
    if (name > CountersLayout.MAX_NAME_BYTES) {
      return "the counters file is damaged: it has a name of "
          + name
          + " bytes, but the limit is "
          + CountersLayout.MAX_NAME_BYTES;
    }
    return CountersLayout.end(counters, waits) > CountersLayout.NAME
        ? "the counters file is damaged: "
            + counters
            + " counters and "
            + waits
            + " wait classes do not fit into it"
        : null;
  }

  private static StoredCounters of(Path path, MemorySegment bytes, byte[] databaseId) {
    byte[] found = Page.bytes(bytes, CountersLayout.DATABASE_ID, FileHeaderLayout.DATABASE_ID_SIZE);
    if (!Arrays.equals(found, databaseId)) {
      throw unusable(
          path,
          "the counters file belongs to another database, "
              + HexFormat.of().formatHex(found)
              + ", and this one is "
              + HexFormat.of().formatHex(databaseId));
    }
    int counters = Page.getShort(bytes, CountersLayout.COUNTERS);
    int waits = Page.getShort(bytes, CountersLayout.WAIT_CLASSES);
    return new StoredCounters(
        Page.getLong(bytes, CountersLayout.PID),
        Instant.ofEpochMilli(Page.getLong(bytes, CountersLayout.OPENED)),
        Instant.ofEpochMilli(Page.getLong(bytes, CountersLayout.WRITTEN)),
        Page.getInt(bytes, CountersLayout.LIFE),
        numbers(bytes, CountersLayout.FIRST_COUNTER, counters).boxed().toList(),
        IntStream.range(0, waits)
            .mapToObj(i -> times(bytes, CountersLayout.end(counters, i)))
            .toList(),
        name(bytes),
        restart(bytes));
  }

  private static String name(MemorySegment bytes) {
    int length = Page.getShort(bytes, CountersLayout.NAME);
    return new String(
        Page.bytes(bytes, CountersLayout.NAME + Short.BYTES, length), StandardCharsets.UTF_8);
  }

  private static @Nullable RestartNumbers restart(MemorySegment bytes) {
    long[] numbers =
        numbers(bytes, CountersLayout.RESTART, CountersLayout.NUMBERS_OF_RESTART).toArray();
    return numbers[0] == 0 ? null : new RestartNumbers((int) numbers[0], numbers[1], numbers[2]);
  }

  private static Times times(MemorySegment bytes, int at) {
    long[] numbers = numbers(bytes, at, CountersLayout.NUMBERS_OF_WAITS).toArray();
    return new Times(numbers[0], numbers[1], numbers[2]);
  }

  private static LongStream numbers(MemorySegment bytes, int at, int count) {
    return IntStream.range(0, count).mapToLong(i -> Page.getLong(bytes, at + i * Long.BYTES));
  }

  private static FileException unusable(Path path, String reason) {
    return new FileException(
        path,
        FileException.NO_OFFSET,
        reason,
        "delete it: only the command stat reads it, and an open database writes a new one",
        null);
  }
}

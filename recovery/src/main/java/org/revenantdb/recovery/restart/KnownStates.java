package org.revenantdb.recovery.restart;

import java.lang.foreign.MemorySegment;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.zip.CRC32C;
import org.revenantdb.recovery.file.DamagedFileException;
import org.revenantdb.recovery.file.FileException;
import org.revenantdb.recovery.file.FormatVersionException;
import org.revenantdb.recovery.file.IoStatistics;
import org.revenantdb.recovery.file.MissingFileException;
import org.revenantdb.recovery.file.OpenMode;
import org.revenantdb.recovery.file.StorageFile;

/**
 * Who was undecided, aborted or prepared at a position of the log, in a file: what analysis begins
 * with where the control slot names no checkpoint ({@code docs/protocols.md} §50).
 *
 * <pre>
 *   0     4         8       16            32   40        48          52        56         60
 *   +-----+---------+-------+-------------+----+---------+-----------+---------+----------+---+-----------------
 *   | CRC | version | magic | database id | at | highest | undecided | aborted | prepared | 0 | ids, in this
 *   |     |         |       |             |    | id      | count     | count   | count    |   | order; prepared
 *   +-----+---------+-------+-------------+----+---------+-----------+---------+----------+---+-----------------
 *   a prepared one:  id u64 | name length u32 | tables u32 | name | ids of the tables, u32 each
 * </pre>
 *
 * @param at the position
 * @param highest no higher id was ever given out before it
 * @param undecided ids, in ascending order
 * @param aborted ids, in ascending order, none of which is undecided
 * @param prepared in ascending order of ids
 */
@SuppressWarnings("ArrayRecordComponent") // handed over once, never compared
public record KnownStates(
    long at, long highest, long[] undecided, long[] aborted, List<PreparedTransaction> prepared) {
  /** Names of these files begin with it; the position in 16 hexadecimal digits follows. */
  public static final String PREFIX = "revenant.states-";

  private static final int VERSION = 1;
  private static final long MAGIC = 0x54415453_544e5652L; // RVNTSTAT
  private static final int CRC = 0;
  private static final int HEADER = 64;

  /** More than the states of any database. */
  private static final long LARGEST = 1L << 30;

  /**
   * Returns the states at the end of a log.
   *
   * @param result what analysis has found
   * @return the states
   */
  public static KnownStates of(AnalysisResult result) {
    long[] aborted =
        Arrays.stream(result.aborted())
            .filter(id -> Arrays.binarySearch(result.undecided(), id) < 0)
            .toArray();
    return new KnownStates(
        result.endOfLog(),
        result.highestTransactionId(),
        result.undecided(),
        aborted,
        result.prepared());
  }

  /**
   * Returns the file for a position.
   *
   * @param directory that of the database
   * @param at the position
   * @return its path
   */
  public static Path file(Path directory, long at) {
    return directory.resolve(PREFIX + String.format("%016x", at));
  }

  /**
   * Returns the content of the file.
   *
   * @param databaseId sixteen bytes
   * @return the bytes
   */
  public byte[] bytes(byte[] databaseId) {
    int size = HEADER + (undecided.length + aborted.length) * Long.BYTES;
    for (PreparedTransaction one : prepared) {
      size += 2 * Long.BYTES + one.name().length + one.tables() * Integer.BYTES;
    }
    ByteBuffer to = ByteBuffer.allocate(size).order(ByteOrder.LITTLE_ENDIAN);
    to.putInt(0).putInt(VERSION).putLong(MAGIC).put(databaseId).putLong(at).putLong(highest);
    to.putInt(undecided.length).putInt(aborted.length).putInt(prepared.size()).putInt(0);
    for (long id : undecided) {
      to.putLong(id);
    }
    for (long id : aborted) {
      to.putLong(id);
    }
    for (PreparedTransaction one : prepared) {
      byte[] name = one.name();
      to.putLong(one.id()).putInt(name.length).putInt(one.tables()).put(name);
      for (int table : one.tableIds()) {
        to.putInt(table);
      }
    }
    to.putInt(CRC, crc(to.array()));
    return to.array();
  }

  private static int crc(byte[] bytes) {
    CRC32C crc = new CRC32C();
    crc.update(bytes, Integer.BYTES, bytes.length - Integer.BYTES);
    return (int) crc.getValue();
  }

  /**
   * Reads the file for a position.
   *
   * @param directory that of the database
   * @param databaseId sixteen bytes
   * @param at the position
   * @param statistics where the read is counted
   * @return the states
   * @throws MissingFileException if it is not there
   * @throws DamagedFileException if it is damaged, or of another database
   */
  public static KnownStates read(
      Path directory, byte[] databaseId, long at, IoStatistics statistics) {
    Path path = file(directory, at);
    byte[] bytes;
    try (StorageFile file =
        StorageFile.open(path, OpenMode.READ, /* ownerOnly= */ true, statistics)) {
      long size = file.size();
      if (size < HEADER || size > LARGEST) {
        throw damaged(path, "it has " + size + " bytes");
      }
      bytes = new byte[(int) size];
      file.read(0, MemorySegment.ofArray(bytes));
    } catch (MissingFileException missing) {
      throw new MissingFileException(
          path,
          FileException.NO_OFFSET,
          "this file is missing, which has the states of transactions at the redo point",
          "bring it back, or restore the database from a copy or an archive",
          missing);
    }
    ByteBuffer from = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    if (from.getInt(CRC) != crc(bytes) || from.getLong(2 * Integer.BYTES) != MAGIC) {
      throw damaged(path, "its checksum is wrong");
    }
    if (from.getInt(Integer.BYTES) != VERSION) {
      throw new FormatVersionException(path, Integer.BYTES, from.getInt(Integer.BYTES), VERSION);
    }
    byte[] id = new byte[16];
    from.get(16, id);
    if (!Arrays.equals(id, databaseId) || from.getLong(32) != at) {
      throw damaged(path, "it is of another database, or of another position");
    }
    try {
      return content(from.position(32));
    } catch (BufferUnderflowException | NegativeArraySizeException | IllegalArgumentException no) {
      throw damaged(path, "its checksum is right, but its counts are not");
    }
  }

  private static KnownStates content(ByteBuffer from) {
    long at = from.getLong();
    long highest = from.getLong();
    int undecidedCount = from.getInt();
    int abortedCount = from.getInt();
    int preparedCount = from.getInt();
    from.getInt();
    long[] undecided = ids(from, undecidedCount);
    long[] aborted = ids(from, abortedCount);
    List<PreparedTransaction> prepared = new ArrayList<>();
    for (int i = 0; i < preparedCount; i++) {
      long id = from.getLong();
      int length = from.getInt();
      int count = from.getInt();
      byte[] name = new byte[checked(from, length, 1)];
      from.get(name);
      int[] tables = new int[checked(from, count, Integer.BYTES)];
      for (int j = 0; j < count; j++) {
        tables[j] = from.getInt();
      }
      prepared.add(new PreparedTransaction(id, name, tables));
    }
    if (from.hasRemaining()) {
      throw new BufferUnderflowException();
    }
    return new KnownStates(at, highest, undecided, aborted, List.copyOf(prepared));
  }

  private static long[] ids(ByteBuffer from, int count) {
    long[] ids = new long[checked(from, count, Long.BYTES)];
    for (int i = 0; i < count; i++) {
      ids[i] = from.getLong();
    }
    return ids;
  }

  private static int checked(ByteBuffer from, int count, int size) {
    if (count < 0 || (long) count * size > from.remaining()) {
      throw new BufferUnderflowException();
    }
    return count;
  }

  private static DamagedFileException damaged(Path path, String what) {
    return new DamagedFileException(
        path,
        FileException.NO_OFFSET,
        "the states of transactions at the redo point are damaged: " + what,
        "restore the database from a copy or an archive",
        /* cause= */ null);
  }
}

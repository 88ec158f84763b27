package org.revenantdb.engine.archive;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.revenantdb.recovery.file.DamagedFileException;
import org.revenantdb.recovery.file.FileException;
import org.revenantdb.recovery.file.FileKinds;
import org.revenantdb.recovery.file.MissingFileException;

/**
 * Reads the log of an archive.
 *
 * <p>Threads: one thread that may access files. Failure: damage is reported with file and offset.
 */
final class ArchiveLog {
  /*
   * A file is good up to the position at which the next file goes on: what it has behind that was written before a
   * failure, and the next file has it again. The last file of a chain is good up to its first block that is not good.
   * Blocks are forced one by one, so a good block behind a bad one is damage, and not the rest of a write.
   *
   * Again       A follower looks at the archive several times a second. It keeps the headers that it has read, and goes
   *             on behind the last block that it has taken (Reading). What it keeps is only a place to begin: a header
   *             counts while size, time and key of its file are the same. If the bytes at the place are no block, all
   *             is read as if nothing had been kept: the file may have been made anew.
   */

  /** What one reader keeps from one look to the next. */
  static final class Reading {
    /** By the number of the file. */
    private final Map<Long, KnownHeader> headers = new HashMap<>();

    /** The file of the last block that was taken; null before one was. */
    private @Nullable LogFile file;

    /** Behind that block. */
    private int offset;

    private long end;
    private int life;

    private void took(LogFile of, int behind, ArchiveBlock block) {
      file = of;
      offset = behind;
      end = block.piece().to();
      life = block.piece().life();
    }

    private boolean goesOn(LogFile of, long position) {
      return of.equals(file) && end == position;
    }

    private void forget() {
      file = null;
    }
  }

  /**
   * A header that was read.
   *
   * @param size of the file before that
   * @param modified of the file before that
   * @param key of the file
   * @param header what it says
   */
  private record KnownHeader(long size, FileTime modified, @Nullable Object key, LogFile header) {
    boolean isOf(BasicFileAttributes now) {
      return now.size() == size
          && now.lastModifiedTime().equals(modified)
          && Objects.equals(now.fileKey(), key);
    }
  }

  /**
   * The header of a file.
   *
   * @param number its number
   * @param path the file
   * @param from where its log goes on
   * @param life the life of its writer
   * @param begins whether it begins a chain: log before it may be missing
   */
  record LogFile(long number, Path path, long from, int life, boolean begins) {}

  /**
   * Where the archive ends.
   *
   * @param file the last file that has a block; null if there is none
   * @param last its last good block; null likewise
   * @param empty the files behind it, none of which has a block
   */
  record Tail(@Nullable LogFile file, @Nullable ArchiveBlock last, List<LogFile> empty) {}

  private final ArchiveFiles files;
  private final int segmentSize;
  private final Reading reading;
  private final List<LogFile> logs = new ArrayList<>();
  private @Nullable Path unfinished;

  /** Reads the headers of all files. */
  ArchiveLog(ArchiveFiles files, ArchiveFiles.Header header) {
    this(files, header, new Reading());
  }

  /**
   * Reads the headers of the files that are new or have changed.
   *
   * @param reading what the same reader has kept, of the same archive
   */
  ArchiveLog(ArchiveFiles files, ArchiveFiles.Header header, Reading reading) {
    this.files = files;
    this.reading = reading;
    segmentSize = header.segmentSize();
    NavigableMap<Long, Path> found = files.logs();
    reading.headers.keySet().retainAll(found.keySet());
    for (Map.Entry<Long, Path> entry : found.entrySet()) {
      BasicFileAttributes before = attributes(entry.getValue());
      KnownHeader known = reading.headers.get(entry.getKey());
      if (known != null && before != null && known.isOf(before)) {
        logs.add(known.header());
        continue;
      }
      byte[] sector = files.loadSector(entry.getValue());
      if (entry.getKey().equals(found.lastKey()) && isUnfinished(entry.getValue(), sector)) {
        unfinished = entry.getValue();
      } else {
        LogFile read = readHeader(entry.getKey(), entry.getValue(), sector, header.databaseId());
        logs.add(read);
        if (before != null) {
          reading.headers.put(
              entry.getKey(),
              new KnownHeader(before.size(), before.lastModifiedTime(), before.fileKey(), read));
        }
      }
    }
    for (int i = 1; i < logs.size(); i++) {
      refuseHole(logs.get(i - 1), logs.get(i));
    }
  }

  /** Null if they cannot be read: then the file is. */
  private static @Nullable BasicFileAttributes attributes(Path path) {
    try {
      return Files.readAttributes(path, BasicFileAttributes.class);
    } catch (IOException unknown) {
      return null;
    }
  }

  /** The last file has nothing, if its header was not written whole and nothing is behind it. */
  private static boolean isUnfinished(Path path, byte[] sector) {
    return FileKinds.size(path) <= ArchiveLayout.SECTOR
        && !ArchiveLayout.isGood(sector, ArchiveLayout.LOG_MAGIC);
  }

  private static LogFile readHeader(long number, Path path, byte[] sector, byte[] databaseId) {
    ByteBuffer header = ArchiveLayout.read(sector, ArchiveLayout.LOG_MAGIC, path);
    int at = ArchiveLayout.BODY;
    if (!Arrays.equals(ArchiveLayout.databaseId(header), databaseId)
        || header.getLong(at) != number) {
      throw ArchiveFiles.foreign(path);
    }
    return new LogFile(
        number, path, header.getLong(at + 8), header.getInt(at + 16), header.getInt(at + 20) != 0);
  }

  /** The bytes of a header. */
  static byte[] header(LogFile file, byte[] databaseId) {
    ByteBuffer header = ArchiveLayout.sector(ArchiveLayout.LOG_MAGIC, databaseId);
    int at = ArchiveLayout.BODY;
    header.putLong(at, file.number());
    header.putLong(at + 8, file.from());
    header.putInt(at + 16, file.life());
    header.putInt(at + 20, file.begins() ? 1 : 0);
    return ArchiveLayout.sealed(header);
  }

  private void refuseHole(LogFile before, LogFile next) {
    if (next.number() != before.number() + 1) {
      throw new MissingFileException(
          files.log(before.number() + 1),
          FileException.NO_OFFSET,
          "this file of the archive is missing, and " + next.path().getFileName() + " is there",
          "bring it back; " + ArchiveLayout.CURE,
          /* cause= */ null);
    }
    if (next.from() < before.from() || next.life() < before.life()) {
      throw new DamagedFileException(
          next.path(),
          ArchiveLayout.BODY,
          "this file of the archive goes back behind " + before.path().getFileName(),
          ArchiveLayout.CURE,
          /* cause= */ null);
    }
  }

  List<LogFile> files() {
    return logs;
  }

  /** A file that was being made; null if there is none. */
  @Nullable Path unfinished() {
    return unfinished;
  }

  /** Whether log behind a position was deleted. */
  boolean isPrunedBehind(long position) {
    return !logs.isEmpty() && logs.getFirst().from() > position;
  }

  /** The position at which the last chain begins; -1 without one. */
  long chainBegin() {
    for (int i = logs.size() - 1; i >= 0; i--) {
      if (logs.get(i).begins() || i == 0) {
        return logs.get(i).from();
      }
    }
    return -1;
  }

  Tail tail() {
    List<LogFile> empty = new ArrayList<>();
    for (int i = logs.size() - 1; i >= 0; i--) {
      LogFile file = logs.get(i);
      ArchiveBlock last = null;
      byte[] bytes = files.load(file.path());
      int at = ArchiveLayout.SECTOR;
      for (ArchiveBlock block = read(bytes, at); block != null; block = read(bytes, at)) {
        last = block;
        at = block.end();
      }
      refuseBlockBehind(file, bytes, at, /* skipped= */ 0);
      if (last != null) {
        return new Tail(file, last, empty);
      }
      empty.add(file);
    }
    return new Tail(null, null, empty);
  }

  private @Nullable ArchiveBlock read(byte[] bytes, int offset) {
    return ArchiveBlock.read(bytes, offset, segmentSize);
  }

  /** The bytes are those of the file without the first ones, which were skipped. */
  private void refuseBlockBehind(LogFile file, byte[] bytes, int bad, int skipped) {
    ByteBuffer from = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    for (int at = bad; at + ArchiveLayout.BLOCK_HEADER <= bytes.length; at++) {
      if (from.getLong(at + 8) == ArchiveLayout.BLOCK_MAGIC && read(bytes, at) != null) {
        throw damage(
            file,
            skipped + bad,
            "the block is not good, but there is a good one behind it at byte " + (skipped + at));
      }
    }
  }

  private static DamagedFileException damage(LogFile file, long offset, String what) {
    return new DamagedFileException(
        file.path(),
        offset,
        "the archive is damaged: " + what,
        ArchiveLayout.CURE,
        /* cause= */ null);
  }

  /**
   * Shows the blocks from a position on, to the end of the chain that has it.
   *
   * @param position the end of a base
   * @param blocks receives each block that ends behind the position, in order; false ends the walk
   * @return where the chain ends, or the walk; at least the position
   */
  long walk(long position, Predicate<ArchiveBlock> blocks) {
    int first = -1;
    for (int i = 0; i < logs.size() && logs.get(i).from() <= position; i++) {
      first = i;
    }
    if (first < 0) {
      return position; // the log behind it was pruned, or never written
    }
    boolean goesOn = reading.goesOn(logs.get(first), position);
    int skipped = goesOn ? reading.offset : 0;
    long end = goesOn ? position : logs.get(first).from();
    int life = goesOn ? reading.life : 0;
    for (int i = first; i < logs.size(); i++) {
      LogFile file = logs.get(i);
      LogFile next = i + 1 < logs.size() ? logs.get(i + 1) : null;
      long limit = next == null || next.begins() ? Long.MAX_VALUE : next.from();
      byte[] bytes = files.load(file.path(), skipped);
      int at = skipped > 0 ? 0 : ArchiveLayout.SECTOR;
      while (end < limit) {
        ArchiveBlock block = read(bytes, at);
        if (block == null && skipped > 0 && at == 0 && bytes.length > 0) {
          reading.forget();
          return walk(position, blocks);
        }
        if (block == null) {
          if (next != null && !next.begins()) {
            throw damage(
                file,
                skipped + at,
                "the block is not good; the file ends at position "
                    + end
                    + ", but "
                    + next.path().getFileName()
                    + " goes on at "
                    + next.from());
          }
          refuseBlockBehind(file, bytes, at, skipped);
          return Math.max(end, position);
        }
        if (!follows(block, end, life)) {
          throw damage(
              file,
              skipped + at,
              "the block has the log from position "
                  + block.piece().from()
                  + " of life "
                  + block.piece().life()
                  + ", but the one before ends at "
                  + end
                  + " of life "
                  + life);
        }
        end = block.piece().to();
        life = block.piece().life();
        at = block.end();
        if (end > position) {
          boolean more = blocks.test(block);
          reading.took(file, skipped + at, block);
          if (!more) {
            return end;
          }
        }
      }
      skipped = 0;
      if (next == null || next.begins()) {
        return Math.max(end, position);
      }
      if (end != next.from()) {
        throw damage(
            next,
            ArchiveLayout.BODY,
            "it goes on at position " + next.from() + ", within a block of the file before");
      }
    }
    return Math.max(end, position);
  }

  /** In a chain: the same life goes on, or the next one names the end of this one. */
  private static boolean follows(ArchiveBlock block, long end, int life) {
    boolean goesOn = block.piece().from() == end && (life == 0 || block.piece().life() == life);
    return goesOn || (block.piece().life() > life && block.beginsLifeAfter(end));
  }
}

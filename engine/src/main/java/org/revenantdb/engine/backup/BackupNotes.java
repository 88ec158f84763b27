package org.revenantdb.engine.backup;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.StorageException;
import org.revenantdb.recovery.file.DamagedFileException;
import org.revenantdb.recovery.file.Directories;
import org.revenantdb.recovery.file.FileException;
import org.revenantdb.recovery.file.FormatVersionException;
import org.revenantdb.recovery.file.IoStatistics;
import org.revenantdb.recovery.file.OpenMode;
import org.revenantdb.recovery.file.Ownership;
import org.revenantdb.recovery.file.OwnershipLostException;
import org.revenantdb.recovery.file.StorageFile;
import org.revenantdb.recovery.format.SegmentLayout;

/**
 * The list of the backups that were made of a database, in its directory: those that an increment
 * can be based on.
 *
 * <p>Threads: that of a backup, of which there is one, or that of an open.
 */
public final class BackupNotes {
  /*
   * Protocol    docs/protocols.md §56; docs/format.md §14 has the bytes
   *
   * State       none         no file: no backup can be a base
   *             list         the file is there, forced, with its name forced
   *
   * Transitions list -> list   written as NEW_NAME, forced, renamed, the directory forced: a crash leaves one of both
   *             list -> none   by an open that finds that the list is not of these files, or cannot tell
   *
   * Life        the list has the life in which it was written, and counts only in that one. An open for writing writes it
   *             anew in its life, if it is that of the life before. So a list that could not be deleted does not count.
   */

  /** The list. */
  public static final String NAME = "revenant.backups";

  /** The list while it is made. */
  public static final String NEW_NAME = "revenant.backups.new";

  static final int MOST = 1_024;
  static final int ID_SIZE = 16;
  static final int HEADER = 40;
  static final int ENTRY = 48;

  /** "RVNTLIST". */
  static final long MAGIC = 0x5453494c_544e5652L;

  private static final int VERSION = 1;
  private static final int MAGIC_AT = 8;
  private static final int ID_AT = 16;
  private static final int COUNT_AT = 32;
  private static final int LIFE_AT = 36;
  private static final String CURE =
      "make a whole backup, which replaces the list; increments can be made since that one";

  /**
   * A backup that was made.
   *
   * @param id of the copy, 16 bytes
   * @param redoPoint all changes below it are in its pages
   * @param endOfLog it has no change above
   * @param life of its log
   * @param pages of its data file
   * @param millis when it was made, milliseconds since 1970
   */
  @SuppressWarnings("ArrayRecordComponent") // never compared nor printed
  public record Note(byte[] id, long redoPoint, long endOfLog, int life, long pages, long millis) {}

  /**
   * What the file has.
   *
   * @param life in which it was written
   */
  private record Known(int life, List<Note> notes) {
    static final Known NOTHING = new Known(0, List.of());
  }

  private final Path directory;
  private final byte[] databaseId;
  private final Ownership ownership;
  private final IoStatistics statistics;

  /**
   * Reads nothing yet.
   *
   * @param directory of the database
   * @param databaseId its id, 16 bytes
   */
  public BackupNotes(
      Path directory, byte[] databaseId, Ownership ownership, IoStatistics statistics) {
    this.directory = directory;
    this.databaseId = databaseId.clone();
    this.ownership = ownership;
    this.statistics = statistics;
  }

  private Path file() {
    return directory.resolve(NAME);
  }

  /** The id of a copy as users see it. */
  static String text(byte[] id) {
    return HexFormat.of().formatHex(id);
  }

  /**
   * Finds the base of an increment.
   *
   * @param id of the copy
   * @param endOfLog the end of the log that the last open has found, or a later one
   * @param life of the database
   * @throws StorageException if the backup is not one of this history
   */
  Note demand(String id, long endOfLog, int life) {
    List<Note> notes;
    try {
      notes = read(life);
    } catch (DamagedFileException | FormatVersionException unread) {
      throw refused(file(), String.valueOf(unread.getMessage()), unread);
    }
    for (Note note : notes) {
      if (text(note.id).equals(id) && note.endOfLog <= endOfLog) {
        return note;
      }
    }
    throw refused(
        directory,
        "it does not know backup "
            + id
            + " as one of its own: that is of another database or of another line of this one, or it is older than the last "
            + MOST,
        /* cause= */ null);
  }

  private static StorageException refused(Path file, String why, @Nullable Throwable cause) {
    return new StorageException(
        StorageException.Reason.BACKUP_BASE,
        file,
        StorageException.NO_OFFSET,
        "an increment cannot be made of this database: " + why,
        CURE,
        cause);
  }

  /**
   * Notes a backup, durably. A list that is damaged or of another database or life is replaced.
   *
   * @throws FileException if the list cannot be written
   */
  void add(Note note) {
    List<Note> notes = new ArrayList<>();
    try {
      notes.addAll(read(note.life));
    } catch (DamagedFileException | FormatVersionException unread) {
      notes.clear();
    }
    notes.add(note);
    write(note.life, notes.subList(Math.max(0, notes.size() - MOST), notes.size()));
  }

  /**
   * Lets the list, if there is one, count in a new life; or deletes it, if the files of the
   * database are not those that it was written for: then a backup in it may be of another line of
   * the database. So it is with a list that cannot be read. Call it after the life has begun
   * durably.
   *
   * @param endOfLog the end of the log that was found
   * @param formerLife the last life that the files had before
   * @param life the new one
   */
  public void beginLife(long endOfLog, int formerLife, int life) {
    try {
      if (!Directories.exists(file())) {
        return;
      }
      List<Note> notes = notesOf(endOfLog, formerLife);
      if (notes.isEmpty()) {
        Directories.delete(file());
        Directories.force(directory, statistics);
      } else {
        write(life, notes);
      }
    } catch (OwnershipLostException lost) {
      throw lost;
    } catch (FileException notNow) {
      // For example a full disk. The list that is left is of a former life, and does not count.
    }
  }

  private List<Note> notesOf(long endOfLog, int life) {
    try {
      List<Note> notes = read(life);
      boolean isOfThis = notes.stream().allMatch(note -> note.endOfLog <= endOfLog);
      return isOfThis ? notes : List.of();
    } catch (OwnershipLostException lost) {
      throw lost;
    } catch (FileException unread) {
      return List.of();
    }
  }

  /**
   * All notes, the oldest first; none if the list is missing, or of another database or another
   * life.
   */
  List<Note> read(int life) {
    Known known = read();
    return known.life == life ? known.notes : List.of();
  }

  private Known read() {
    if (!Directories.exists(file())) {
      return Known.NOTHING;
    }
    byte[] bytes = load();
    ByteBuffer fields = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    if (bytes.length < HEADER
        || fields.getLong(MAGIC_AT) != MAGIC
        || fields.getInt(0) != crc(bytes)) {
      throw new DamagedFileException(
          file(), 0, "the list of backups is damaged: its checksum is wrong", CURE, null);
    }
    if (fields.getInt(Integer.BYTES) != VERSION) {
      throw new FormatVersionException(
          file(), Integer.BYTES, fields.getInt(Integer.BYTES), VERSION);
    }
    int count = fields.getInt(COUNT_AT);
    if (count < 0 || count > MOST || bytes.length != HEADER + count * ENTRY) {
      throw new DamagedFileException(
          file(), COUNT_AT, "the list of backups has another length than its count", CURE, null);
    }
    if (!Arrays.equals(bytes, ID_AT, ID_AT + ID_SIZE, databaseId, 0, ID_SIZE)) {
      return Known.NOTHING;
    }
    List<Note> notes = new ArrayList<>(count);
    for (int at = HEADER; at < bytes.length; at += ENTRY) {
      notes.add(note(fields, at));
    }
    return new Known(fields.getInt(LIFE_AT), notes);
  }

  private Note note(ByteBuffer fields, int at) {
    byte[] id = new byte[ID_SIZE];
    fields.get(at, id);
    Note note =
        new Note(
            id,
            fields.getLong(at + 16),
            fields.getLong(at + 24),
            fields.getInt(at + 44),
            Integer.toUnsignedLong(fields.getInt(at + 40)),
            fields.getLong(at + 32));
    if (!SegmentLayout.isLsn(note.redoPoint)
        || !SegmentLayout.isLsn(note.endOfLog)
        || note.redoPoint > note.endOfLog
        || note.life < 1) {
      throw new DamagedFileException(
          file(), at, "a number in the list of backups is out of range", CURE, null);
    }
    return note;
  }

  private byte[] load() {
    try (StorageFile file =
        StorageFile.open(file(), OpenMode.READ, /* ownerOnly= */ true, statistics)) {
      int most = HEADER + MOST * ENTRY;
      byte[] bytes = new byte[(int) Math.min(file.size(), most + 1)];
      file.read(0, MemorySegment.ofArray(bytes));
      return bytes;
    }
  }

  private void write(int life, List<Note> notes) {
    byte[] bytes = new byte[HEADER + notes.size() * ENTRY];
    ByteBuffer fields = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    fields.putInt(Integer.BYTES, VERSION);
    fields.putLong(MAGIC_AT, MAGIC);
    fields.put(ID_AT, databaseId);
    fields.putInt(COUNT_AT, notes.size());
    fields.putInt(LIFE_AT, life);
    int at = HEADER;
    for (Note note : notes) {
      fields.put(at, note.id);
      fields.putLong(at + 16, note.redoPoint);
      fields.putLong(at + 24, note.endOfLog);
      fields.putLong(at + 32, note.millis);
      fields.putInt(at + 40, (int) note.pages);
      fields.putInt(at + 44, note.life);
      at += ENTRY;
    }
    fields.putInt(0, crc(bytes));
    Path made = directory.resolve(NEW_NAME);
    Directories.delete(made);
    try {
      try (StorageFile file =
          StorageFile.open(made, OpenMode.CREATE_NEW, /* ownerOnly= */ true, statistics)
              .ownedBy(ownership)) {
        file.write(0, MemorySegment.ofArray(bytes));
        file.force();
      }
      Directories.rename(made, file());
    } catch (Throwable failed) {
      takeAway(made, failed);
      throw failed;
    }
    Directories.force(directory, statistics);
  }

  private static void takeAway(Path made, Throwable failed) {
    if (failed instanceof OwnershipLostException) {
      return; // it may be that of the other engine
    }
    try {
      Directories.delete(made);
    } catch (FileException stays) {
      failed.addSuppressed(stays);
    }
  }

  private static int crc(byte[] bytes) {
    CRC32C crc = new CRC32C();
    crc.update(bytes, Integer.BYTES, bytes.length - Integer.BYTES);
    return (int) crc.getValue();
  }
}

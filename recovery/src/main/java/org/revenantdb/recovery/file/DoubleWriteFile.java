package org.revenantdb.recovery.file;

import static org.revenantdb.recovery.format.PageHeaderLayout.PAGE_SIZE;

import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.revenantdb.recovery.format.DoubleWriteLayout;
import org.revenantdb.recovery.format.PageChecksum;
import org.revenantdb.recovery.format.PageHeaderLayout;

/**
 * Holds a second copy of the pages that are being written, so that a torn page is never the only
 * copy.
 *
 * <p>Use: {@link #restore} once after {@link #open}; then for each batch {@link #writeBatch}, write
 * the same images to the data file, force the data file, {@link #confirm}.
 *
 * <p>Threads: one, the page writer.
 *
 * <p>Failure: a {@link FileException}; an {@link IllegalStateException} for an order of calls that
 * could lose a page.
 *
 * {@snippet :
 * doubleWrite.writeBatch(n, pageIds, images);
 * for (int i = 0; i < n; i++) {
 *   data.write(position(pageIds[i]), images.asSlice(i * 8192L, 8192));
 * }
 * data.force();
 * doubleWrite.confirm();
 * }
 */
public final class DoubleWriteFile implements AutoCloseable {
  /*
   * State        the file                                    the data file
   *   FOUND      may hold a batch not known to be forced     may be torn in the pages of that batch
   *   IDLE       holds nothing that is needed                whole and forced, for all batches
   *   WRITTEN    holds the current batch, forced             may be torn in the pages of that batch
   *
   * Transitions FOUND -> IDLE restore; IDLE -> WRITTEN writeBatch; WRITTEN -> IDLE confirm; IDLE -> IDLE clear
   *
   * Crash in writeBatch, over batch N (forced in the data file), while batch N + 1 is written:
   *   header torn              no batch; the data file is whole, as N + 1 has not begun there
   *   header old               batch N; an image of N + 1 in N's place does not have the CRC that
   *                            the header lists; one still of N is what the data file holds, too
   *   header new, images torn  batch N + 1; own copies are whole, so nothing is repaired
   * Crash while the data file is written: header and images are whole, torn pages are repaired.
   * In none of these cases can an image be older than the page that the data file held when it was whole, because a
   * batch is used only while it is the last one that was written (rule R24).
   *
   * Growth: the file grows, and is forced, before a batch is written that needs the room. So a whole header never names
   * more images than the file has room for. The crash table is in docs/format.md §3.
   *
   * Which header is on the medium? A header that was read at open, or written by clear, may be only in the system's
   * cache. The medium may have an older one, with another batch. So `headerIsOnMedium` is true only after a force that
   * this process has seen succeed with the present header; a page may be written without this file only then.
   *
   * R6: after a kill or a failed force of the former process, a page that reads as whole may be whole only in the
   * system's cache. So restore writes every page of the batch again and always forces, before the file is used again.
   */

  /** The greatest number of pages of a batch. */
  public static final int MAX_PAGES = DoubleWriteLayout.MAX_PAGES;

  private enum State {
    FOUND,
    IDLE,
    WRITTEN
  }

  private final StorageFile file;
  private final byte[] databaseId;
  private final MemorySegment header = MemorySegment.ofArray(new byte[PAGE_SIZE]);
  private State state;
  private long batch;
  private long highestForced;

  /** Whether this process has forced the present header; see above. */
  private boolean headerIsOnMedium;

  /**
   * For how many images this process knows that the file has room: it was forced to be so long. A
   * longer one may be so in the cache only.
   */
  private int room = DoubleWriteLayout.FIRST_ROOM;

  private DoubleWriteFile(StorageFile file, byte[] databaseId, State state) {
    this.file = file;
    this.databaseId = databaseId.clone();
    this.state = state;
  }

  /**
   * Creates the file of a new database, with room for a small batch, and forces it.
   *
   * @param path the file, which must not exist
   * @param databaseId the database's sixteen bytes
   * @param statistics where its writes and forces are counted
   * @return the file, ready for the first batch
   */
  public static DoubleWriteFile create(Path path, byte[] databaseId, IoStatistics statistics) {
    StorageFile file =
        StorageFile.open(path, OpenMode.CREATE_NEW, /* ownerOnly= */ true, statistics);
    try {
      DoubleWriteFile created = new DoubleWriteFile(file, databaseId, State.IDLE);
      file.preallocate(0, DoubleWriteLayout.fileSize(DoubleWriteLayout.FIRST_ROOM));
      created.switchOff(); // forced: from now on a file that is shorter is damage
      return created;
    } catch (RuntimeException | Error failed) {
      file.close();
      throw failed;
    }
  }

  /**
   * Makes a new file for a database that was closed cleanly; the former file had nothing that is
   * still needed. The new file is whole and durable before it gets its name.
   *
   * @param path the file, which must not exist
   * @param databaseId the database's sixteen bytes
   * @param statistics where its reads, writes and forces are counted
   * @return the file; {@link #restore} comes next
   */
  public static DoubleWriteFile createAgain(Path path, byte[] databaseId, IoStatistics statistics) {
    Path unfinished = unfinished(path);
    Directories.delete(unfinished);
    create(unfinished, databaseId, statistics).close();
    Directories.rename(unfinished, path);
    @Nullable Path directory = path.toAbsolutePath().getParent();
    if (directory != null) {
      Directories.force(directory, statistics);
    }
    return open(path, databaseId, statistics);
  }

  /**
   * The name of a new file until it is complete.
   *
   * @param path its name afterwards
   * @return another name in the same directory
   */
  public static Path unfinished(Path path) {
    return path.resolveSibling(path.getFileName() + ".new");
  }

  /**
   * Opens the file of an existing database; {@link #restore} comes next.
   *
   * @param path the file
   * @param databaseId the sixteen bytes of the database that it must belong to
   * @param statistics where its reads, writes and forces are counted
   * @return the file
   * @throws FormatVersionException if it is of another version
   * @throws DamagedFileException if it belongs to another database
   */
  public static DoubleWriteFile open(Path path, byte[] databaseId, IoStatistics statistics) {
    return open(path, databaseId, OpenMode.READ_WRITE, statistics);
  }

  /**
   * Opens the file of an existing database, perhaps only for reading. Nothing is changed.
   *
   * @param path the file
   * @param databaseId the sixteen bytes of the database that it must belong to
   * @param mode to read it or to write it
   * @param statistics where its reads, writes and forces are counted
   * @return the file
   * @throws FormatVersionException if it is of another version
   * @throws DamagedFileException if it belongs to another database, has a length that it cannot
   *     have, or a field of its header has a value that it cannot have
   */
  public static DoubleWriteFile open(
      Path path, byte[] databaseId, OpenMode mode, IoStatistics statistics) {
    StorageFile file = StorageFile.open(path, mode, /* ownerOnly= */ true, statistics);
    try {
      DoubleWriteFile opened = new DoubleWriteFile(file, databaseId, State.FOUND);
      opened.readHeader();
      return opened;
    } catch (RuntimeException | Error failed) {
      file.close();
      throw failed;
    }
  }

  /**
   * Sets the ownership that is checked before each write.
   *
   * @param owner the ownership of the file's directory
   * @return this
   */
  public DoubleWriteFile ownedBy(Ownership owner) {
    file.ownedBy(owner);
    return this;
  }

  /**
   * Reads the header; without a whole one it stays zero. Then there is no batch, which is no error.
   */
  private void readHeader() {
    long size = file.size();
    long least = DoubleWriteLayout.fileSize(DoubleWriteLayout.FIRST_ROOM);
    long most = DoubleWriteLayout.fileSize(MAX_PAGES);
    if (size < least || size > most) {
      throw new DamagedFileException(
          file.path(),
          Math.min(size, most),
          "the double-write file has "
              + size
              + " bytes, but it is made with "
              + least
              + " and never has more than "
              + most);
    }
    header.fill((byte) 0);
    file.readUpTo(0, header);
    if (!PageChecksum.isWhole(header)) {
      header.fill((byte) 0);
      return;
    }
    if (DoubleWriteLayout.magic(header) != DoubleWriteLayout.MAGIC_VALUE) {
      throw new DamagedFileException(file.path(), 0, "this is not a double-write file");
    }
    int version = DoubleWriteLayout.version(header);
    if (version != DoubleWriteLayout.CURRENT_VERSION) {
      throw new FormatVersionException(
          file.path(), DoubleWriteLayout.VERSION, version, DoubleWriteLayout.CURRENT_VERSION);
    }
    if (DoubleWriteLayout.databaseId(header).mismatch(MemorySegment.ofArray(databaseId)) >= 0) {
      throw new DamagedFileException(
          file.path(),
          DoubleWriteLayout.DATABASE_ID,
          "the double-write file belongs to another database",
          "put back the double-write file that belongs to this database",
          /* cause= */ null);
    }
    batch = DoubleWriteLayout.batch(header);
    highestForced = DoubleWriteLayout.highestForced(header);
    checkFields();
  }

  /** Checks the range of every field; docs/format.md §3. */
  private void checkFields() {
    int pages = DoubleWriteLayout.pages(header);
    require(
        Integer.compareUnsigned(pages, MAX_PAGES) <= 0,
        DoubleWriteLayout.PAGES,
        "a batch holds at most " + MAX_PAGES + " pages");
    require(
        DoubleWriteLayout.fileSize(pages) <= file.size(),
        DoubleWriteLayout.PAGES,
        "the file ends at byte "
            + file.size()
            + ", and was made long enough for "
            + pages
            + " pages before it could be written");
    require(
        batch > 0 && batch < Long.MAX_VALUE / 2,
        DoubleWriteLayout.BATCH,
        "no batch has number " + batch);
    require(
        highestForced >= 0 && highestForced <= batch,
        DoubleWriteLayout.HIGHEST_FORCED,
        "batch " + highestForced + " cannot be forced before batch " + batch);
    Set<Integer> ids = new HashSet<>();
    for (int i = 0; i < pages; i++) {
      int id = DoubleWriteLayout.entryPageId(header, i);
      require(
          id >= PageHeaderLayout.FIRST_POOLED_PAGE && ids.add(id),
          DoubleWriteLayout.ENTRIES + i * DoubleWriteLayout.ENTRY_SIZE,
          "page " + Integer.toUnsignedString(id) + " cannot be in a batch, or not twice");
    }
  }

  private void require(boolean legal, long field, String reason) {
    if (!legal) {
      throw new DamagedFileException(
          file.path(),
          field,
          "the checksum of the double-write file's header is correct, but " + reason);
    }
  }

  /**
   * Whether the batch may not have reached the data file, so that a restart has to examine it.
   *
   * @return true if {@link #restore} has something to do
   */
  public boolean mayHaveToRestore() {
    return state == State.FOUND && DoubleWriteLayout.pages(header) > 0 && batch > highestForced;
  }

  /**
   * Compares the batch with the data file and the log, and changes nothing. It checks two
   * conditions that no crash can violate. First, a page is written only after the log is durable up
   * to its LSN. Second, a page is written to the data file only while the batch that holds it is
   * the last one. So a page there is never newer than in the batch.
   *
   * @param data the data file
   * @param endOfLog the end of the log
   * @throws DamagedFileException if the three do not belong together
   */
  public void compare(StorageFile data, long endOfLog) {
    Map<Long, MemorySegment> repaired = new HashMap<>();
    int pages = mayHaveToRestore() ? DoubleWriteLayout.pages(header) : 0;
    MemorySegment own = MemorySegment.ofArray(new byte[PAGE_SIZE]);
    MemorySegment image = MemorySegment.ofArray(new byte[PAGE_SIZE]);
    long end = data.size();
    for (int i = 0; i < pages; i++) {
      int pageId = DoubleWriteLayout.entryPageId(header, i);
      if (PageHeaderLayout.position(pageId) >= end || !readImage(i, pageId, image)) {
        continue;
      }
      long lsn = PageHeaderLayout.pageLsn(image);
      if (lsn < 0 || lsn > endOfLog) {
        throw mixed(
            i,
            "has page " + pageId + " with LSN " + lsn + ", but the log ends at " + endOfLog,
            "put back the log that belongs to it");
      }
      if (!readOwn(data, pageId, own)) {
        MemorySegment copy = MemorySegment.ofArray(new byte[PAGE_SIZE]).copyFrom(image);
        repaired.put(PageHeaderLayout.position(pageId), copy);
      } else if (PageHeaderLayout.pageLsn(own) > lsn) {
        throw mixed(
            i,
            "has page "
                + pageId
                + " with LSN "
                + lsn
                + ", but the data file has it with LSN "
                + PageHeaderLayout.pageLsn(own),
            "put back the double-write file that belongs to it");
      }
    }
    data.showInstead(repaired);
  }

  private DamagedFileException mixed(int index, String reason, String cure) {
    return new DamagedFileException(
        file.path(),
        DoubleWriteLayout.imagePosition(index),
        "the files are from different moments: the double-write file " + reason,
        cure + ", or restore the whole directory from a copy",
        /* cause= */ null);
  }

  /**
   * The step of a restart: repairs the pages that a crash tore in the data file, and forces the
   * data file.
   *
   * @param data the data file, open for writing
   * @return what was found and done
   */
  public RestoreResult restore(StorageFile data) {
    require(State.FOUND, "restore must be the first call after opening");
    RestoreResult result = RestoreResult.NOTHING;
    if (mayHaveToRestore()) {
      file.force(); // a killed process may have left it in the system's cache alone
      result = restoreBatch(data);
      data.showInstead(Map.of()); // all are in the file now
      data.force();
    }
    highestForced = batch;
    state = State.IDLE;
    return result;
  }

  private RestoreResult restoreBatch(StorageFile data) {
    int pages = DoubleWriteLayout.pages(header);
    int restored = 0;
    List<Integer> beyondRepair = new ArrayList<>();
    MemorySegment own = MemorySegment.ofArray(new byte[PAGE_SIZE]);
    MemorySegment image = MemorySegment.ofArray(new byte[PAGE_SIZE]);
    long end = data.size();
    for (int i = 0; i < pages; i++) {
      int pageId = DoubleWriteLayout.entryPageId(header, i);
      if (PageHeaderLayout.position(pageId) >= end) {
        continue; // the file had this length, forced, before the page was written: it has been cut
      }
      boolean ownIsGood = readOwn(data, pageId, own);
      boolean imageIsGood = readImage(i, pageId, image);
      if (ownIsGood) {
        // Else the page is one that the batch has not reached. It is on the medium, and perhaps
        // the batch is not: a power cut during a write could make garbage of both.
        if (imageIsGood && own.mismatch(image) < 0) {
          data.write(PageHeaderLayout.position(pageId), own);
        }
      } else if (imageIsGood) {
        data.write(PageHeaderLayout.position(pageId), image);
        restored++;
      } else {
        beyondRepair.add(pageId);
      }
    }
    return new RestoreResult(pages, restored, List.copyOf(beyondRepair));
  }

  private static boolean readOwn(StorageFile data, int pageId, MemorySegment own) {
    int read = data.readBeneath(PageHeaderLayout.position(pageId), own);
    return read == PAGE_SIZE && PageChecksum.isGood(own, pageId);
  }

  private boolean readImage(int index, int pageId, MemorySegment image) {
    int read = file.readUpTo(DoubleWriteLayout.imagePosition(index), image);
    return read == PAGE_SIZE
        && PageChecksum.isGood(image, pageId)
        && PageHeaderLayout.crc(image) == DoubleWriteLayout.entryCrc(header, index);
  }

  /**
   * How many pages the next batch can have: as many as are wanted, unless the file would have to
   * grow for them and the disk is full. The batch before must have been confirmed.
   *
   * @param wanted how many there are, at most {@link #MAX_PAGES}
   * @return as many or fewer, at least one
   */
  public int roomFor(int wanted) {
    try {
      makeRoom(wanted);
    } catch (DiskFullException full) {
      return Math.min(wanted, room);
    }
    return wanted;
  }

  /** On return the file has room for this many images, whatever a crash does. */
  private void makeRoom(int pages) {
    require(State.IDLE, "the file can grow only when its batch is not needed");
    if (pages <= room) {
      return;
    }
    int more = room;
    while (more < pages) {
      more *= 2;
    }
    file.preallocate(DoubleWriteLayout.fileSize(room), DoubleWriteLayout.fileSize(more));
    file.force();
    room = more;
  }

  /**
   * Seals the images, writes them as the next batch and forces it. The batch before must have been
   * confirmed.
   *
   * @param n how many pages, 1 to what there is {@linkplain #roomFor room for}
   * @param pageIds their ids
   * @param images the pages, one after the other; their checksums are set here
   */
  public void writeBatch(int n, int[] pageIds, MemorySegment images) {
    require(State.IDLE, "a batch can be written only when the previous one is known to be forced");
    if (n < 1 || n > MAX_PAGES) {
      throw new IllegalArgumentException("a batch of " + n + " pages");
    }
    makeRoom(n);
    beginHeader(n);
    for (int i = 0; i < n; i++) {
      MemorySegment page = images.asSlice((long) i * PAGE_SIZE, PAGE_SIZE);
      checkId(page, pageIds[i]);
      PageChecksum.seal(page);
      DoubleWriteLayout.entry(header, i, pageIds[i], PageHeaderLayout.crc(page));
    }
    PageChecksum.seal(header);
    file.write(0, header);
    file.write(DoubleWriteLayout.imagePosition(0), images.asSlice(0, (long) n * PAGE_SIZE));
    file.force();
    headerIsOnMedium = true;
    state = State.WRITTEN;
  }

  private static void checkId(MemorySegment page, int pageId) {
    if (PageHeaderLayout.pageId(page) != pageId) {
      throw new IllegalArgumentException(
          "the image of page "
              + Integer.toUnsignedString(pageId)
              + " carries the id "
              + Integer.toUnsignedString(PageHeaderLayout.pageId(page)));
    }
    if (Integer.compareUnsigned(pageId, PageHeaderLayout.FIRST_POOLED_PAGE) < 0) {
      throw new IllegalArgumentException(
          "page " + pageId + " is a header or control slot, which is never written in a batch");
    }
  }

  private void beginHeader(int pages) {
    headerIsOnMedium = false;
    batch++;
    header.fill((byte) 0);
    DoubleWriteLayout.version(header, DoubleWriteLayout.CURRENT_VERSION);
    DoubleWriteLayout.magic(header, DoubleWriteLayout.MAGIC_VALUE);
    DoubleWriteLayout.databaseId(header).copyFrom(MemorySegment.ofArray(databaseId));
    DoubleWriteLayout.batch(header, batch);
    DoubleWriteLayout.highestForced(header, highestForced);
    DoubleWriteLayout.pages(header, pages);
  }

  /** Records that the data file was forced with the pages of the batch in it. */
  public void confirm() {
    require(State.WRITTEN, "there is no batch to confirm");
    highestForced = batch;
    state = State.IDLE;
  }

  /**
   * Whether the last batch, which may be one of a former process, has one of some pages.
   *
   * @param pageIds pages
   * @param from the index of the first one
   * @param to the index behind the last one
   * @return true if it has one
   */
  public boolean namesAny(int[] pageIds, int from, int to) {
    int pages = DoubleWriteLayout.pages(header);
    for (int i = 0; i < pages; i++) {
      int named = DoubleWriteLayout.entryPageId(header, i);
      for (int j = from; j < to; j++) {
        if (pageIds[j] == named) {
          return true;
        }
      }
    }
    return false;
  }

  /**
   * Records in the file that there is nothing to repair, as at a clean close. Correctness does not
   * depend on it, if no page of the batch is written afterwards without this file: if a crash
   * brings the batch back, its pages are forced, and the repair changes nothing.
   */
  public void clear() {
    require(
        State.IDLE, "the batch may still be needed: it is not known to be forced in the data file");
    beginHeader(0);
    highestForced = batch;
    DoubleWriteLayout.highestForced(header, highestForced);
    PageChecksum.seal(header);
    file.write(0, header);
  }

  /**
   * Makes sure that no batch in the file can ever be used for a repair. Called before pages of it
   * are written without this file. Otherwise an old batch could "repair" a newer page (rule R24),
   * or the next open would find a page that is newer than the batch, and refuse the files.
   */
  public void switchOff() {
    clear();
    file.force();
    headerIsOnMedium = true;
  }

  /**
   * Prepares for a write of pages without this file: afterwards no batch on the medium names one of
   * them. The first call of a process forces an empty header, unless a batch was written before.
   *
   * @param pageIds pages
   * @param from the index of the first one
   * @param to the index behind the last one
   */
  public void leaveOut(int[] pageIds, int from, int to) {
    if (!headerIsOnMedium || namesAny(pageIds, from, to)) {
      switchOff();
    }
  }

  private void require(State wanted, String sentence) {
    if (state != wanted) {
      throw new IllegalStateException(sentence + " (" + state + ")");
    }
  }

  /** Closes the file as it is; {@link #clear} comes first at a clean close. */
  @Override
  public void close() {
    file.close();
  }
}

package org.revenantdb.engine.backup;

import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.BackupReport;
import org.revenantdb.engine.RestoreProgress;
import org.revenantdb.engine.StorageException;
import org.revenantdb.engine.page.Page;
import org.revenantdb.engine.page.PageStructure;
import org.revenantdb.recovery.file.ControlState;
import org.revenantdb.recovery.file.DamagedFileException;
import org.revenantdb.recovery.file.Directories;
import org.revenantdb.recovery.file.FileException;
import org.revenantdb.recovery.file.FileThread;
import org.revenantdb.recovery.log.LogPiece;
import org.revenantdb.recovery.log.RebuiltLog;

/**
 * Makes a database of a whole backup and the increments after it, in their order.
 *
 * <p>Threads: the caller's reads streams; one of the engine writes the files. Failure: what was
 * made of the target is deleted.
 */
public final class BackupApply {
  /*
   * Protocol    docs/protocols.md §55, §56, with the crash tables.
   *
   * State       nothing      no part was read: the target is as it was          first part examined: it is marked
   *             part i       pages of the parts before, cut to their size, and some of part i
   *             last part    its log, too; at its end header, slots, all forced, renamed
   */
  private static final MemorySegment ZEROS = MemorySegment.ofArray(new byte[Page.SIZE]);

  private final List<Part> parts;
  private final Path directory;
  private final BackupSource.Names names;

  /** The bytes of the parts, and those of the present one that were read. */
  private final ToldProgress progress;

  private final long begun = System.nanoTime();
  private long toDo;

  /** What the part before has left; null before the first one has ended. */
  private @Nullable Former former;

  private long pagesWritten;
  private @Nullable BackupTarget made;
  private @Nullable RebuiltLog log;
  private @Nullable BackupReport report;

  /** A backup that was read. */
  @SuppressWarnings("ArrayRecordComponent") // never compared nor printed
  private record Former(byte[] id, long endOfLog, long pages, String name) {}

  /**
   * One backup of a chain.
   *
   * @param directory of a whole backup; null if it is a stream
   * @param file the file that the stream is; null if it is a stream of the caller
   * @param stream the stream of the caller
   */
  private record Part(@Nullable Path directory, @Nullable Path file, @Nullable InputStream stream) {

    static Part of(Path path) {
      Path increment = path.resolve(BackupTarget.INCREMENT);
      if (Directories.exists(increment)) {
        return ofFile(increment);
      }
      boolean isDirectory = Files.isDirectory(path) || !Directories.exists(path);
      return isDirectory ? new Part(path, null, null) : ofFile(path);
    }

    /** To open a pipe could wait for ever. */
    private static Part ofFile(Path path) {
      if (!Files.isRegularFile(path)) {
        throw new StorageException(
            StorageException.Reason.BACKUP_STREAM,
            path,
            StorageException.NO_OFFSET,
            "this backup cannot be used: it is neither a file nor a directory",
            "write the stream to a file",
            /* cause= */ null);
      }
      return new Part(null, path, null);
    }

    /** How much there is to read; what cannot be looked at fails when it is read. */
    long size(BackupSource.Names names) {
      Path read = directory == null ? file : directory.resolve(names.data());
      try {
        return read == null ? 0 : Files.size(read);
      } catch (IOException unknown) {
        return 0;
      }
    }

    String name() {
      Path path = directory == null ? file : directory;
      return path == null ? "a stream" : path.toString();
    }
  }

  private BackupApply(
      List<Part> parts,
      Path directory,
      BackupSource.Names names,
      Predicate<RestoreProgress> listener) {
    this.parts = parts;
    this.directory = directory;
    this.names = names;
    progress = new ToldProgress("applying backups to " + directory, listener);
  }

  /** Of a whole backup in a stream of the caller, which is not read yet. */
  public static BackupApply ofStream(InputStream from, Path directory, BackupSource.Names names) {
    return new BackupApply(
        List.of(new Part(null, null, from)), directory, names, /* listener= */ progress -> true);
  }

  /**
   * Of a whole backup and increments, each a directory or a file with a stream.
   *
   * @param backups in the order in which they were made
   * @param listener receives the progress, and returns whether it goes on
   */
  public static BackupApply of(
      List<Path> backups,
      Path directory,
      BackupSource.Names names,
      Predicate<RestoreProgress> listener) {
    return new BackupApply(backups.stream().map(Part::of).toList(), directory, names, listener);
  }

  /**
   * Returns the id of a backup.
   *
   * @param path a directory with a whole backup or an increment, or a file with a stream
   * @return its id as 32 hexadecimal digits
   */
  public static String idOf(Path path, BackupSource.Names names) {
    Part part = Part.of(path);
    Path file = part.file;
    if (file == null) {
      try (WholeDirectory whole = WholeDirectory.open(path, names)) {
        return BackupNotes.text(whole.start().id());
      }
    }
    try (FileStream from = new FileStream(file)) {
      return BackupNotes.text(StreamReader.ofFile(from, file, NOTHING).readManifest().id());
    }
  }

  /**
   * Checks a backup in a file, and the structure of each of its pages.
   *
   * @param path a file, or a directory with an increment
   * @return a report without a target
   */
  public static BackupReport check(Path path) {
    long begun = System.nanoTime();
    Path file = Objects.requireNonNull(Part.of(path).file);
    Checking checking = new Checking(file, begun);
    try (FileStream from = new FileStream(file)) {
      StreamReader.ofFile(from, file, checking).read();
    }
    return Objects.requireNonNull(checking.report);
  }

  /**
   * Whether {@link #check} can check it: it is a file, or an increment.
   *
   * @param path a file or directory
   * @return false for a directory with a database
   */
  public static boolean isStream(Path path) {
    return Part.of(path).file != null;
  }

  /** Makes the database. */
  public BackupReport run() {
    try {
      long[] ends = new long[parts.size()];
      for (int i = 0; i < ends.length; i++) {
        toDo += parts.get(i).size(names);
        ends[i] = toDo;
      }
      progress.expect(toDo);
      for (int i = 0; i < ends.length; i++) {
        read(parts.get(i), /* isLast= */ i == ends.length - 1);
        progress.isAt(ends[i]);
      }
      return Objects.requireNonNull(report);
    } catch (Throwable failed) {
      try {
        onFileThread(() -> remove(failed));
      } catch (Throwable left) { // the mark is there: nobody opens that
        failed.addSuppressed(left);
      }
      throw failed;
    }
  }

  private void read(Part part, boolean isLast) {
    PartWriter writer = new PartWriter(part, isLast);
    if (part.directory != null) {
      if (former != null || isLast) {
        BackupTarget.refuseUnfinished(part.directory);
        throw new StorageException(
            StorageException.Reason.BACKUP_BASE,
            part.directory,
            StorageException.NO_OFFSET,
            "this is not an increment: there is no " + BackupTarget.INCREMENT,
            "name the whole backup first, then the increments in the order in which they were made",
            /* cause= */ null);
      }
      try (WholeDirectory whole = WholeDirectory.open(part.directory, names)) {
        whole.read(writer);
      }
    } else if (part.file != null) {
      try (FileStream from = new FileStream(part.file)) {
        writer.reader = StreamReader.ofFile(from, part.file, writer);
        writer.reader.read();
      }
    } else {
      writer.reader = StreamReader.ofStream(Objects.requireNonNull(part.stream), directory, writer);
      writer.reader.read();
    }
  }

  private void remove(Throwable failed) {
    RebuiltLog open = log;
    if (open != null) {
      try {
        open.close();
      } catch (RuntimeException notClosed) {
        failed.addSuppressed(notClosed);
      }
    }
    BackupTarget target = made;
    if (target != null) {
      target.remove(failed);
    }
  }

  /** The caller may be interrupted, which would close a file for all. */
  private static void onFileThread(Runnable action) {
    if (FileThread.isCurrent()) {
      action.run();
      return;
    }
    FileThread.call(
        "revenant-unpack",
        () -> {
          action.run();
          return true;
        });
  }

  /** Writes what one part has. */
  private final class PartWriter implements StreamReader.Receiver {
    private final Part part;
    private final boolean isLast;
    private @Nullable StreamReader reader;
    private BackupOutput.@Nullable Start start;

    /** All pages from the end of the part before to here have come. */
    private long nextNew;

    PartWriter(Part part, boolean isLast) {
      this.part = part;
      this.isLast = isLast;
      nextNew = former == null ? 0 : former.pages;
    }

    @Override
    public void begin(BackupOutput.Start known) {
      refuseUnlessNext(known);
      start = known;
      onFileThread(() -> {
        BackupTarget target = made;
        if (target == null) {
          refuseInsideOfParts();
          target = BackupTarget.make(directory, names);
          made = target;
        }
        if (isLast) {
          target.makeRest(known.id());
          log = target.rebuildLog(known.id(), known.segmentSize());
        }
      });
    }

    private void refuseInsideOfParts() {
      for (Part other : parts) {
        Path file = other.file;
        Path folder =
            file != null && file.endsWith(BackupTarget.INCREMENT)
                ? file.toAbsolutePath().getParent()
                : other.directory;
        if (folder != null) {
          BackupTarget.refuseInside(directory, folder);
        }
      }
    }

    private void refuseUnlessNext(BackupOutput.Start known) {
      BackupOutput.Base base = known.base();
      Former before = former;
      if (before == null) {
        if (base != null) {
          throw bad(
              StorageException.Reason.BACKUP_STREAM,
              "it has only the changes since another backup, " + BackupNotes.text(base.id()),
              "apply it to that backup, with the command apply or Database.applyBackups");
        }
      } else if (base == null) {
        throw bad(
            StorageException.Reason.BACKUP_BASE,
            "it is a whole backup, and follows " + before.name,
            "name the whole backup first, then the increments in the order in which they were made");
      } else if (!Arrays.equals(base.id(), before.id) || base.endOfLog() != before.endOfLog) {
        throw bad(
            StorageException.Reason.BACKUP_BASE,
            "it has the changes since backup "
                + BackupNotes.text(base.id())
                + ", but it follows "
                + before.name
                + ", which is backup "
                + BackupNotes.text(before.id),
            "name the backups in the order in which they were made, without one that is left out or of another chain");
      }
    }

    private StorageException bad(StorageException.Reason reason, String why, String cure) {
      return Objects.requireNonNull(reader).bad(reason, why, cure);
    }

    private BackupTarget target() {
      return Objects.requireNonNull(made);
    }

    @Override
    public void pages(int first, int count, MemorySegment pages) {
      onFileThread(() -> target().data().write((long) first * Page.SIZE, pages));
      pagesWritten += count;
      progress.wrote(pages.byteSize());
    }

    @Override
    public void changed(int[] ids, MemorySegment pages) {
      refuseGaps(ids, pages);
      onFileThread(() -> {
        for (int from = 0; from < ids.length; ) {
          int to = from + 1;
          while (to < ids.length && ids[to] == ids[to - 1] + 1) {
            to++;
          }
          target()
              .data()
              .write(
                  (long) ids[from] * Page.SIZE,
                  pages.asSlice((long) from * Page.SIZE, (long) (to - from) * Page.SIZE));
          from = to;
        }
      });
      pagesWritten += ids.length;
      progress.wrote(pages.byteSize());
    }

    /** Else a small increment could make a large file. */
    private void refuseGaps(int[] ids, MemorySegment pages) {
      long known = Objects.requireNonNull(former).pages;
      for (int i = 0; i < ids.length; i++) {
        if (ids[i] >= known) {
          if (ids[i] != nextNew) {
            throw another("its page " + ids[i] + " comes where page " + nextNew + " belongs");
          }
          nextNew++;
        } else if (pages.asSlice((long) i * Page.SIZE, Page.SIZE).mismatch(ZEROS) < 0) {
          throw another("its page " + ids[i] + " is zeros, and the part before has that page");
        }
      }
    }

    private StorageException another(String why) {
      return bad(StorageException.Reason.BACKUP_STREAM, why, StreamReader.CURE);
    }

    @Override
    public void log(LogPiece piece) {
      if (isLast) {
        onFileThread(() -> Objects.requireNonNull(log).append(piece, piece.from(), piece.to()));
      }
      progress.wrote(piece.to() - piece.from());
    }

    @Override
    public void end(ControlState state, long logBytes) {
      BackupOutput.Start known = Objects.requireNonNull(start);
      Former before = former;
      if (before != null && state.durableLsn() < before.endOfLog) {
        throw bad(
            StorageException.Reason.BACKUP_BASE,
            "its log ends before that of " + before.name,
            "name the backups in the order in which they were made");
      }
      if (before != null && state.highWaterPages() > nextNew + StreamLayout.MOST_ZEROS) {
        throw another(
            "it says that the data file has "
                + state.highWaterPages()
                + " pages, and has none from page "
                + nextNew
                + " on");
      }
      former = new Former(known.id(), state.durableLsn(), state.highWaterPages(), part.name());
      onFileThread(() -> {
        if (isLast) {
          complete(known, state);
        } else {
          target().data().truncate(state.highWaterPages() * Page.SIZE); // what comes there is zeros
        }
      });
      report =
          new BackupReport(
              directory,
              BackupNotes.text(known.id()),
              /* notNoted= */ null,
              /* since= */ null,
              state.highWaterPages() * Page.SIZE + logBytes,
              state.highWaterPages(),
              pagesWritten,
              pagesWritten,
              logBytes,
              known.redoPoint(),
              state.durableLsn(),
              System.nanoTime() - begun);
    }

    private void complete(BackupOutput.Start known, ControlState state) {
      RebuiltLog rebuilt = Objects.requireNonNull(log);
      rebuilt.finish();
      rebuilt.close();
      target().writeHeader(known.id(), known.segmentSize(), known.createdMillis(), state);
      target().force();
      progress.isAt(toDo);
      progress.tell();
      target().complete();
    }
  }

  /** Does nothing with a backup. */
  private static final StreamReader.Receiver NOTHING = new Checking(Path.of(""), 0);

  /** Checks the structure of the pages. */
  private static final class Checking implements StreamReader.Receiver {
    private final Path file;
    private final long begun;
    private BackupOutput.@Nullable Start start;
    private long count;
    private @Nullable BackupReport report;

    Checking(Path file, long begun) {
      this.file = file;
      this.begun = begun;
    }

    @Override
    public void begin(BackupOutput.Start known) {
      start = known;
    }

    @Override
    public void pages(int first, int number, MemorySegment pages) {
      for (int i = 0; i < number; i++) {
        check(first + i, pages.asSlice((long) i * Page.SIZE, Page.SIZE));
      }
    }

    @Override
    public void changed(int[] ids, MemorySegment pages) {
      for (int i = 0; i < ids.length; i++) {
        check(ids[i], pages.asSlice((long) i * Page.SIZE, Page.SIZE));
      }
    }

    private void check(int pageId, MemorySegment page) {
      count++;
      String problem =
          Page.getByte(page, Page.TYPE) == Page.NEVER_WRITTEN
              ? null
              : PageStructure.problemOf(pageId, page);
      if (problem != null) {
        throw new DamagedFileException(
            file,
            FileException.NO_OFFSET,
            "page " + pageId + " of the backup is damaged: " + problem);
      }
    }

    @Override
    public void log(LogPiece piece) {}

    @Override
    public void end(ControlState state, long logBytes) {
      BackupOutput.Start known = Objects.requireNonNull(start);
      BackupOutput.Base base = known.base();
      report =
          new BackupReport(
              /* target= */ null,
              BackupNotes.text(known.id()),
              /* notNoted= */ null,
              base == null ? null : BackupNotes.text(base.id()),
              count * Page.SIZE + logBytes,
              state.highWaterPages(),
              count,
              count,
              logBytes,
              known.redoPoint(),
              state.durableLsn(),
              System.nanoTime() - begun);
    }
  }
}

package org.revenantdb.engine.backup;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.BackupOptions;
import org.revenantdb.engine.BackupProgress;
import org.revenantdb.engine.BackupReport;
import org.revenantdb.engine.StorageException;
import org.revenantdb.engine.access.Misuse;
import org.revenantdb.engine.page.Page;
import org.revenantdb.latch.Parking;
import org.revenantdb.recovery.checkpoint.RefusedPage;
import org.revenantdb.recovery.file.ControlState;
import org.revenantdb.recovery.file.DataFileHeader;
import org.revenantdb.recovery.file.FileException;
import org.revenantdb.recovery.file.FileThread;
import org.revenantdb.recovery.file.OwnershipLostException;
import org.revenantdb.recovery.log.LogCopy;

/**
 * One backup.
 *
 * <p>Threads: one of the engine does the steps; the caller's waits for them, and calls the
 * listener; any thread may stop it. Failure: the caller gets what the thread has thrown, and the
 * target is as it was, as far as that can be.
 */
final class BackupRun implements Backups.Started {
  /*
   * Protocol    docs/protocols.md §47, with schedules and the crash table; §56 for increments.
   *
   * Steps       base found | target marked | log held | redo, checkpoint: S, R | log that is there | pages, beside them
   *             log | E, N | log up to E, sealed | header, slots | all forced | noted | renamed
   *
   * Stop        `stop` is looked at before each piece of pages and in each pause. What it was set to is thrown then.
   */
  private static final long TELL_EVERY = TimeUnit.MILLISECONDS.toNanos(100);
  private static final long SECOND = TimeUnit.SECONDS.toNanos(1);
  private static final long LOG_EVERY = TimeUnit.MILLISECONDS.toNanos(20);

  /** As many bytes as a piece of pages. */
  private static final long LOG_PIECE = (long) PageCopy.AT_ONCE * Page.SIZE;

  private final BackupSource source;
  private final BackupOutput output;
  private final BackupOptions options;
  private final BackupSteps steps;
  private final FileThread thread;
  private final Thread caller = Thread.currentThread();
  private final long begun = System.nanoTime();

  private volatile @Nullable RuntimeException stop;
  private volatile BackupProgress progress = new BackupProgress(0, 0, 0);
  private long told = begun;
  private @Nullable BackupReport report;
  private @Nullable Throwable failure;

  /** Written after report and failure. */
  private volatile boolean done;

  BackupRun(
      BackupSource source,
      BackupOutput output,
      BackupOptions options,
      BackupSteps steps,
      Runnable ended) {
    this.source = source;
    this.output = output;
    this.options = options;
    this.steps = steps;
    thread = FileThread.of("revenant-backup", this::work, this::failed, ended);
  }

  void start() {
    thread.start();
  }

  /** Ends it soon, unless it has ended. */
  void stop(RuntimeException why) {
    if (stop == null) {
      stop = why;
    }
    thread.unpark();
  }

  /** Waits until its thread has ended. */
  void join() {
    thread.join();
  }

  @Override
  public boolean isDone() {
    return done;
  }

  /** Waits for the end, on the thread that has made this object. */
  @Override
  public BackupReport await() {
    boolean interrupted = false;
    try {
      while (!done) {
        boolean carried = false;
        try {
          carried = stop == null && output.carry();
        } catch (IOException | RuntimeException ofStream) {
          if (isInterrupt(ofStream)) {
            interrupted = true;
            stop(interrupted(ofStream));
          } else {
            stop(threw(ofStream));
          }
        }
        if (!carried) {
          Parking.parkNanos(this, TELL_EVERY);
        }
        if (Thread.interrupted()) {
          interrupted = true;
          stop(interrupted(/* ofStream= */ null));
        }
        if (!carried || System.nanoTime() - told >= TELL_EVERY) {
          tell();
          told = System.nanoTime();
        }
      }
      thread.join();
    } catch (Throwable ofListener) {
      stop(cancelled(/* cause= */ null));
      thread.join();
      throw ofListener;
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
    switch (failure) {
      case RuntimeException thrown -> throw thrown;
      case Error thrown -> throw thrown;
      case null, default -> {}
    }
    if (report == null) {
      throw new IllegalStateException("the backup has neither ended nor failed", failure);
    }
    try {
      output.flush();
    } catch (IOException | RuntimeException ofStream) {
      throw isInterrupt(ofStream) ? interrupted(ofStream) : threw(ofStream);
    }
    return report;
  }

  /** A stream may clear the interrupt. A timeout of a socket is a subclass, and is none. */
  private static boolean isInterrupt(Exception ofStream) {
    return Thread.currentThread().isInterrupted()
        || ofStream instanceof ClosedByInterruptException
        || ofStream.getClass() == InterruptedIOException.class;
  }

  private Misuse.OfCancellation interrupted(@Nullable Exception ofStream) {
    return new Misuse.OfCancellation(
        "the backup to " + output.name() + " was interrupted; begin it again", ofStream);
  }

  /** What the stream of the caller has thrown is not a failure of the engine. */
  private StorageException threw(Exception ofStream) {
    return new StorageException(
        StorageException.Reason.IO,
        source.directory(),
        StorageException.NO_OFFSET,
        "its backup to " + output.name() + " cannot be written: " + ofStream,
        "remove the cause, throw away what was written, and begin the backup again",
        ofStream);
  }

  private void tell() {
    boolean goesOn;
    try {
      goesOn = options.listener().test(progress);
    } catch (RuntimeException ofListener) {
      stop(cancelled(ofListener));
      return;
    }
    if (!goesOn) {
      stop(cancelled(/* cause= */ null));
    }
  }

  private Misuse.OfCancellation cancelled(@Nullable Throwable cause) {
    return new Misuse.OfCancellation(
        "the backup to " + output.name() + " was cancelled by its listener", cause);
  }

  private void work() {
    report = make(new Turn());
    end();
  }

  private void failed(Throwable why) {
    failure = why;
    end();
  }

  private void end() {
    done = true;
    Parking.unpark(caller);
  }

  private BackupReport make(Turn sinceBegin) {
    goOn();
    String since = options.since();
    BackupNotes.@Nullable Note base =
        since == null ? null : source.notes().demand(since, source.durableLsn(), source.life());
    output.make(source, this::goOn);
    try {
      return fill(sinceBegin, base);
    } catch (Throwable failed) {
      output.remove(failed);
      throw failed;
    }
  }

  private BackupReport fill(Turn sinceBegin, BackupNotes.@Nullable Note base) {
    byte[] id = new byte[BackupNotes.ID_SIZE];
    new SecureRandom().nextBytes(id);
    long limit = base == null ? PageCopy.ALL : base.redoPoint();
    long known = base == null ? 0 : base.pages();
    long pagesRead;
    long pagesCopied;
    ControlState state;
    BackupSource.End end;
    long logBytes;
    WriterShare share = new WriterShare();
    sinceBegin.paused(share);
    steps.at(BackupSteps.Step.MARKED);
    try (LogCopy log = source.holdLog()) {
      steps.at(BackupSteps.Step.HELD);
      state = source.checkpoint();
      refuseDamaged();
      DataFileHeader header = source.header();
      output.begin(
          new BackupOutput.Start(
              id,
              header.segmentSize(),
              header.createdMillis(),
              state.redoPoint(),
              state.life(),
              base == null ? null : new BackupOutput.Base(base.id(), base.endOfLog())),
          log);
      steps.at(BackupSteps.Step.CHECKPOINTED);
      copyOldLog(log, share);
      try (PageCopy pages = new PageCopy(source.pool(), source.data(), output, limit, known)) {
        copyPages(pages, log, share);
        steps.at(BackupSteps.Step.ALL_PAGES_COPIED);
        end = source.end();
        steps.at(BackupSteps.Step.END_KNOWN);
        refuseDamaged();
        copyLog(log, end.endOfLog());
        log.finish();
        pages.finish(end.pages());
        pagesRead = pages.pagesRead();
        pagesCopied = pages.pagesCopied();
      }
      logBytes = log.bytes();
    }
    steps.at(BackupSteps.Step.LOG_COPIED);
    output.end(copied(state, end), logBytes);
    goOn();
    String notNoted =
        note(
            new BackupNotes.Note(
                id,
                state.redoPoint(),
                end.endOfLog(),
                state.life(),
                end.pages(),
                System.currentTimeMillis()));
    steps.at(BackupSteps.Step.FORCED);
    output.complete();
    return new BackupReport(
        output.directory(),
        notNoted == null ? BackupNotes.text(id) : null,
        notNoted,
        options.since(),
        (base == null ? end.pages() : pagesCopied) * Page.SIZE + logBytes,
        end.pages(),
        pagesRead,
        pagesCopied,
        logBytes,
        state.redoPoint(),
        end.endOfLog(),
        System.nanoTime() - begun);
  }

  /**
   * Notes a backup. One that cannot be noted, for example on a full disk, is good, but no base.
   *
   * @return why it cannot; null if it was noted
   */
  private @Nullable String note(BackupNotes.Note note) {
    if (source.isReadOnly()) {
      return "the database is open read-only";
    }
    try {
      source.notes().add(note);
      return null;
    } catch (OwnershipLostException lost) {
      throw lost;
    } catch (FileException notNow) {
      return String.valueOf(notNow.getMessage());
    }
  }

  /** What the file says of such a page is known only to this life, and to the log. */
  private void refuseDamaged() {
    List<RefusedPage> refused = source.pool().refusedPages();
    if (!refused.isEmpty()) {
      throw source
          .pool()
          .damage(
              refused.getFirst().page(),
              "page "
                  + Integer.toUnsignedString(refused.getFirst().page())
                  + " is damaged: the file lacks its last write, as a reader has found; a damaged database is not copied");
    }
  }

  /** The log that was there before is copied piece by piece, as the pages are. */
  private void copyOldLog(LogCopy log, WriterShare share) {
    long old = source.durableLsn();
    long least = Long.MAX_VALUE;
    while (log.position() < old) {
      Turn turn = new Turn();
      copyLog(log, Math.min(log.position() + LOG_PIECE, old));
      turn.copied(share);
      progressed(0, log);
      goOn();
      long left = source.durableLsn() - log.position();
      long pause = share.pause();
      if (left < least) { // else writers would need its files before they are copied
        least = left;
        pause(share, pause, /* limit= */ 0, /* meanwhile= */ () -> {});
      }
    }
  }

  private void copyPages(PageCopy pages, LogCopy log, WriterShare share) {
    Limit limit = new Limit();
    while (copyPiece(pages, share)) {
      steps.at(BackupSteps.Step.PAGES_COPIED);
      Turn turn = new Turn();
      copyLog(log, source.durableLsn());
      turn.copied(share);
      progressed(pages.next(), log);
      goOn();
      pause(
          share,
          share.pause(),
          limit.due(pages.pagesRead() * Page.SIZE),
          () -> copyLog(log, source.durableLsn()));
    }
  }

  /** False if there is no more. Beside writers it is forced, so that they meet its cost at once. */
  private boolean copyPiece(PageCopy pages, WriterShare share) {
    Turn reading = new Turn();
    if (!pages.readNext()) {
      return false;
    }
    reading.copied(share);
    steps.at(BackupSteps.Step.PAGES_READ);
    Turn writing = new Turn();
    pages.writeRead();
    if (share.hasWriters()) {
      output.settle();
    }
    writing.copied(share);
    return true;
  }

  /** A time, and the commits in it. */
  private final class Turn {
    private final long commits = source.commits();
    private final long begun = System.nanoTime();

    long nanos() {
      return System.nanoTime() - begun;
    }

    void copied(WriterShare share) {
      share.copied(nanos(), source.commits() - commits);
    }

    void paused(WriterShare share) {
      share.paused(nanos(), source.commits() - commits);
    }
  }

  private void progressed(int pages, LogCopy log) {
    progress = new BackupProgress(pages, source.pool().sizeInPages(), log.bytes());
  }

  private void copyLog(LogCopy log, long upTo) {
    if (!log.copyUpTo(upTo)) {
      throw tooSlow();
    }
  }

  private StorageException tooSlow() {
    Path directory = output.directory();
    return new StorageException(
        StorageException.Reason.BACKUP_TOO_SLOW,
        directory == null ? source.directory() : directory,
        StorageException.NO_OFFSET,
        "the log of "
            + source.directory()
            + " grew faster than it was copied to "
            + (directory == null ? output.name() : "here"),
        "use a faster target, raise maxLogSize, or begin the backup when less is written",
        /* cause= */ null);
  }

  private void goOn() {
    RuntimeException why = stop;
    if (why != null) {
      throw why;
    }
  }

  /** The limit of bytes a second. Time in which less was copied is made up for a second at most. */
  private final class Limit {
    private long first = System.nanoTime();

    /** How long until it allows more pages, in nanoseconds. */
    long due(long bytes) {
      long limit = options.bytesPerSecond();
      if (limit == 0) {
        return 0;
      }
      long needed = (long) ((double) bytes / limit * SECOND);
      long due = needed - (System.nanoTime() - first);
      if (due < -SECOND) {
        first += -SECOND - due;
      }
      return due;
    }
  }

  /**
   * Pauses as long as the limit requires, and for concurrent writers while there are some.
   *
   * @param due for writers, in nanoseconds
   * @param limit in nanoseconds
   */
  private void pause(WriterShare share, long due, long limit, Runnable meanwhile) {
    long begun = System.nanoTime();
    while (true) {
      long wanted = share.hasWriters() ? Math.max(due, limit) : limit;
      long left = wanted - (System.nanoTime() - begun);
      if (left <= 0) {
        return;
      }
      Turn turn = new Turn();
      Parking.parkNanos(this, Math.min(left, LOG_EVERY));
      goOn();
      if (left > LOG_EVERY) {
        meanwhile.run();
      }
      turn.paused(share);
    }
  }

  /** Of the copy: the redo point of the checkpoint, and the end of the copy. */
  private static ControlState copied(ControlState state, BackupSource.End end) {
    return ControlState.notClosed(
        state.analysisPoint(),
        state.redoPoint(),
        state.checkpointLsn(),
        end.endOfLog(),
        state.life(),
        end.pages());
  }
}

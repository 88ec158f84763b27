package org.revenantdb.engine;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.access.Misuse;
import org.revenantdb.engine.admin.AdminSocket;
import org.revenantdb.engine.archive.Following;
import org.revenantdb.engine.lifecycle.DatabaseFiles;
import org.revenantdb.engine.lifecycle.FollowerView;
import org.revenantdb.engine.session.Boundary;
import org.revenantdb.recovery.file.FileThread;

/**
 * A copy of a database that another process writes, kept up to date from its archive. It serves
 * snapshots for reading, and can take the database over.
 *
 * <p>A snapshot has each commit up to a position of the log, and nothing else. A later snapshot has
 * that position or a higher one, also after the follower was killed and begun again.
 *
 * <p>Thread-safe.
 *
 * <p>All exceptions of the engine are subclasses of {@link RevenantException}.
 */
public final class Follower implements AutoCloseable {
  private final Path archive;
  private final Path directory;
  private final Following<FollowerView> following;
  private final AtomicBoolean leftThreads = new AtomicBoolean();

  private Follower(Path archive, Path directory, Following<FollowerView> following) {
    this.archive = archive;
    this.directory = directory;
    this.following = following;
  }

  /** The implementation of {@link Database#follow(Path, Path, FollowerOptions)}. */
  static Follower begin(Path archive, Path directory, FollowerOptions options) {
    Path absolute = directory.toAbsolutePath(); // for whoever reads a message and not the code
    Path followed = archive.toAbsolutePath();
    DatabaseOptions reading = options.database().withReadOnly(true);
    FileThread.databaseOpens();
    boolean isBegun = false;
    try {
      Following<FollowerView> following =
          new Following<>(
              followed,
              absolute,
              DatabaseFiles.NAMES,
              options,
              () -> new FollowerView(absolute, reading));
      FileThread.call(
          "revenant-follow",
          () -> {
            following.begin();
            return true;
          });
      isBegun = true;
      return new Follower(followed, absolute, following);
    } catch (RuntimeException failure) {
      throw Boundary.told(absolute, failure);
    } finally {
      if (!isBegun) {
        FileThread.databaseClosed();
      }
    }
  }

  /**
   * Where the files of the follower are.
   *
   * @return the directory, as an absolute path
   */
  public Path directory() {
    return directory;
  }

  /**
   * The newest snapshot, as a database that is open read-only. It never changes. Close it: an open
   * snapshot keeps its memory, and files of the follower. Tables are found by their names in each
   * snapshot; a {@link Table} of one snapshot is not for another.
   *
   * @return the database, to be closed by the caller
   * @throws DatabaseClosedException if the follower was closed, or promoted
   */
  public Database snapshot() {
    try {
      Following.Shown<FollowerView> share = following.acquire();
      boolean isMade = false;
      try {
        Database made =
            Database.ofView(directory, share.view().open(), () -> following.release(share));
        isMade = true;
        return made;
      } finally {
        if (!isMade) {
          following.release(share);
        }
      }
    } catch (RuntimeException failure) {
      throw Boundary.told(directory, failure);
    }
  }

  /**
   * Waits until new snapshots have all that the archive has now. The follower does the same by
   * itself in each interval.
   *
   * @throws StorageException if the archive cannot be read, with {@link
   *     StorageException.Reason#ARCHIVE_LACKS_MOMENT} if it does not go on where the follower is;
   *     or if the files of the follower cannot be written. Snapshots are served as before
   * @throws DatabaseClosedException if the follower is closed meanwhile
   */
  public void refresh() {
    try {
      following.refresh();
    } catch (RuntimeException failure) {
      throw Boundary.told(directory, failure);
    }
  }

  /**
   * Waits until new snapshots have a position of the log. So a reader sees what it has written: the
   * position is one to which the log was shipped after the commit, {@link
   * ArchiveStatistics#shippedLsn}.
   *
   * @param lsn the position
   * @param most the longest wait
   * @return whether snapshots have it; false after that time, after an interrupt, and if the
   *     follower has ended
   */
  public boolean awaitLsn(long lsn, Duration most) {
    Objects.requireNonNull(most, "most must not be null");
    try {
      return following.await(lsn, most);
    } catch (RuntimeException failure) {
      throw Boundary.told(directory, failure);
    }
  }

  /**
   * Whether the follower takes nothing more: it was closed or promoted, or its own files could not
   * be written. In the last case {@link #failure} says why, and snapshots are served until it is
   * closed.
   *
   * @return true if no newer snapshot will come
   */
  public boolean isEnded() {
    return following.hasEnded();
  }

  /**
   * How far the follower is.
   *
   * @return the numbers of now
   */
  public FollowerStatistics statistics() {
    try {
      return new FollowerStatistics(
          following.shownLsn(),
          following.lagNanos(),
          following.upToMillis(),
          following.viewsOpen(),
          following.rounds(),
          following.viewsOpened(),
          following.folds(),
          following.failures());
    } catch (RuntimeException failure) {
      throw Boundary.told(directory, failure);
    }
  }

  /**
   * Why the follower is behind, or cannot fold. Without a fold it shows all the same, but each
   * refresh takes longer.
   *
   * @return what the last look at the archive has thrown, or else the last fold; null if they went
   *     well
   */
  public @Nullable RevenantException failure() {
    Throwable why = following.failure();
    if (why == null) {
      return null;
    }
    RuntimeException told =
        why instanceof RuntimeException exception
            ? Boundary.told(directory, exception)
            : new StorageException(
                StorageException.Reason.IO,
                directory,
                StorageException.NO_OFFSET,
                "following failed (" + why + ")",
                "close the follower, and begin again",
                why);
    return told instanceof RevenantException known ? known : null;
  }

  /**
   * Makes this follower the database: it takes all that the archive has, keeps the former writer
   * out, and is opened for writing. Snapshots are closed; calls in them end with {@link
   * DatabaseClosedException}.
   *
   * <p>The former writer finds a fence in its archive. If it runs, it stops within an interval of
   * its archive. If it is opened again with its archive, the open is refused. A former writer that
   * cannot reach the archive, or is opened without it, is not kept out: stop its machine first.
   * What it committed and had not shipped is not in the promoted database.
   *
   * @param options how the database is opened; an archive has to be another one than that which was
   *     followed
   * @return the database
   * @throws IllegalArgumentException if the options are readOnly, or name the archive that was
   *     followed
   * @throws StorageException with {@link StorageException.Reason#FENCED} if another follower was
   *     promoted; with another reason if the archive cannot be read or written. The follower goes
   *     on following then, unless it was its own files that failed
   */
  public Database promote(DatabaseOptions options) {
    return promote(options, /* withFence= */ true);
  }

  /**
   * As {@link #promote}, when the archive is lost: the database has what the follower has taken.
   * Nobody is kept out, so make sure that the former writer does not run.
   *
   * @param options how the database is opened
   * @return the database
   * @throws IllegalArgumentException if the options are readOnly, or name the archive that was
   *     followed
   * @throws StorageException if the files of the follower cannot be written
   */
  public Database promoteWithoutFence(DatabaseOptions options) {
    return promote(options, /* withFence= */ false);
  }

  private Database promote(DatabaseOptions options, boolean withFence) {
    Objects.requireNonNull(options, "options must not be null");
    try {
      refuseUseless(options); // before anything is changed
      following.promote(withFence);
    } catch (RuntimeException failure) {
      throw Boundary.told(directory, failure);
    }
    try {
      return Database.open(directory, options);
    } finally {
      leave();
    }
  }

  private void refuseUseless(DatabaseOptions options) {
    if (options.readOnly()) {
      throw new Misuse.OfArgument(
          "a follower is promoted to be written: promote it with options that are not readOnly");
    }
    if (options.adminSocket()) {
      AdminSocket.demandPossible(directory.toAbsolutePath());
    }
    ArchiveOptions next = options.archive();
    if (next != null && next.directory().toAbsolutePath().normalize().equals(archive.normalize())) {
      throw new Misuse.OfArgument(
          "the promoted database needs an archive of its own: "
              + archive
              + " is that of the former writer; name another directory");
    }
  }

  private void leave() {
    if (!leftThreads.getAndSet(true)) {
      FileThread.databaseClosed();
    }
  }

  /**
   * Ends the follower and its snapshots; calls in them end with {@link DatabaseClosedException}.
   * The files stay: {@link Database#follow} goes on with them. Does nothing after a promotion.
   */
  @Override
  public void close() {
    try {
      FileThread.call(
          "revenant-close",
          () -> {
            following.close();
            return true;
          });
    } catch (RuntimeException failure) {
      throw Boundary.told(directory, failure);
    } finally {
      leave();
    }
  }

  /** Directory and position, for messages and debuggers. */
  @Override
  public String toString() {
    return "Follower[" + directory + ", at " + following.shownLsn() + "]";
  }
}

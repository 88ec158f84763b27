package org.revenantdb.engine.backup;

import java.io.OutputStream;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.BackupOptions;
import org.revenantdb.engine.BackupReport;
import org.revenantdb.engine.access.Misuse;
import org.revenantdb.engine.session.OperationGate;
import org.revenantdb.latch.PatientLock;

/**
 * The backups of an open database: one at a time, and none when it closes.
 *
 * <p>Threads: any.
 */
public final class Backups implements AutoCloseable {
  private final BackupSource source;
  private final PatientLock lock = new PatientLock();
  private @Nullable BackupRun running;
  private boolean closed;

  /** Tests replace it. */
  volatile BackupSteps steps = BackupSteps.NONE;

  public Backups(BackupSource source) {
    this.source = source;
  }

  /** Makes a backup, and waits for its end. */
  public BackupReport backup(Path target, BackupOptions options) {
    return begin(toDirectory(target, options), options).await();
  }

  /** Makes a backup to a stream, which only the calling thread uses, and waits for its end. */
  public BackupReport backup(OutputStream target, BackupOptions options) {
    return begin(new StreamOutput(target), options).await();
  }

  /**
   * Begins a backup for a thread that does something else meanwhile.
   *
   * @return the backup; the calling thread is unparked at its end
   */
  public Started start(Path target, BackupOptions options) {
    return begin(toDirectory(target, options), options);
  }

  private static BackupOutput toDirectory(Path target, BackupOptions options) {
    return options.since() == null ? new DirectoryOutput(target) : new IncrementOutput(target);
  }

  /** A backup that has begun. */
  public interface Started {
    /** Whether it has ended. */
    boolean isDone();

    /** Waits for the end, and returns what was made; throws why there is nothing. */
    BackupReport await();
  }

  private BackupRun begin(BackupOutput output, BackupOptions options) {
    BackupRun run = new BackupRun(source, output, options, steps, this::ended);
    lock.lock();
    try {
      if (closed) {
        throw OperationGate.closed();
      }
      if (running != null) {
        throw new Misuse.OfState(
            "another backup of "
                + source.directory()
                + " is being made; begin that to "
                + output.name()
                + " when it has ended");
      }
      run.start();
      running = run;
      return run;
    } finally {
      lock.unlock();
    }
  }

  /** On the thread of the backup, at its end. */
  private void ended() {
    lock.lock();
    try {
      running = null;
    } finally {
      lock.unlock();
    }
  }

  /** Ends the running backup and waits for its thread; refuses all others. */
  @Override
  public void close() {
    BackupRun last;
    lock.lock();
    try {
      closed = true;
      last = running;
    } finally {
      lock.unlock();
    }
    if (last != null) {
      last.stop(OperationGate.closed());
      last.join();
    }
  }
}

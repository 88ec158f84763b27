package org.revenantdb.engine.backup;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Path;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.revenantdb.latch.Parking;
import org.revenantdb.recovery.log.LogCopy;

/**
 * A backup to a stream of the caller.
 *
 * <p>Threads: that of the backup makes the entries, and the caller's thread writes them to its
 * stream. So a stream that blocks neither holds the log nor delays the close of the database.
 */
final class StreamOutput extends EntryOutput {
  /*
   * State       ready == 0   the thread of the backup may hand over an entry; `carried` is not used
   *             ready > 0    the caller writes the first `ready` bytes of `carried`
   *
   * Transitions 0 -> n       by the thread of the backup; before that it exchanges the arrays
   *             n -> 0       by the caller, after the write
   *
   * A wait of the thread of the backup ends when the backup is stopped, or the hold of its log is broken. An entry that
   * was not handed over for the second reason is missing, and the next look at the log ends the backup.
   */
  private static final long LOOK_EVERY = TimeUnit.MILLISECONDS.toNanos(20);

  private final OutputStream to;
  private final Thread caller = Thread.currentThread();

  private byte[] carried = newArray();

  /** Written by both threads, see above. */
  private volatile int ready;

  private volatile @Nullable Thread maker;
  private Runnable goOn = () -> {};
  private @Nullable LogCopy log;

  StreamOutput(OutputStream to) {
    this.to = to;
  }

  @Override
  public String name() {
    return "a stream";
  }

  @Override
  public @Nullable Path directory() {
    return null;
  }

  @Override
  public void make(BackupSource source, Runnable whileWaiting) {
    goOn = whileWaiting;
    maker = Thread.currentThread();
  }

  @Override
  public void begin(Start start, LogCopy copy) {
    log = copy;
    super.begin(start, copy);
  }

  @Override
  public void finish() {
    log = null; // it was copied up to its end: its hold may break
  }

  @Override
  public void settle() {} // the other end decides what is forced

  @Override
  public void complete() {
    handOverEnd();
    awaitCarried();
  }

  @Override
  public void remove(Throwable failed) {} // without its last entry it is no backup

  @Override
  byte @Nullable [] take(byte[] entry, int length) {
    if (!awaitCarried()) {
      return null;
    }
    byte[] free = carried;
    carried = entry;
    ready = length;
    Parking.unpark(caller);
    return free;
  }

  /**
   * Waits until the caller has written what was handed over; false if the log was needed before.
   */
  private boolean awaitCarried() {
    while (ready > 0) {
      goOn.run();
      LogCopy held = log;
      if (held != null && held.isBroken()) {
        return false;
      }
      Parking.parkNanos(this, LOOK_EVERY);
    }
    return true;
  }

  @Override
  public boolean carry() throws IOException {
    int length = ready;
    if (length == 0) {
      return false;
    }
    to.write(carried, 0, length);
    ready = 0;
    Parking.unpark(Objects.requireNonNull(maker));
    return true;
  }

  @Override
  public void flush() throws IOException {
    to.flush();
  }
}

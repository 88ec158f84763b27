package org.revenantdb.chaos.run;

import java.io.IOException;
import org.revenantdb.chaos.crash.Watchdog;
import org.revenantdb.chaos.disk.DiskImage;
import org.revenantdb.chaos.oracle.PromiseLog;

/**
 * Opens images of a disk and checks them.
 *
 * <p>Threads: one; each thread has its own checker. Failure: none; failures of the subject are the
 * result.
 */
public interface ImageChecker extends AutoCloseable {

  /**
   * Checks an image, including new work that is checked at another opening.
   *
   * @param image is changed
   * @param log the promises
   * @param seq the crash point: promises before it count
   * @return the result
   */
  StateResult check(DiskImage image, PromiseLog log, long seq);

  /**
   * Checks an image like {@link #check}, without the last step: new work must be accepted, but is
   * not checked at another opening.
   *
   * @param image is changed
   * @param log the promises
   * @param seq the crash point
   * @return the result
   */
  StateResult glance(DiskImage image, PromiseLog log, long seq);

  /**
   * Checks an image like {@link #glance}, if possible without new work.
   *
   * @param image is changed
   * @param log the promises
   * @param seq the crash point
   * @return the result
   */
  default StateResult look(DiskImage image, PromiseLog log, long seq) {
    return glance(image, log, seq);
  }

  /**
   * Checks an image and records its recovery.
   *
   * @param image is changed
   * @param log the promises
   * @param seq the crash point
   * @return the result, and the recording with the promises that apply to it
   * @throws IOException if the recording cannot be made
   */
  StateChecker.Recorded checkRecorded(DiskImage image, PromiseLog log, long seq) throws IOException;

  /**
   * Returns whether {@link #checkRecorded} is possible.
   *
   * @return by default true
   */
  default boolean records() {
    return true;
  }

  /**
   * Returns the subject's class.
   *
   * @return its binary name
   */
  String subjectClass();

  /**
   * Returns what is being done, for a watcher in another thread.
   *
   * @return the phase
   */
  String phase();

  /**
   * Receives the watch of the calling thread. A checker that waits for another JVM, which has a
   * watch of its own, lets this one rest meanwhile.
   *
   * @param watchdog watches the thread that checks
   */
  default void watchedBy(Watchdog watchdog) {}

  /** Ends what belongs to the checker. */
  @Override
  default void close() {}
}

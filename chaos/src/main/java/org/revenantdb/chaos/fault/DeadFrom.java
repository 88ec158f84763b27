package org.revenantdb.chaos.fault;

import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The death of a process as its disk sees it: from one operation on nothing is carried out, not
 * even cleanup.
 *
 * <p>Unlike after a real death, the disk's cache can be cut later: bytes that the dead process did
 * not force are still pending when the next process has worked. Operations under way in other
 * threads at the moment of death may still be carried out. {@code RecordingFileSystem.nextProcess}
 * waits for them.
 *
 * <p>Death may come inside a write, too, because a real process that is killed has then written
 * some of its pages, from the first on. A write within one page is there or not.
 *
 * <p>Threads: any.
 */
public final class DeadFrom implements FaultInjector {

  /**
   * The size of a page of the page cache. A kill takes effect between two pages, not inside one.
   */
  private static final int PAGE = 4096;

  private static final String MESSAGE = "the process is dead";

  private final Predicate<FileOperation> which;
  private final long nth;
  private final @Nullable Long seed;
  private final AtomicLong seen = new AtomicLong();
  private volatile boolean dead;

  /**
   * Creates a death at one operation.
   *
   * @param which operations count
   * @param nth the first of them that is not carried out, from 1
   */
  public DeadFrom(Predicate<FileOperation> which, long nth) {
    this(which, nth, null);
  }

  /**
   * Creates a death at one operation, or inside it if it is a write of several pages.
   *
   * @param which operations count
   * @param nth the first of them that is not carried out, or only in part, from 1
   * @param seed determines how many pages of a write are there, perhaps none
   */
  public DeadFrom(Predicate<FileOperation> which, long nth, long seed) {
    this(which, nth, Long.valueOf(seed));
  }

  private DeadFrom(Predicate<FileOperation> which, long nth, @Nullable Long seed) {
    this.which = which;
    this.nth = nth;
    this.seed = seed;
  }

  @Override
  public Fault before(FileOperation operation) {
    if (!dead && which.test(operation) && seen.incrementAndGet() == nth) {
      dead = true;
      return last(operation);
    }
    return dead ? new Fault.Fail(MESSAGE) : Fault.NONE;
  }

  /** The operation at which the process dies. */
  private Fault last(FileOperation operation) {
    int inFirstPage = (int) (PAGE - operation.offset() % PAGE);
    if (seed == null
        || operation.kind() != FileOperation.Kind.WRITE
        || operation.length() <= inFirstPage) {
      return new Fault.Fail(MESSAGE);
    }
    int boundaries = 1 + (operation.length() - inFirstPage - 1) / PAGE;
    int written = new SplittableRandom(seed).nextInt(boundaries + 1);
    return written == 0
        ? new Fault.Fail(MESSAGE)
        : new Fault.CutOff(inFirstPage + (written - 1) * PAGE, MESSAGE);
  }

  /** Dies now, unless the process is dead already. */
  public void die() {
    dead = true;
  }

  /**
   * Returns whether the process is dead.
   *
   * @return true from the death on
   */
  public boolean isDead() {
    return dead;
  }

  /**
   * Returns how many operations that count were requested until the death, including the one at
   * which the process died.
   *
   * @return the number so far
   */
  public long seen() {
    return seen.get();
  }
}

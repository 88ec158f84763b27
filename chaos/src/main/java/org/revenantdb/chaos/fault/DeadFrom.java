package org.revenantdb.chaos.fault;

import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Predicate;

/**
 * The death of a process as its disk sees it: from one operation on nothing is carried out any
 * more, not even what would tidy up.
 *
 * <p>Unlike with a real one the disk's cache can be cut afterwards: what the dead process did not
 * force is still pending when the next one has worked. What is under way in other threads at the
 * moment of death may still be carried out; {@code RecordingFileSystem.nextProcess} waits for it.
 *
 * <p>Threads: any.
 */
public final class DeadFrom implements FaultInjector {

  private final Predicate<FileOperation> which;
  private final long nth;
  private final AtomicLong seen = new AtomicLong();
  private volatile boolean dead;

  /**
   * Death at one operation.
   *
   * @param which operations count
   * @param nth of them is the first that is not carried out, from 1
   */
  public DeadFrom(Predicate<FileOperation> which, long nth) {
    this.which = which;
    this.nth = nth;
  }

  @Override
  public Fault before(FileOperation operation) {
    if (!dead && which.test(operation) && seen.incrementAndGet() == nth) {
      dead = true;
    }
    return dead ? new Fault.Fail("the process is dead") : Fault.NONE;
  }

  /** Death now, unless it came earlier. */
  public void die() {
    dead = true;
  }

  /**
   * Whether it came to that.
   *
   * @return true from the death on
   */
  public boolean isDead() {
    return dead;
  }

  /**
   * How many of the operations that count were asked for until the death, with the one it came at.
   *
   * @return the number so far
   */
  public long seen() {
    return seen.get();
  }
}

package org.revenantdb.recovery.log;

/**
 * Bounds the work of a restart, in bytes of log and in pages to read. Threads take credit for both
 * before they latch anything (R17).
 *
 * <p>Threads: any. A thread that acquires may wait, uninterruptibly, and must hold nothing.
 *
 * <p>Failure: {@link LogStoppedException} after {@link #stop}.
 *
 * {@snippet :
 * space.acquire(worstBytes, worstPages);
 * try {
 *   // latch, change, publish, unlatch
 * } finally {
 *   space.release(worstBytes, worstPages);
 * }
 * }
 */
public final class RecoverySpace {
  /*
   * Order       Every thread takes pages first, then bytes. So a thread that waits for bytes may have pages, a thread
   *             that waits for pages has nothing, and a thread with both waits for neither: there is no cycle. The
   *             checkpoint frees both, and takes no credit.
   */
  private final LogSpace log;
  private final PageSpace pages;
  private final KeptCredit kept;

  /**
   * Combines the two.
   *
   * @param log room in the log
   * @param pages room for pages
   */
  public RecoverySpace(LogSpace log, PageSpace pages) {
    this.log = log;
    this.pages = pages;
    this.kept = new KeptCredit(new Both(log, pages), log.credit().bound(), pages.credit().bound());
    log.credit().kept(kept::takeBack);
    pages.credit().kept(kept::takeBack);
  }

  /** The answers of both about kept credit. */
  private record Both(LogSpace log, PageSpace pages) implements KeptCredit.Grants {
    @Override
    public boolean isCalm() {
      return log.credit().isCalm() && pages.credit().isCalm() && log.hasFiles();
    }

    @Override
    public boolean isAwaited() {
      return log.credit().isAwaited() || pages.credit().isAwaited();
    }

    @Override
    public void release(int bytes, int ofPages) {
      log.release(bytes);
      pages.release(ofPages);
    }
  }

  /**
   * Takes credit for ordinary work; waits until there is enough.
   *
   * @param worstBytes the most that will be published
   * @param worstPages the most pages that may become dirty
   * @throws LogStoppedException if the engine has stopped
   * @throws org.revenantdb.recovery.file.DiskFullException if there is no room for the files of the
   *     log; no credit was taken, and nothing has stopped
   * @throws IllegalArgumentException if there can never be enough
   */
  public void acquire(int worstBytes, int worstPages) {
    if (!kept.take(worstBytes, worstPages)) {
      pages.acquire(worstPages);
      acquireBytes(worstBytes, worstPages, /* toClean= */ false);
    }
  }

  /**
   * Takes credit for ordinary work if that needs no wait. So it may be called with pages latched
   * and in addition to other credit.
   *
   * @param worstBytes the most that will be published
   * @param worstPages the most pages that may become dirty
   * @return whether it was taken
   */
  public boolean tryAcquire(int worstBytes, int worstPages) {
    if (!pages.tryAcquire(worstPages)) {
      return false;
    }
    if (log.tryAcquire(worstBytes)) {
      return true;
    }
    pages.release(worstPages);
    return false;
  }

  /**
   * The same for a thread that cleans up after the others. It does not wait until they leave room
   * for pages, and is not slowed down like them.
   *
   * @param worstBytes the most that will be published
   * @param worstPages the most pages that may become dirty
   * @throws LogStoppedException if the engine has stopped
   * @throws org.revenantdb.recovery.file.DiskFullException if there is no room for the files of the
   *     log; no credit was taken, and nothing has stopped
   * @throws IllegalArgumentException if there can never be enough
   */
  public void acquireToClean(int worstBytes, int worstPages) {
    pages.acquireReserved(worstPages);
    acquireBytes(worstBytes, worstPages, /* toClean= */ true);
  }

  private void acquireBytes(int worstBytes, int pagesTaken, boolean toClean) {
    try {
      if (toClean) {
        log.acquireToClean(worstBytes);
      } else {
        log.acquire(worstBytes);
      }
    } catch (Throwable failure) {
      pages.release(pagesTaken);
      throw failure;
    }
  }

  /**
   * Returns credit, used or not.
   *
   * @param worstBytes what was acquired
   * @param worstPages what was acquired
   */
  public void release(int worstBytes, int worstPages) {
    if (!kept.keep(worstBytes, worstPages)) {
      log.release(worstBytes);
      pages.release(worstPages);
    }
  }

  /**
   * Called when a checkpoint is durable.
   *
   * @param redoPoint the position from which recovery would read now
   */
  public void redoPointMoved(long redoPoint) {
    log.redoPointMoved(redoPoint);
    pages.redoPointMoved(redoPoint);
  }

  /**
   * Makes present waiters and later callers fail.
   *
   * @param cause why the engine has stopped
   */
  public void stop(Throwable cause) {
    try {
      log.stop(cause);
    } finally {
      pages.stop(cause);
    }
  }

  /**
   * Whether a thread waits for room.
   *
   * @return as of now
   */
  public boolean isAwaited() {
    return log.credit().isAwaited() || pages.credit().isAwaited();
  }

  /**
   * Room in the log alone.
   *
   * @return the object that grants credit for bytes
   */
  public LogSpace log() {
    return log;
  }

  /**
   * The room for pages.
   *
   * @return the object that grants credit for pages
   */
  public PageSpace pages() {
    return pages;
  }
}

package org.revenantdb.engine.version;

/**
 * Whether the writers of a database rest, so that all pages can be cleaned without doing what their
 * next writer would do. Writers that commit at intervals do not rest in between: an application
 * that commits every 100 ms comes back to its pages.
 *
 * <p>Threads: only that of the cleaner. All times are nanoseconds since an arbitrary moment.
 */
final class WritersRest {
  /** A pause is a rest if it takes this many times as long as the pauses before. */
  private static final int LONGER = 8;

  private final long shortest;
  private final long longest;
  private boolean hasWritten;
  private long last;

  /** The pause that writers make at present; from the longest on, each write stands alone. */
  private long usual;

  /**
   * No thread has written yet.
   *
   * @param shortest a shorter pause is never a rest
   * @param longest a longer pause is always a rest
   */
  WritersRest(long shortest, long longest) {
    this.shortest = shortest;
    this.longest = longest;
    this.usual = longest;
  }

  /**
   * A thread has written since the last call.
   *
   * @param since the first time that a thread did
   * @param now the time of this call: the cleaner may have been busy since
   */
  void wrote(long since, long now) {
    long pause = hasWritten ? Math.max(0, since - last) : longest;
    boolean alone = pause >= longest || usual >= longest;
    usual = alone ? pause : Math.max(pause, usual / 2); // one short pause does not count
    last = now;
    hasWritten = true;
  }

  /** Whether no thread has written for so long that none is expected to. */
  boolean isOver(long now) {
    return !hasWritten || now - last >= length();
  }

  private long length() {
    return usual >= longest ? shortest : Math.clamp(LONGER * usual, shortest, longest);
  }
}

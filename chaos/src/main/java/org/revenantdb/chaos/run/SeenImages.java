package org.revenantdb.chaos.run;

import org.agrona.collections.Long2LongHashMap;
import org.agrona.collections.LongHashSet;

/**
 * Images that were checked already, with the number of promises at that time. The same image
 * without further promises need not be checked again.
 *
 * <p>Runs over the same recording, for instance under several profiles, share one object.
 *
 * <p>Threads: any.
 */
public final class SeenImages {

  /** What is known about an image. */
  enum Known {
    /** It was never seen. */
    NEW,
    /** It was seen with fewer promises, or with other ones. */
    LESS_PROMISED,
    /** Checking it again gives nothing new. */
    ALREADY
  }

  private static final int NEVER = -1;

  private final Long2LongHashMap promisedByHash = new Long2LongHashMap(NEVER);
  private final LongHashSet images = new LongHashSet();
  private long logs;

  /** Creates an empty set. */
  public SeenImages() {}

  /**
   * Registers a log of promises with its own numbers: that of the recovery from one crash state.
   *
   * @return its number here; 0 is the log of the recording itself
   */
  synchronized long anotherLog() {
    return ++logs * 0x9E37_79B9_7F4A_7C15L;
  }

  /**
   * Adds an image and returns what was known about it before.
   *
   * @param hash of the image
   * @param log the log that the promises belong to: counts of different logs cannot be compared
   * @param promised the number of promises
   */
  synchronized Known add(long hash, long log, int promised) {
    boolean isNew = images.add(hash);
    if (promisedByHash.get(hash + log) >= promised) {
      return Known.ALREADY;
    }
    promisedByHash.put(hash + log, promised);
    return isNew ? Known.NEW : Known.LESS_PROMISED;
  }

  /**
   * How many different images were added.
   *
   * @return a count
   */
  public synchronized int size() {
    return images.size();
  }
}

package org.revenantdb.chaos.run;

import org.agrona.collections.Long2LongHashMap;
import org.agrona.collections.LongHashSet;

/**
 * Images that were checked already, and how much was promised then: the same image with nothing
 * more promised need not be checked again.
 *
 * <p>Runs over the same recording, for instance under several profiles, share one.
 *
 * <p>Threads: any.
 */
public final class SeenImages {

  /** What is known of an image. */
  enum Known {
    /** It was never seen. */
    NEW,
    /** It was seen when less was promised, or something else. */
    LESS_PROMISED,
    /** Checking it again says nothing. */
    ALREADY
  }

  private static final int NEVER = -1;

  private final Long2LongHashMap promisedByHash = new Long2LongHashMap(NEVER);
  private final LongHashSet images = new LongHashSet();
  private long logs;

  /** Creates an empty set. */
  public SeenImages() {}

  /**
   * A log of promises whose numbers are its own: that of the recovery from one crash state.
   *
   * @return its name here; 0 is the log of the recording itself
   */
  synchronized long anotherLog() {
    return ++logs * 0x9E37_79B9_7F4A_7C15L;
  }

  /**
   * Adds an image and says what was known of it before.
   *
   * @param hash of the image
   * @param log of the promises that are counted: numbers of another log say nothing
   * @param promised how many
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

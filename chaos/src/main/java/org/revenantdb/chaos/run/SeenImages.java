package org.revenantdb.chaos.run;

import java.util.HashMap;
import java.util.Map;

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
    /** It was seen when less was promised. */
    LESS_PROMISED,
    /** Checking it again says nothing. */
    ALREADY
  }

  private final Map<Long, Integer> promisedByHash = new HashMap<>();

  /** Creates an empty set. */
  public SeenImages() {}

  /** Adds an image and says what was known of it before. */
  synchronized Known add(long hash, int promised) {
    Integer before = promisedByHash.get(hash);
    if (before == null) {
      promisedByHash.put(hash, promised);
      return Known.NEW;
    }
    if (before < promised) {
      promisedByHash.put(hash, promised);
      return Known.LESS_PROMISED;
    }
    return Known.ALREADY;
  }

  /**
   * How many different images were added.
   *
   * @return a count
   */
  public synchronized int size() {
    return promisedByHash.size();
  }
}

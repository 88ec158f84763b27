package org.revenantdb.suite.model;

import java.nio.file.Path;
import java.time.Duration;

/**
 * The options of a run of the model.
 *
 * @param seed of the first episode; the next one has the next number
 * @param time the minimum duration
 * @param kills the minimum number of kills
 * @param episodes the maximum number of episodes, 0 for no limit except time and kills
 * @param kind the kinds of episodes
 * @param dir the directory of the databases
 * @param poolBytes the maximum memory for the store's pages: small, so that they are evicted
 * @param opener class name of the store's {@link Store.Opener}
 */
public record ModelOptions(
    long seed,
    Duration time,
    int kills,
    int episodes,
    Kind kind,
    Path dir,
    long poolBytes,
    String opener) {

  /** The kinds of episodes. */
  public enum Kind {
    /** Both kinds; every seed divisible by four gives steps. */
    BOTH,
    /** Children that work and are killed. */
    KILLS,
    /** One thread, many sessions, every answer predicted. */
    STEPS
  }

  boolean runsSteps(long episodeSeed) {
    return switch (kind) {
      case BOTH -> episodeSeed % 4 == 0;
      case KILLS -> false;
      case STEPS -> true;
    };
  }

  Store.Opener newOpener() {
    return Stores.opener(opener);
  }
}

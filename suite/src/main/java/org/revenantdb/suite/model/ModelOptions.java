package org.revenantdb.suite.model;

import java.nio.file.Path;
import java.time.Duration;

/**
 * What a run of the model is to do.
 *
 * @param seed of the first episode; the next one has the next number
 * @param time how long, at least
 * @param kills how many, at least
 * @param episodes how many at most, 0 for no limit but time and kills
 * @param kind which episodes
 * @param dir where the databases are made
 * @param poolBytes most memory for the store's pages: small, so that they are evicted
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

  /** Which episodes are run. */
  public enum Kind {
    /** Both kinds; every seed that can be divided by four gives steps. */
    BOTH,
    /** Children that work and are killed. */
    KILLS,
    /** One thread, many sessions, every answer foretold. */
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

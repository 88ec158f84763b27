package org.revenantdb.chaos.crash;

import java.util.random.RandomGenerator;

/**
 * The moment to kill, as a count of what the child has reported.
 *
 * <p>Progress, not time, says when: the same seed hits the same phase on a slow and on a fast
 * machine. The child runs on while the report travels and the signal is on its way, so it dies a
 * little later than the point; how much later is what the lines after the point tell.
 *
 * @param event the count at which the child is killed, 1 or more
 */
public record KillPoint(long event) {

  /** Checks the count. */
  public KillPoint {
    if (event < 1) {
      throw new IllegalArgumentException("a kill point is 1 or more, not " + event);
    }
  }

  /**
   * Draws a point, each equally likely.
   *
   * @param random the source
   * @param first lowest
   * @param last highest
   * @return the point
   */
  public static KillPoint uniform(RandomGenerator random, long first, long last) {
    return new KillPoint(random.nextLong(first, last + 1));
  }

  /**
   * Draws a point, each order of magnitude equally likely: early moments are as interesting as late
   * ones.
   *
   * @param random the source
   * @param last highest
   * @return the point
   */
  public static KillPoint logUniform(RandomGenerator random, long last) {
    double exponent = random.nextDouble() * Math.log(last + 1.0);
    return new KillPoint(Math.clamp((long) Math.exp(exponent), 1, last));
  }

  /**
   * Tells whether it is time.
   *
   * @param events what the child has reported so far
   * @return true at the point and after it
   */
  public boolean reached(long events) {
    return events >= event;
  }
}

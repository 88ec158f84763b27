package org.revenantdb.chaos.crash;

import java.util.random.RandomGenerator;

/**
 * The moment of a kill, as a count of the child's reports.
 *
 * <p>Progress, not time, decides: the same seed hits the same phase on a slow and on a fast
 * machine. The child continues while the report and the signal are on their way, so it dies a
 * little later than the point. The lines after the point show how much later.
 *
 * @param event the count at which the child is killed, 1 or more
 */
public record KillPoint(long event) {

  /** Checks the count. */
  public KillPoint {
    if (event < 1) {
      throw new IllegalArgumentException("a kill point must be 1 or more, but is " + event);
    }
  }

  /**
   * Draws a point, all equally likely.
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
   * Draws a point, all orders of magnitude equally likely: early moments are as interesting as late
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
   * Returns whether the point is reached.
   *
   * @param events the number of the child's reports so far
   * @return true at the point and after it
   */
  public boolean reached(long events) {
    return events >= event;
  }
}

package org.revenantdb.jmh.tree;

import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.function.IntSupplier;

/** Chooses rows: all alike, or some far more often than others. One thread uses a choice. */
public final class RowChoice {
  /** Some are drawn before it counts, for drawing one takes as long as reading one. */
  private static final int DRAWN = 1 << 19;

  /** A prime above every number of rows, so that frequent rows are not neighbours. */
  private static final long SCATTER = 2_654_435_761L;

  private final double[] upTo;

  private RowChoice(double[] upTo) {
    this.upTo = upTo;
  }

  /**
   * All rows alike.
   *
   * @param rows how many there are
   * @param seed of the choice
   * @return numbers of rows
   */
  public static IntSupplier uniform(int rows, long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    return () -> random.nextInt(rows);
  }

  /**
   * Rows by Zipf's law: the {@code k}th row has the frequency {@code 1 / k^skew}; the rows are
   * scattered over the table. It uses the sums of these frequencies, not an approximation.
   *
   * @param rows how many there are
   * @param skew of the law
   * @return what {@link #choices} of several threads can share
   */
  public static RowChoice zipfian(int rows, double skew) {
    double[] upTo = new double[rows];
    double sum = 0;
    for (int i = 0; i < rows; i++) {
      sum += Math.pow(i + 1.0, -skew);
      upTo[i] = sum;
    }
    return new RowChoice(upTo);
  }

  /**
   * The choices of a thread, which come again after half a million.
   *
   * @param seed of the choice
   * @return numbers of rows
   */
  public IntSupplier choices(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    double sum = upTo[upTo.length - 1];
    int[] drawn = new int[DRAWN];
    for (int i = 0; i < DRAWN; i++) {
      int found = Arrays.binarySearch(upTo, random.nextDouble(sum));
      long rank = Math.min(found < 0 ? -found - 1 : found, upTo.length - 1);
      drawn[i] = (int) (rank * SCATTER % upTo.length);
    }
    return new IntSupplier() {
      private int next;

      @Override
      public int getAsInt() {
        return drawn[next++ & (DRAWN - 1)];
      }
    };
  }
}

package org.revenantdb.jmh.tree;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.function.IntSupplier;
import org.junit.jupiter.api.Test;

/** How often which rows are chosen. */
class RowChoiceTest {
  private static final int ROWS = 1000;
  private static final int DRAWS = 200_000;
  private static final double SKEW = 0.99;
  private static final long SEED = 5;

  @Test
  void uniform_choosesAllAlike() {
    int[] often = count(RowChoice.uniform(ROWS, SEED));
    int expected = DRAWS / ROWS;
    assertTrue(Arrays.stream(often).min().orElseThrow() > expected / 2, "seed " + SEED);
    assertTrue(Arrays.stream(often).max().orElseThrow() < expected * 2, "seed " + SEED);
  }

  @Test
  void zipfian_choosesTheFirst_asOftenAsTheLawSays() {
    int[] often = count(RowChoice.zipfian(ROWS, SKEW).choices(SEED));
    double sum = 0;
    for (int rank = 1; rank <= ROWS; rank++) {
      sum += Math.pow(rank, -SKEW);
    }
    Arrays.sort(often);
    for (int rank : new int[] {1, 2, 10, 100}) {
      double expected = DRAWS * Math.pow(rank, -SKEW) / sum;
      assertEquals(expected, often[ROWS - rank], expected / 4, "rank " + rank + ", seed " + SEED);
    }
  }

  @Test
  void zipfian_scattersWhatIsChosenOften() {
    int[] often = count(RowChoice.zipfian(ROWS, SKEW).choices(SEED));
    int[] most = {-1, -1};
    for (int row = 0; row < ROWS; row++) {
      if (most[0] < 0 || often[row] > often[most[0]]) {
        most[1] = most[0];
        most[0] = row;
      } else if (most[1] < 0 || often[row] > often[most[1]]) {
        most[1] = row;
      }
    }
    assertTrue(Math.abs(most[0] - most[1]) > 10, Arrays.toString(most));
  }

  @Test
  void twoThreads_chooseDifferently() {
    RowChoice choice = RowChoice.zipfian(ROWS, SKEW);
    IntSupplier one = choice.choices(SEED);
    IntSupplier other = choice.choices(SEED + 1);
    int same = 0;
    for (int i = 0; i < 1000; i++) {
      same += one.getAsInt() == other.getAsInt() ? 1 : 0;
    }
    assertTrue(same < 500, "seed " + SEED + ": " + same);
  }

  /** All that is drawn is a row: the array has no other places. */
  private static int[] count(IntSupplier choice) {
    int[] often = new int[ROWS];
    for (int i = 0; i < DRAWS; i++) {
      often[choice.getAsInt()]++;
    }
    return often;
  }
}

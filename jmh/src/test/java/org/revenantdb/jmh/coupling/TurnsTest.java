package org.revenantdb.jmh.coupling;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.Test;

/** Every task has a turn, failures are reported, and rounds become one number. */
class TurnsTest {
  @Test
  void everyThread_hasEveryTask() throws InterruptedException {
    Set<List<Integer>> made = ConcurrentHashMap.newKeySet();
    Turns.Result result =
        Turns.run(
            2,
            3,
            2,
            1,
            (thread, thing) -> {
              made.add(List.of(thread, thing));
              return Thread::onSpinWait;
            });
    assertEquals(6, made.size());
    assertEquals(3, result.rates().length);
    for (double[] rates : result.rates()) {
      assertEquals(2, rates.length);
    }
  }

  @Test
  void stepThatFails_endsTheRun() {
    IllegalStateException thrown =
        assertThrows(
            IllegalStateException.class,
            () ->
                Turns.run(
                    1,
                    1,
                    1_000_000,
                    1,
                    (thread, thing) ->
                        () -> {
                          throw new ArithmeticException("on purpose");
                        }));
    assertTrue(Objects.requireNonNull(thrown.getCause()).toString().contains("on purpose"));
  }

  @Test
  void ratio_isOfTheSameRound() {
    Turns.Result result = new Turns.Result(new double[][] {{10, 20, 90}, {10, 40, 30}});
    assertEquals(20, result.median(0));
    assertEquals(30, result.median(1));
    assertEquals(1, result.ratio(0, 1));
    assertEquals(1, result.ratio(1, 0));
  }

  @Test
  void median_ofAnEvenNumber_isTheMiddle() {
    assertEquals(15, new Turns.Result(new double[][] {{20, 10, 0, 90}}).median(0));
  }
}

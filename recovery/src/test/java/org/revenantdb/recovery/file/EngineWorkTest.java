package org.revenantdb.recovery.file;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class EngineWorkTest {
  private final List<String> steps = new ArrayList<>();
  private final List<Throwable> uncaught = new ArrayList<>();

  private void run(EngineWork work) {
    Thread current = Thread.currentThread();
    current.setUncaughtExceptionHandler((who, what) -> uncaught.add(what));
    try {
      work.run();
    } finally {
      current.setUncaughtExceptionHandler(null);
    }
  }

  private Runnable work() {
    return () -> steps.add("work");
  }

  private Runnable dies(Throwable cause) {
    return () -> {
      steps.add("work");
      EngineWorkTest.<RuntimeException>throwAnything(cause);
    };
  }

  private Runnable end() {
    return () -> steps.add("end");
  }

  private Consumer<Throwable> death() {
    return cause -> steps.add("death of " + cause.getMessage());
  }

  /** A death that throws itself, so many times. */
  private Consumer<Throwable> deathThatFails(int times) {
    int[] calls = new int[1];
    return cause -> {
      steps.add("death");
      if (calls[0]++ < times) {
        throw new OutOfMemoryError("of the death");
      }
    };
  }

  @SuppressWarnings("unchecked")
  private static <T extends Throwable> void throwAnything(Throwable cause) throws T {
    throw (T) cause;
  }

  static List<Throwable> anything() {
    return List.of(
        new IllegalStateException("x"),
        new OutOfMemoryError("x"),
        new StackOverflowError("x"),
        new AssertionError("x"),
        new InterruptedException("x"),
        new Throwable("x"));
  }

  @Test
  void workThatReturns_hasAnEndAndNoDeath() {
    EngineWork work = EngineWork.of(work(), death(), end());
    run(work);
    assertEquals(List.of("work", "end"), steps);
    assertNull(work.lost());
  }

  @ParameterizedTest
  @MethodSource("anything")
  void whateverIsThrown_isTheDeath_andTheEndFollows(Throwable cause) {
    EngineWork work = EngineWork.of(dies(cause), death(), end());
    run(work);
    assertEquals(List.of("work", "death of x", "end"), steps);
    assertNull(work.lost());
    assertEquals(List.of(), uncaught);
  }

  @Test
  void aDeathHandlerThatThrows_isCalledOnceMore() {
    EngineWork work = EngineWork.of(dies(new Error("x")), deathThatFails(1), end());
    run(work);
    assertEquals(List.of("work", "death", "death", "end"), steps);
    assertNull(work.lost());
  }

  @Test
  void aFailureThatCannotBeReported_isKept_andTheEndFollows() {
    EngineWork work = EngineWork.of(dies(new Error("x")), deathThatFails(2), end());
    run(work);
    assertEquals(List.of("work", "death", "death", "end"), steps);
    assertEquals("of the death", work.lost().getMessage());
    assertEquals(List.of(work.lost()), uncaught);
  }

  @Test
  void anEndThatThrows_isLost() {
    Error error = new Error("x");
    EngineWork work =
        EngineWork.of(
            work(),
            death(),
            () -> {
              throw error;
            });
    run(work);
    assertSame(error, work.lost());
    assertEquals(List.of(error), uncaught);
  }
}

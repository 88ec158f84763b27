package org.revenantdb.jmh.baseline;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What epochs free, and what a transaction inside keeps. */
class EpochsTest {
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void versions_added_while_a_transaction_was_inside_are_free_when_it_has_left(boolean three) {
    Epochs epochs = new Epochs(three);
    int entry = epochs.enter();
    long stamp = epochs.current();
    for (int i = 0; i < 10; i++) {
      assertTrue(epochs.advance() < stamp);
    }
    epochs.leave(entry);
    epochs.advance();
    assertTrue(epochs.advance() >= stamp);
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void who_comes_later_keeps_nothing_that_came_before(boolean three) {
    Epochs epochs = new Epochs(three);
    long stamp = epochs.current();
    epochs.advance();
    epochs.enter();
    epochs.advance();
    assertTrue(epochs.advance() >= stamp);
  }

  @Test
  void of_three_none_is_opened_before_the_first_is_left() {
    Epochs epochs = new Epochs(/* three= */ true);
    int entry = epochs.enter();
    long first = epochs.current();
    epochs.advance();
    assertEquals(first + 1, epochs.current());
    epochs.advance();
    assertEquals(first + 1, epochs.current());
    epochs.leave(entry);
    epochs.advance();
    assertEquals(first + 2, epochs.current());
  }

  @Test
  void of_any_number_one_is_opened_each_time() {
    Epochs epochs = new Epochs(/* three= */ false);
    epochs.enter();
    long first = epochs.current();
    epochs.advance();
    epochs.advance();
    assertEquals(first + 2, epochs.current());
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void the_second_of_a_thread_is_taken_to_be_as_old_as_the_first(boolean three) {
    Epochs epochs = new Epochs(three);
    int outer = epochs.enter();
    long stamp = epochs.current();
    epochs.advance();
    int inner = epochs.enter();
    epochs.leave(outer);
    epochs.advance();
    assertTrue(epochs.advance() < stamp);
    epochs.leave(inner);
    epochs.advance();
    assertTrue(epochs.advance() >= stamp);
  }

  @Test
  void another_thread_may_leave() throws Exception {
    Epochs epochs = new Epochs(/* three= */ false);
    try (ExecutorService other = Executors.newSingleThreadExecutor()) {
      int entry = other.submit(epochs::enter).get();
      long stamp = epochs.current();
      assertTrue(epochs.advance() < stamp);
      epochs.leave(entry);
      assertTrue(epochs.advance() >= stamp);
    }
  }
}

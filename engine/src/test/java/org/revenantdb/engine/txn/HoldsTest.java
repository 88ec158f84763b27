package org.revenantdb.engine.txn;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What one transaction holds. */
class HoldsTest {
  private final Holds holds = new Holds();

  @Test
  void any_number_of_things_is_held_until_the_end() {
    List<Object> things = new ArrayList<>();
    for (int round = 0; round < 2; round++) {
      for (int i = 0; i < 40; i++) {
        Object thing = new Object();
        assertFalse(holds.has(thing));
        assertFalse(holds.holds(thing));
        holds.enter(thing);
        things.add(thing);
        for (Object entered : things) {
          assertTrue(holds.has(entered));
          assertTrue(holds.holds(entered));
        }
      }
      holds.clear();
      for (Object thing : things) {
        assertFalse(holds.has(thing));
        assertFalse(holds.holds(thing));
      }
      things.clear();
    }
  }

  @Test
  void a_refused_waiter_leaves_and_the_others_stay() {
    Object first = new Object();
    Object second = new Object();
    holds.enter(first);
    holds.enter(second);
    holds.leave();
    assertTrue(holds.holds(first));
    assertFalse(holds.holds(second));
    holds.enter(second);
    assertTrue(holds.holds(second));
  }

  @Test
  void the_last_thread_is_known() throws InterruptedException {
    Thread other = Thread.ofPlatform().start(() -> holds.has(this));
    other.join();
    assertEquals(other.threadId(), holds.thread());
    assertFalse(holds.has(this));
    assertEquals(Thread.currentThread().threadId(), holds.thread());
  }
}

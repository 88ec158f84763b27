package org.revenantdb.jmh.baseline;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.Test;
import org.revenantdb.jmh.baseline.GarbageQueues.Entry;
import org.revenantdb.jmh.baseline.GarbageQueues.Own;

/** Which thread takes which entries from the queues. */
class GarbageQueuesTest {
  private static Entry entry(long stamp) {
    return new Entry(1, new byte[0], stamp, stamp);
  }

  @Test
  void the_free_ones_are_taken_up_to_the_first_that_is_not() {
    Own own = new GarbageQueues().own();
    for (long stamp : new long[] {1, 3, 7, 2}) {
      own.add(entry(stamp));
    }
    List<Long> taken = new ArrayList<>();
    own.take(3, entry -> taken.add(entry.stamp()));
    assertEquals(List.of(1L, 3L), taken);
    own.take(7, entry -> taken.add(entry.stamp()));
    assertEquals(List.of(1L, 3L, 7L, 2L), taken);
    assertEquals(true, own.isEmpty());
  }

  @Test
  void a_second_taker_leaves_it_to_the_first() {
    Own own = new GarbageQueues().own();
    own.add(entry(1));
    own.add(entry(2));
    List<Long> taken = new ArrayList<>();
    own.take(
        2,
        entry -> {
          taken.add(entry.stamp());
          own.take(2, second -> taken.add(-second.stamp()));
        });
    assertEquals(List.of(1L, 2L), taken);
  }

  @Test
  void each_thread_has_its_own_and_others_find_it_when_it_has_ended() throws Exception {
    GarbageQueues queues = new GarbageQueues();
    assertSame(queues.own(), queues.own());
    try (ExecutorService other = Executors.newSingleThreadExecutor()) {
      Own its = other.submit(queues::own).get();
      assertNotSame(queues.own(), its);
      its.add(entry(1));
    }
    List<Long> taken = new ArrayList<>();
    queues.all().forEach(queue -> queue.take(1, entry -> taken.add(entry.stamp())));
    assertEquals(List.of(1L), taken);
  }
}

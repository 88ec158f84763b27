package org.revenantdb.engine.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class SparesTest {
  private final Spares<AtomicInteger> spares = new Spares<>();

  @Test
  void take_nothingGivenBack() {
    assertNull(spares.take());
  }

  @Test
  void take_whatTheSameThreadGaveBack() {
    AtomicInteger spare = new AtomicInteger();
    spares.giveBack(spare);
    assertSame(spare, spares.take());
    assertNull(spares.take(), "once");
  }

  @Test
  void giveBack_moreThanThereIsRoomFor() {
    IntStream.range(0, 100).forEach(i -> spares.giveBack(new AtomicInteger()));
    Set<AtomicInteger> taken = Collections.newSetFromMap(new IdentityHashMap<>());
    for (AtomicInteger spare = spares.take(); spare != null; spare = spares.take()) {
      assertTrue(taken.add(spare), "each once");
    }
    assertEquals(1 + 16, taken.size(), "one for the stripe of this thread, and 16 for all");
  }

  @Test
  void take_byManyThreads_eachObjectIsOfOneThreadAtATime() throws InterruptedException {
    AtomicInteger shared = new AtomicInteger();
    Stream<Thread> threads =
        IntStream.range(0, 8).mapToObj(i -> Thread.ofPlatform().start(() -> useOften(shared)));
    for (Thread thread : threads.toList()) {
      thread.join();
    }
    assertEquals(0, shared.get(), "uses beside another thread");
  }

  private void useOften(AtomicInteger beside) {
    for (int i = 0; i < 20_000; i++) {
      AtomicInteger taken = spares.take();
      AtomicInteger spare = taken == null ? new AtomicInteger() : taken;
      if (!spare.compareAndSet(0, 1)) {
        beside.incrementAndGet();
      }
      spare.setPlain(0);
      spares.giveBack(spare);
    }
  }
}

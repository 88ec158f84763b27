package org.revenantdb.engine.buffer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class FreeFramesTest {
  @Test
  void poll_ofNone_isNone() {
    FreeFrames free = new FreeFrames(4);
    assertEquals(Frames.NONE, free.poll());
    assertEquals(0, free.size());
    free.add(0);
    assertEquals(0, free.poll());
    assertEquals(Frames.NONE, free.poll());
    assertEquals(0, free.size());
  }

  @Test
  void poll_isTheFrameThatCameLast() {
    FreeFrames free = new FreeFrames(4);
    for (int frame = 0; frame < 4; frame++) {
      free.add(frame);
    }
    assertEquals(4, free.size());
    assertEquals(3, free.poll());
    free.add(3);
    for (int frame = 3; frame >= 0; frame--) {
      assertEquals(frame, free.poll());
    }
    assertEquals(Frames.NONE, free.poll());
  }

  /**
   * Few frames, so that a thread is often between its look at the top and its exchange while others
   * take that frame and bring it back: without the count of changes it would take the wrong one.
   */
  @Test
  void manyThreads_neverHaveTheSameFrame_andLoseNone() throws InterruptedException {
    int frames = 3;
    FreeFrames free = new FreeFrames(frames);
    for (int frame = 0; frame < frames; frame++) {
      free.add(frame);
    }
    AtomicIntegerArray holders = new AtomicIntegerArray(frames);
    AtomicLong twice = new AtomicLong();
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      threads.add(
          Thread.ofPlatform()
              .start(() -> {
                for (int n = 0; n < 100_000; n++) {
                  int first = free.poll();
                  int second = free.poll();
                  for (int frame : new int[] {first, second}) {
                    if (frame != Frames.NONE && holders.incrementAndGet(frame) != 1) {
                      twice.incrementAndGet();
                    }
                  }
                  for (int frame : new int[] {first, second}) {
                    if (frame != Frames.NONE) {
                      holders.decrementAndGet(frame);
                      free.add(frame);
                    }
                  }
                }
              }));
    }
    for (Thread thread : threads) {
      thread.join();
    }
    assertEquals(0, twice.get());
    assertEquals(frames, free.size());
    boolean[] seen = new boolean[frames];
    for (int i = 0; i < frames; i++) {
      seen[free.poll()] = true;
    }
    for (boolean one : seen) {
      assertTrue(one);
    }
    assertEquals(Frames.NONE, free.poll());
  }
}

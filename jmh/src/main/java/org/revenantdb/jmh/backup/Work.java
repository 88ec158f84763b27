package org.revenantdb.jmh.backup;

import java.util.ArrayList;
import java.util.List;

/** Threads that do the same again and again. */
final class Work {
  /** A step of a thread. */
  interface Step {
    void run() throws Exception;
  }

  private final List<Thread> threads = new ArrayList<>();
  private volatile boolean stopped;
  private volatile Exception failure = new Exception("none");
  private volatile boolean failed;

  void begin(Step step) {
    threads.add(
        Thread.ofPlatform()
            .start(() -> {
              try {
                while (!stopped) {
                  step.run();
                }
              } catch (Exception thrown) {
                if (!stopped) { // else a backup that was cancelled
                  failure = thrown;
                  failed = true;
                }
              }
            }));
  }

  boolean isStopped() {
    return stopped;
  }

  void end() throws Exception {
    stopped = true;
    for (Thread thread : threads) {
      thread.join();
    }
    if (failed) {
      throw failure;
    }
  }
}

package org.revenantdb.engine.testing;

import java.lang.reflect.Method;

/** What a thread allocates. */
public final class Allocations {
  private Allocations() {}

  /**
   * Bytes that some work allocates on this thread. What counts is looked up by name: the module
   * does not read the one that it is in.
   */
  public static long by(Runnable work) throws ReflectiveOperationException {
    Object threads =
        Class.forName("java.lang.management.ManagementFactory")
            .getMethod("getThreadMXBean")
            .invoke(null);
    Method counter =
        Class.forName("com.sun.management.ThreadMXBean")
            .getMethod("getCurrentThreadAllocatedBytes");
    counter.invoke(threads);
    long before = (long) counter.invoke(threads);
    work.run();
    return (long) counter.invoke(threads) - before;
  }
}

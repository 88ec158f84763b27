package org.revenantdb.jmh.contend;

import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;

/**
 * A JVM for one contender, in which it runs at one point after the other.
 *
 * <p>Each lock needs its own JVM: {@code ReentrantLock} and both kinds of {@code
 * ReentrantReadWriteLock} share the code of their queue. In one JVM, one after the other, they
 * would spoil each other's profile, and the last one would be compiled worst.
 *
 * <p>Arguments: class of the contender, steps of the busy loop per microsecond, milliseconds to
 * settle at least, milliseconds to measure, points. Prints lines {@code = metric,point value}, each
 * when it is known.
 */
public final class ContentionFork {
  private static final List<ContentionPoint> WARM_UP =
      List.of(new ContentionPoint(1, false, 0), new ContentionPoint(3, false, 0));

  /** Many threads need some time until each had its first turn. */
  private static final long SETTLE_NANOS_PER_THREAD = TimeUnit.MICROSECONDS.toNanos(50);

  private ContentionFork() {}

  /**
   * Runs the points.
   *
   * @param arguments see the class
   * @throws ReflectiveOperationException if the contender cannot be made
   * @throws InterruptedException not to be expected
   */
  public static void main(String[] arguments)
      throws ReflectiveOperationException, InterruptedException {
    double stepsPerMicrosecond = Double.parseDouble(arguments[1]);
    long settle = TimeUnit.MILLISECONDS.toNanos(Long.parseLong(arguments[2]));
    long window = TimeUnit.MILLISECONDS.toNanos(Long.parseLong(arguments[3]));
    // Both the way without a wait and the way through the queue are compiled before it counts.
    for (ContentionPoint point : WARM_UP) {
      ContentionRun.run(
          make(arguments[0]), point, stepsPerMicrosecond, 0, TimeUnit.MILLISECONDS.toNanos(80));
    }
    for (String text : List.of(arguments).subList(4, arguments.length)) {
      ContentionPoint point = ContentionPoint.parse(text);
      long settled = Math.max(settle, SETTLE_NANOS_PER_THREAD * point.threads());
      ContentionRun.run(make(arguments[0]), point, stepsPerMicrosecond, settled, window)
          .metrics()
          .forEach((metric, value) ->
              System.out.printf(Locale.ROOT, "= %s,%s %s%n", metric, point, value));
      System.out.flush();
    }
  }

  private static Contender make(String name) throws ReflectiveOperationException {
    return Class.forName(name).asSubclass(Contender.class).getDeclaredConstructor().newInstance();
  }
}

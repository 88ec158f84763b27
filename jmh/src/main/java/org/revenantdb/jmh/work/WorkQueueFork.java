package org.revenantdb.jmh.work;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.revenantdb.jmh.fork.Sessions;
import org.revenantdb.jmh.fork.Told;

/**
 * A JVM in which sessions put an item into a queue and take one out of it, each in a durable
 * transaction.
 *
 * <p>Arguments: directory, {@code revenant}, {@code sqlite} or {@code h2}, sessions, milliseconds
 * to warm up, milliseconds to measure.
 */
public final class WorkQueueFork {
  private static final int WARM_STEPS = 2_000;
  private static final String ITEM = "0123456789".repeat(10);

  private WorkQueueFork() {}

  /**
   * Prints {@code = items} a second.
   *
   * @param arguments see the class
   * @throws Exception if something cannot be measured
   */
  public static void main(String[] arguments) throws Exception {
    Sessions.Times times =
        new Sessions.Times(Long.parseLong(arguments[3]), Long.parseLong(arguments[4]), WARM_STEPS);
    List<ItemQueue.Session> sessions = new ArrayList<>();
    try (ItemQueue queue = ItemQueue.open(arguments[1], Path.of(arguments[0]))) {
      Sessions.Result result =
          Sessions.run(
              Integer.parseInt(arguments[2]),
              times,
              _ -> {
                ItemQueue.Session session = queue.session();
                sessions.add(session);
                return () -> {
                  session.offer(ITEM);
                  session.takeOne();
                };
              });
      for (ItemQueue.Session session : sessions) {
        session.close();
      }
      Told.tell("items", result.perSecond());
      Told.tell("item_cpu_us", result.processorMicros());
    }
  }
}

package org.revenantdb.jmh.work;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import org.revenantdb.collections.Codecs;
import org.revenantdb.collections.WorkQueue;
import org.revenantdb.engine.Database;
import org.revenantdb.jmh.fork.Told;

/**
 * A JVM in which consumers wait for an item that does not come.
 *
 * <p>Arguments: directory, consumers, milliseconds to settle, milliseconds to measure.
 */
public final class IdleFork {
  private IdleFork() {}

  /**
   * Prints {@code = idle_percent}: processor time of the process in percent of one processor.
   *
   * @param arguments see the class
   * @throws Exception if something cannot be measured
   */
  public static void main(String[] arguments) throws Exception {
    OperatingSystemMXBean system =
        (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    try (Database database = Database.open(Path.of(arguments[0]).resolve("database"));
        WorkQueue<String> queue = WorkQueue.open(database, "items", Codecs.strings())) {
      queue.consume(Integer.parseInt(arguments[1]), (_, _) -> {});
      Thread.sleep(Long.parseLong(arguments[2]));
      long busy = system.getProcessCpuTime();
      long start = System.nanoTime();
      Thread.sleep(Long.parseLong(arguments[3]));
      busy = system.getProcessCpuTime() - busy;
      Told.tell("idle_percent", 100.0 * busy / (System.nanoTime() - start));
    }
  }
}

package org.revenantdb.chaos.power;

import java.lang.management.ManagementFactory;
import java.util.Random;
import org.revenantdb.chaos.disk.DiskImage;
import org.revenantdb.chaos.profile.PlatformProfile;

/**
 * Prints the number of states per second for a trace like that of a store. It asserts nothing, and
 * no test runs it. Start {@code main} with the test class path.
 */
final class PowerSpeed {

  private PowerSpeed() {}

  public static void main(String[] arguments) {
    for (PlatformProfile profile : PlatformProfile.values()) {
      for (int every : new int[] {40, 2000}) {
        TraceScript script = storeLike(every);
        var trace = script.trace();
        long begin = cpu();
        CrashStates states = new CrashStates(trace, profile.rules(), CrashPlan.of(1, 5000));
        int count = 0;
        while (states.hasNext()) {
          states.next();
          count++;
        }
        double seconds = (cpu() - begin) / 1e9;
        System.out.printf(
            "%s, %d operations, pages forced every %d: %d states, %d distinct, %.0f a second of CPU%n",
            profile, trace.operations().size(), every, count, states.distinct(), count / seconds);
      }
    }
  }

  private static long cpu() {
    return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
  }

  /** A log that is forced often and a page file that is forced every few hundred writes. */
  private static TraceScript storeLike(int every) {
    Random random = new Random(1);
    TraceScript script = new TraceScript();
    int pages = script.given("pages", TraceScript.bytes('p', 5 << 20));
    int log = script.create(DiskImage.ROOT, "log.0");
    long end = 0;
    for (int i = 0; i < 5000; i++) {
      if (random.nextInt(3) == 0) {
        byte[] page = new byte[8192];
        random.nextBytes(page);
        script.write(pages, random.nextInt(640) * 8192L, page);
      } else {
        byte[] record = new byte[random.nextInt(50, 600)];
        random.nextBytes(record);
        script.write(log, end, record);
        end += record.length;
      }
      if (random.nextInt(6) == 0) {
        script.force(log);
      }
      if (i % every == every - 1) {
        script.force(pages);
      }
      if (i % 1000 == 999) {
        script.create(DiskImage.ROOT, "tmp");
        script.rename(script.nodes(), 0, "tmp", 0, "control", -1);
        log = script.create(DiskImage.ROOT, "log." + i);
        end = 0;
      }
    }
    return script;
  }
}

package org.revenantdb.jmh.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import org.revenantdb.jmh.contend.BusyLoop;

/**
 * Notices what else the machine did while we measured. A round is <em>disturbed</em> if
 *
 * <ul>
 *   <li>a loop of fixed work took more than a tenth longer after the round than before it, or the
 *       other way round: the clock rate changed, or another virtual machine is busy;
 *   <li>the hypervisor withheld more than a twentieth of the processor time ({@code steal});
 *   <li>other processes used more than a tenth of the processor time.
 * </ul>
 *
 * <p>Without {@code /proc}, only the first condition is checked. If {@code /proc} shows more
 * processors than this process has (a container), the third is not checked, because the work of
 * others is elsewhere.
 */
final class MachineProbe implements Probe {
  private static final double CALIBRATION_TOLERANCE = 0.10;
  private static final double STEAL_TOLERANCE = 0.05;
  private static final double FOREIGN_TOLERANCE = 0.10;

  private static final int CALIBRATION_STEPS = 1_000_000;
  private static final int CALIBRATION_TRIES = 5;

  /**
   * The machine at one moment. Ticks are those of {@code /proc}, the same in all its files.
   *
   * @param calibrationNanos of the loop of known work
   * @param totalTicks of all processors, 0 if unknown
   * @param stolenTicks kept back by the hypervisor
   * @param busyTicks of all processes
   * @param ownTicks of this process and the forks that have ended; -1 if all processes together
   *     cannot be compared with it
   */
  record Reading(
      long calibrationNanos, long totalTicks, long stolenTicks, long busyTicks, long ownTicks) {}

  @Override
  public Watch start() {
    Reading before = read();
    return () -> disturbance(before, read());
  }

  /** Returns what disturbed between two readings, or nothing. */
  static String disturbance(Reading before, Reading after) {
    double ratio = (double) after.calibrationNanos / before.calibrationNanos;
    if (Math.max(ratio, 1 / ratio) > 1 + CALIBRATION_TOLERANCE) {
      return format("the same work took %.2f times as long after the round as before", ratio);
    }
    double total = after.totalTicks - before.totalTicks;
    if (total <= 0) {
      return "";
    }
    double stolen = (after.stolenTicks - before.stolenTicks) / total;
    if (stolen > STEAL_TOLERANCE) {
      return format("%.0f %% of the processor time was stolen", 100 * stolen);
    }
    if (before.ownTicks >= 0 && after.ownTicks >= 0) {
      long busy = after.busyTicks - before.busyTicks;
      double foreign = (busy - (after.ownTicks - before.ownTicks)) / total;
      if (foreign > FOREIGN_TOLERANCE) {
        return format("other processes used %.0f %% of the processor time", 100 * foreign);
      }
    }
    return "";
  }

  /**
   * Reads the two files.
   *
   * @param system text of {@code /proc/stat}
   * @param self text of {@code /proc/self/stat}
   * @param processors how many are ours
   */
  static Reading parse(long calibrationNanos, String system, String self, int processors) {
    long[] ticks = numbers(system.lines().findFirst().orElse("").replace("cpu", ""));
    if (ticks.length < 8) {
      return new Reading(calibrationNanos, 0, 0, 0, -1);
    }
    // user nice system idle iowait irq softirq steal; guests are in user already
    long total = Arrays.stream(ticks, 0, 8).sum();
    long busy = ticks[0] + ticks[1] + ticks[2] + ticks[5] + ticks[6];
    long all = system.lines().filter(line -> line.matches("cpu\\d.*")).count();
    // After the name, which may contain any character, the fields begin with the third. Fields 14
    // to 17 are the times of the process and of its children that have ended.
    long[] own = numbers(self.substring(self.lastIndexOf(')') + 1));
    boolean comparable = all == processors && own.length > 15;
    return new Reading(
        calibrationNanos,
        total,
        ticks[7],
        busy,
        comparable ? Arrays.stream(own, 10, 14).sum() : -1);
  }

  private static Reading read() {
    long calibration = BusyLoop.fastestNanos(CALIBRATION_STEPS, CALIBRATION_TRIES);
    try {
      return parse(
          calibration,
          Files.readString(Path.of("/proc/stat")),
          Files.readString(Path.of("/proc/self/stat")),
          Runtime.getRuntime().availableProcessors());
    } catch (IOException _) {
      return new Reading(calibration, 0, 0, 0, -1); // not Linux
    }
  }

  /** The numbers of a line, in order; the one letter that stands for a state takes no place. */
  private static long[] numbers(String line) {
    return List.of(line.strip().split("\\s+")).stream()
        .filter(word -> word.matches("-?\\d+"))
        .mapToLong(MachineProbe::number)
        .toArray();
  }

  /** Some fields are unsigned and do not fit; none of those that are used. */
  private static long number(String digits) {
    try {
      return Long.parseLong(digits);
    } catch (NumberFormatException _) {
      return Long.MAX_VALUE;
    }
  }

  private static String format(String format, double value) {
    return String.format(Locale.ROOT, format, value);
  }
}

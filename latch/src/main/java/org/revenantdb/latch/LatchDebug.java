package org.revenantdb.latch;

import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The debug mode of latches: finds uses that can end in a deadlock, and holds that nobody gives up.
 *
 * <p>It is switched on for the life of the JVM by {@code -Drevenant.latch.debug=true}; otherwise it
 * costs nothing. What it finds throws {@link LatchUsageException} before the wait, whether or not
 * there would have been a deadlock this time:
 *
 * <ul>
 *   <li>a thread waits for a latch that it holds, in whatever mode;
 *   <li>a thread waits for a latch while it holds one of a greater rank ({@link
 *       WaitStatistics#WaitStatistics(String, int)});
 *   <li>among latches without rank: one thread has waited for B while it held A, and another waits
 *       for A while it holds B, or the same along a longer cycle, at any time since both exist.
 * </ul>
 *
 * <p>With {@code -Drevenant.latch.debug=holds} nothing is judged, and only {@link #held} and {@link
 * #abandoned} answer: for programs whose latches have no order, but must all be given back.
 *
 * <p>Latches of equal rank are not compared: give one rank to latches whose order changes, such as
 * those of buffer frames. An acquisition that does not wait breaks no rule.
 *
 * <p>A thread that gives a hold to another one, which releases it, need not say so; but until it is
 * released it counts as with the first thread, unless that says {@link #handOver}.
 *
 * <p>Threads: everything may be called by any thread, platform or virtual.
 */
public final class LatchDebug {
  /** Whether the latches call the hooks below; a constant for the compiler. */
  static final boolean ON;

  /** Whether only holds are kept, and no use is judged. */
  private static final boolean HOLDS_ONLY;

  static {
    String mode = System.getProperty("revenant.latch.debug", "false");
    HOLDS_ONLY = mode.equals("holds");
    ON = HOLDS_ONLY || Boolean.parseBoolean(mode);
  }

  private static final HoldRegistry REGISTRY = new HoldRegistry();

  private LatchDebug() {}

  /**
   * One hold of a latch, as it was when asked for.
   *
   * @param latch the latch's class, as far as known, and its identity hash code
   * @param shared whether it is held shared, not exclusively
   * @param thread who acquired it
   * @param since when it was acquired
   * @param stack where it was acquired, innermost first
   * @param latchCollected whether the latch was garbage collected while held
   * @param certain false if the thread has given it away, or another one may have it by now
   */
  public record Hold(
      String latch,
      boolean shared,
      Thread thread,
      Instant since,
      List<StackTraceElement> stack,
      boolean latchCollected,
      boolean certain) {
    @Override
    public String toString() {
      StringBuilder text = new StringBuilder(latch);
      text.append(shared ? " held shared" : " held exclusively").append(" since ").append(since);
      text.append(" by ").append(thread).append(latchCollected ? ", collected" : "");
      for (StackTraceElement frame : stack) {
        text.append("\n    at ").append(frame);
      }
      return text.toString();
    }
  }

  /**
   * Whether the debug mode is on.
   *
   * @return what the system property said when this class was loaded
   */
  public static boolean isOn() {
    return ON;
  }

  /**
   * Who holds which latch.
   *
   * @return all holds; empty if the debug mode is off
   */
  public static List<Hold> held() {
    return REGISTRY.held();
  }

  /**
   * Which holds nobody will give up, it seems: those whose thread has ended, and those whose latch
   * was garbage collected, of these the first thousand. A hold given away by a thread that has
   * ended is among them until it is released.
   *
   * @return the holds; empty if the debug mode is off
   */
  public static List<Hold> abandoned() {
    return REGISTRY.abandoned();
  }

  /**
   * Says that the calling thread gives its hold of a latch to another one, which will release it.
   * From then on the calling thread may acquire the latch again, and wait for that.
   *
   * @param latch what the calling thread holds; nothing happens if it does not, or if the debug
   *     mode is off
   */
  public static void handOver(Object latch) {
    REGISTRY.handedOver(latch);
  }

  /**
   * Before an acquisition.
   *
   * @param waits whether the caller is ready to wait, be it for a time only
   * @throws LatchUsageException if a rule is broken; then nothing may be acquired
   */
  static void acquiring(
      Object latch, boolean shared, boolean waits, @Nullable WaitStatistics statistics) {
    if (HOLDS_ONLY) {
      return;
    }
    try {
      REGISTRY.acquiring(latch, waits, statistics);
    } catch (VirtualMachineError e) {
      // One acquisition is not checked. Here and below: what is looked at must work as without us.
    }
  }

  /** After an acquisition; not if the latch was not got. */
  static void acquired(Object latch, boolean shared, @Nullable WaitStatistics statistics) {
    try {
      REGISTRY.acquired(latch, shared, statistics);
    } catch (VirtualMachineError e) {
      // One hold is not known: it breaks no rule, and its release finds nothing.
    }
  }

  /** Before a release: while the calling thread can be sure that nobody else gets the latch. */
  static void released(Object latch, boolean shared) {
    try {
      REGISTRY.released(latch, shared);
    } catch (VirtualMachineError e) {
      // One hold too many is known.
    }
  }

  /** The exclusive hold becomes a shared one; before others can get in. */
  static void downgraded(Object latch) {
    try {
      REGISTRY.changed(latch, /* nowShared= */ true);
    } catch (VirtualMachineError e) {
      // One hold is known in the wrong mode: its release finds nothing.
    }
  }

  /** The only shared hold has become the exclusive one. */
  static void upgraded(Object latch) {
    try {
      REGISTRY.changed(latch, /* nowShared= */ false);
    } catch (VirtualMachineError e) {
      // One hold is known in the wrong mode: its release finds nothing.
    }
  }
}

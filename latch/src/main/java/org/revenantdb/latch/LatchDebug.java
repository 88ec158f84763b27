package org.revenantdb.latch;

import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The debug mode of latches: finds uses that can end in a deadlock, and holds that are never
 * released.
 *
 * <p>{@code -Drevenant.latch.debug=true} switches it on for the life of the JVM; otherwise it costs
 * nothing. A broken rule throws {@link LatchUsageException} before the wait, whether or not a
 * deadlock would have followed this time. Each of these breaks a rule:
 *
 * <ul>
 *   <li>a thread waits for a latch that it holds, in any mode;
 *   <li>a thread waits for a latch while it holds one of a greater rank ({@link
 *       WaitStatistics#WaitStatistics(String, int)});
 *   <li>among latches without rank: one thread waits for A while it holds B, after another one has
 *       waited for B while it held A, at any time since both exist. The same holds for longer
 *       cycles.
 * </ul>
 *
 * <p>With {@code -Drevenant.latch.debug=holds} no rule is checked, and only {@link #held} and
 * {@link #abandoned} return something. That is for programs whose latches have no order, but must
 * all be released.
 *
 * <p>Latches of equal rank are not compared: give the same rank to latches whose order changes,
 * such as those of buffer frames. An acquisition that does not wait breaks no rule.
 *
 * <p>A thread may give a hold to another thread, which releases it, without a call. But until the
 * release the hold counts as one of the first thread, unless that thread has called {@link
 * #handOver}.
 *
 * <p>Threads: everything may be called by any thread, platform or virtual.
 */
public final class LatchDebug {
  /** Whether the latches call the hooks below; a constant for the compiler. */
  static final boolean ON;

  /** Whether only holds are recorded, and no rule is checked. */
  private static final boolean HOLDS_ONLY;

  static {
    String mode = System.getProperty("revenant.latch.debug", "false");
    HOLDS_ONLY = mode.equals("holds");
    ON = HOLDS_ONLY || Boolean.parseBoolean(mode);
  }

  private static final HoldRegistry REGISTRY = new HoldRegistry();

  private LatchDebug() {}

  /**
   * One hold of a latch, as it was at the time of the call.
   *
   * @param latch the latch's class, as far as known, and its identity hash code
   * @param shared whether it is held shared, not exclusively
   * @param thread the thread that acquired it
   * @param since when it was acquired
   * @param stack where it was acquired, innermost first
   * @param latchCollected whether the latch was garbage collected while held
   * @param certain false if the thread has given it away, or another thread may have it by now
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
   * @return the value of the system property when this class was loaded
   */
  public static boolean isOn() {
    return ON;
  }

  /**
   * Which thread holds which latch.
   *
   * @return all holds; empty if the debug mode is off
   */
  public static List<Hold> held() {
    return REGISTRY.held();
  }

  /**
   * The holds that will probably never be released: those whose thread has ended, and the first
   * thousand of those whose latch was garbage collected. A hold that was given away by a thread
   * that has ended is among them until it is released.
   *
   * @return the holds; empty if the debug mode is off
   */
  public static List<Hold> abandoned() {
    return REGISTRY.abandoned();
  }

  /**
   * Records that the calling thread gives its hold of a latch to another thread, which will release
   * it. From then on the calling thread may acquire the latch again, and wait for it.
   *
   * @param latch the latch that the calling thread holds; the call has no effect if it does not
   *     hold it, or if the debug mode is off
   */
  public static void handOver(Object latch) {
    REGISTRY.handedOver(latch);
  }

  /**
   * Called before an acquisition.
   *
   * @param waits whether the caller is ready to wait, even if only for a limited time
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
      // One acquisition is not checked. Here and below: the program must work as it does without
      // the debug mode.
    }
  }

  /** Called after an acquisition, but not if the latch was not acquired. */
  static void acquired(Object latch, boolean shared, @Nullable WaitStatistics statistics) {
    try {
      REGISTRY.acquired(latch, shared, statistics);
    } catch (VirtualMachineError e) {
      // One hold is not recorded: it breaks no rule, and its release finds nothing.
    }
  }

  /** Called before a release, while no other thread can get the latch. */
  static void released(Object latch, boolean shared) {
    try {
      REGISTRY.released(latch, shared);
    } catch (VirtualMachineError e) {
      // One hold too many is recorded.
    }
  }

  /** The exclusive hold becomes a shared one. Called before other threads can enter. */
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

package org.revenantdb.latch;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.Threshold;
import org.jspecify.annotations.Nullable;

/**
 * The flight recorder's event for a long wait for a latch. Its duration is the length of the wait.
 *
 * <p>Only {@link LatchWaitEvents} may refer to this class: without the module {@code jdk.jfr} it
 * cannot be loaded.
 */
@Name(LatchWaitEvent.NAME)
@Label("Latch Wait")
@Description("A thread waited for a latch, spinning and parked together")
@Category({"RevenantDB", "Latch"})
@Threshold("10 ms")
final class LatchWaitEvent extends Event {
  static final String NAME = "org.revenantdb.latch.Wait";

  @Label("Latch Class")
  @Description("The name of the statistics that the wait was counted in, or unnamed")
  @Nullable String latchClass;

  @Label("Mode")
  @Description("exclusive or shared")
  @Nullable String mode;

  @Label("Outcome")
  @Description("acquired, timed out, interrupted or given up")
  @Nullable String outcome;
}

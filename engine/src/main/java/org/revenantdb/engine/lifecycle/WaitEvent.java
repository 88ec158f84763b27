package org.revenantdb.engine.lifecycle;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.Threshold;
import org.jspecify.annotations.Nullable;

/**
 * The flight recorder's event for a long wait inside a database; its duration is the wait.
 *
 * <p>Only {@link WaitEvents} may refer to this class, because it cannot be loaded without the
 * module {@code jdk.jfr}.
 */
@Name(WaitEvent.NAME)
@Label("Database Wait")
@Description("A thread waited inside a database, spinning and parked together")
@Category({"RevenantDB", "Engine"})
@Threshold("10 ms")
public final class WaitEvent extends Event {
  public static final String NAME = "org.revenantdb.Wait";

  @Label("Wait Class")
  @Description("What was waited for, as db.waitStatistics() and the command stat name it")
  @Nullable String waitClass;
}

package org.revenantdb.engine.lifecycle;

import jdk.jfr.Category;
import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import org.jspecify.annotations.Nullable;

/**
 * What the flight recorder keeps of a phase of a restart; its duration is the phase's.
 *
 * <p>Nothing but {@link RestartEvents} may mention this class: where the module {@code jdk.jfr} is
 * missing it cannot be loaded.
 */
@Name(RestartEvent.NAME)
@Label("Database Restart")
@Description("A phase of a restart of a database")
@Category({"RevenantDB", "Engine"})
final class RestartEvent extends Event {
  static final String NAME = "org.revenantdb.Restart";

  @Label("Phase")
  @Nullable String phase;

  @Label("Log Bytes")
  @Description("Bytes of log that analysis has read")
  @DataAmount
  long logBytes;

  @Label("Pages")
  @Description("Pages of the data file that were brought up to date")
  long pages;
}

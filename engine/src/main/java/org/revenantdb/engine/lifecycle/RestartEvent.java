package org.revenantdb.engine.lifecycle;

import jdk.jfr.Category;
import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import org.jspecify.annotations.Nullable;

/**
 * The flight recorder's event for a phase of a restart; its duration is the phase's.
 *
 * <p>Only {@link RestartEvents} may refer to this class, because it cannot be loaded without the
 * module {@code jdk.jfr}.
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

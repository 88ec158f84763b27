package org.revenantdb.engine.flight;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;

/**
 * The flight recorder's event for older versions that were written to a file; its duration is that
 * of the writing.
 *
 * <p>Only {@link FlightEvents} may refer to this class, because it cannot be loaded without the
 * module {@code jdk.jfr}.
 */
@Name(SpillEvent.NAME)
@Label("Version Spill")
@Description("Memory for older versions was full, and some were written to a file")
@Category({"RevenantDB", "Engine"})
final class SpillEvent extends Event {
  static final String NAME = "org.revenantdb.Spill";

  @Label("Versions")
  long versions;
}

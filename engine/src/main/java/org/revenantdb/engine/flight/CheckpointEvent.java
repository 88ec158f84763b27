package org.revenantdb.engine.flight;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;

/**
 * The flight recorder's event for a round of the checkpointer; its duration is the round.
 *
 * <p>Only {@link FlightEvents} may refer to this class, because it cannot be loaded without the
 * module {@code jdk.jfr}.
 */
@Name(CheckpointEvent.NAME)
@Label("Checkpoint")
@Description("A round of the checkpointer, which writes changed pages and moves the redo point")
@Category({"RevenantDB", "Engine"})
final class CheckpointEvent extends Event {
  static final String NAME = "org.revenantdb.Checkpoint";

  @Label("Redo Point Before")
  @Description("Where a restart would have begun to read the log before the round")
  long redoPointBefore;

  @Label("Redo Point")
  @Description("Where a restart begins to read the log")
  long redoPoint;
}

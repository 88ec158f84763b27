package org.revenantdb.engine.flight;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import org.jspecify.annotations.Nullable;

/**
 * The flight recorder's event for a conflict of a transaction.
 *
 * <p>Only {@link FlightEvents} may refer to this class, because it cannot be loaded without the
 * module {@code jdk.jfr}.
 */
@Name(ConflictEvent.NAME)
@Label("Conflict")
@Description(
    "A transaction met a conflict with another one; whether it is repeated is up to its user")
@Category({"RevenantDB", "Engine"})
final class ConflictEvent extends Event {
  static final String NAME = "org.revenantdb.Conflict";

  @Label("Reason")
  @Nullable String reason;

  @Label("Message")
  @Description("What was in conflict, with the row and the table")
  @Nullable String text;

  @Label("Holder")
  @Description("The id of the transaction that is in the way; 0 if it has ended or is unknown")
  long holder;
}

package org.revenantdb.engine.flight;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;

/**
 * The flight recorder's event for a pass of the cleaner; its duration is the pass.
 *
 * <p>Only {@link FlightEvents} may refer to this class, because it cannot be loaded without the
 * module {@code jdk.jfr}.
 */
@Name(CleanerPassEvent.NAME)
@Label("Cleaner Pass")
@Description("A pass of the cleaner over pages with old versions, deleted rows or aborted changes")
@Category({"RevenantDB", "Engine"})
final class CleanerPassEvent extends Event {
  static final String NAME = "org.revenantdb.CleanerPass";

  @Label("Changes")
  @Description("How many things the pass has removed or given back")
  long changes;

  @Label("Aborted Transactions")
  @Description("How many aborted transactions the pass looked for")
  long aborted;

  @Label("Pages")
  @Description("Pages that the cleaner has visited")
  long pages;
}

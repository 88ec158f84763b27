package org.revenantdb.engine.flight;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Enabled;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;

/**
 * The flight recorder's event for a page of a tree that was split.
 *
 * <p>Only {@link FlightEvents} may refer to this class, because it cannot be loaded without the
 * module {@code jdk.jfr}.
 */
@Name(SplitEvent.NAME)
@Label("Page Split")
@Description("A page of a tree was full and was split")
@Category({"RevenantDB", "Engine"})
@Enabled(false)
@StackTrace(false)
final class SplitEvent extends Event {
  static final String NAME = "org.revenantdb.Split";

  @Label("Table")
  @Description("The id of the tree: that of its table, or of one of its partitions")
  int table;

  @Label("Level")
  @Description("0 for a leaf")
  int level;

  @Label("Root")
  @Description("Whether it is the root, so that the tree has one level more")
  boolean root;
}

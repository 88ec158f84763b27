package org.revenantdb.engine.flight;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.Threshold;
import org.jspecify.annotations.Nullable;

/**
 * The flight recorder's event for a commit that has taken long; its duration is that of the commit,
 * with all waits.
 *
 * <p>Only {@link FlightEvents} may refer to this class, because it cannot be loaded without the
 * module {@code jdk.jfr}.
 */
@Name(CommitEvent.NAME)
@Label("Slow Commit")
@Description("A commit, with its waits for the disk, took longer than the threshold")
@Category({"RevenantDB", "Engine"})
@Threshold("20 ms")
final class CommitEvent extends Event {
  static final String NAME = "org.revenantdb.Commit";

  @Label("Transaction")
  @Description("The id of the transaction; 0 if it has written nothing")
  long transaction;

  @Label("Name")
  @Description("The name of the transaction's options")
  @Nullable String name;

  @Label("Durability")
  @Nullable String durability;
}

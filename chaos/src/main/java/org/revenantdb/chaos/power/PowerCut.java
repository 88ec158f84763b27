package org.revenantdb.chaos.power;

import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.revenantdb.chaos.trace.Operation;
import org.revenantdb.chaos.trace.Trace;

/**
 * The power cuts of one trace: any crash point, any losses.
 *
 * <p>Threads: one at a time; the states it gives away may be used by others at once.
 */
public final class PowerCut {

  private final Trace trace;
  private final DiskRules rules;
  private final Predicate<Operation.Force> dropped;
  private final NodePaths paths;
  private @Nullable PendingDisk disk;

  /**
   * Prepares for the cuts of a trace.
   *
   * @param trace what happened; not changed
   * @param rules what the platform may do
   * @param dropped forces that never happened
   */
  public PowerCut(Trace trace, DiskRules rules, Predicate<Operation.Force> dropped) {
    this.trace = trace;
    this.rules = rules;
    this.dropped = dropped;
    this.paths = new NodePaths(trace);
  }

  /**
   * Prepares for the cuts of a trace whose forces all happened.
   *
   * @param trace what happened; not changed
   * @param rules what the platform may do
   */
  public PowerCut(Trace trace, DiskRules rules) {
    this(trace, rules, CrashPlan.NOTHING_DROPPED);
  }

  /**
   * The operations that a power cut may still take, wholly or in part.
   *
   * @param seq the crash point
   * @return in the order of the trace
   */
  public List<Operation> pending(long seq) {
    return at(seq).pending().values().stream().map(PendingDisk.Pending::operation).toList();
  }

  /**
   * Builds one state. Cheap if the crash point is that of the last call or a later one.
   *
   * @param seq the crash point
   * @param losses what is to be lost
   * @return the legal state that comes nearest, with what is really lost in it
   */
  public CrashState state(long seq, Losses losses) {
    return at(seq).state(losses);
  }

  private PendingDisk at(long seq) {
    PendingDisk known = disk;
    if (known == null || known.seq() > seq) {
      known = new PendingDisk(trace, rules, dropped, paths);
      disk = known;
    }
    known.advance(seq);
    return known;
  }
}

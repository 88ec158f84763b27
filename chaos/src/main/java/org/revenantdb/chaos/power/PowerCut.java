package org.revenantdb.chaos.power;

import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.revenantdb.chaos.disk.DiskImage;
import org.revenantdb.chaos.profile.DiskRules;
import org.revenantdb.chaos.profile.PlatformProfile;
import org.revenantdb.chaos.trace.Operation;
import org.revenantdb.chaos.trace.Trace;

/**
 * The power cuts of one trace: any crash point, any losses.
 *
 * <p>A state consists of choices: one version for every unit of every file, one for every size, and
 * which names there are (docs/chaos.md, section 3, has the rules). If the wanted losses are
 * impossible together, the result is the nearest legal state, and its {@link CrashState#losses} are
 * the real ones:
 *
 * <ul>
 *   <li>losing a name loses, under a journal, all names and truncations behind it and the sizes
 *       that need them; otherwise the later changes of the same entry;
 *   <li>losing appended bytes loses the sizes that need them, if no size is there before its bytes;
 *   <li>losing bytes of a unit that a later, kept write also touches has no effect there;
 *   <li>losing what a force made durable has no effect.
 * </ul>
 *
 * <p>Threads: one at a time; other threads may use its states at once.
 */
public final class PowerCut {
  /*
   * Life of an operation      happens     at its place: pending (names under AT_ONCE: durable)
   *                           covered     at the place of a force of its node with seq < since: durable, into the base
   *                           journaled   a name or truncation at or before the journal's durable place: decided, always there
   *                           stuck       bytes that a failed force should have written: pending for good, until a covered write or
   *                                       truncation of the same unit takes them into the base
   *                           gone        no name leads to its file in any state from here on: forgotten (its forces still
   *                                       move the journal)
   *
   * Why nothing illegal is built:
   *   bytes     a version of a unit is either the content of the file after a pending change that
   *             touches it (PendingFile.content),
   *             or the base; the base takes a unit only when a force covers a change of it.
   *   sizes     FilePick picks z first, downwards from the latest that is wanted, until it is
   *             legal. Then V1 to V3 there bind the units to it. They only raise a version that z
   *             requires or lower one that it forbids.
   *   names     a prefix of the journal, or a set closed towards earlier changes of the same entries (PendingNames.pick).
   *   check     LegalStates (a test) tries all choices of small random traces and removes those
   *             that break a rule. Every state built must be among the rest, and every state with
   *             whole operations must be built.
   *
   * Cost: PendingDisk only moves forwards and forks its content; a state costs what its losses
   * touch. Going back starts again.
   */

  private final Trace trace;
  private final DiskRules rules;
  private final Predicate<Operation.Force> dropped;
  private final NodePaths paths;
  private @Nullable PendingDisk disk;

  /**
   * Prepares for the cuts of a trace.
   *
   * @param trace the operations; not changed
   * @param rules what the platform may do
   * @param dropped forces that are removed
   */
  public PowerCut(Trace trace, DiskRules rules, Predicate<Operation.Force> dropped) {
    this.trace = trace;
    this.rules = rules;
    this.dropped = dropped;
    this.paths = new NodePaths(trace);
  }

  /**
   * Prepares for the cuts of a trace with all its forces.
   *
   * @param trace the operations; not changed
   * @param rules what the platform may do
   */
  public PowerCut(Trace trace, DiskRules rules) {
    this(trace, rules, CrashPlan.NOTHING_DROPPED);
  }

  /**
   * Returns what a recorded life has left behind if nothing of it is lost.
   *
   * @param trace of the life
   * @return the image behind its last operation
   */
  public static DiskImage whole(Trace trace) {
    // Where nothing is lost, all rules give the same image.
    return new PowerCut(trace, PlatformProfile.EXT4_ORDERED.rules())
        .state(Long.MAX_VALUE, Losses.none())
        .image();
  }

  /**
   * Returns the operations that a power cut may still lose, wholly or in part.
   *
   * @param seq the crash point
   * @return in the order of the trace
   */
  public List<Operation> pending(long seq) {
    return at(seq).pending().values().stream().map(PendingDisk.Pending::operation).toList();
  }

  /**
   * Builds one state. This is cheap if the crash point is that of the last call or a later one.
   *
   * @param seq the crash point
   * @param losses the wanted losses
   * @return the nearest legal state, with its real losses
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

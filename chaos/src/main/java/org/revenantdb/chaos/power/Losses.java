package org.revenantdb.chaos.power;

import java.util.BitSet;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.revenantdb.chaos.trace.Operation;

/**
 * The effect of a power cut: the pending operations that are missing, or not whole. All others are
 * there.
 *
 * <p>An operation has <em>parts</em> that can be lost independently:
 *
 * <table border="1">
 * <caption>parts</caption>
 * <tr><th>operation</th><th>part 0</th><th>parts from 1 on</th></tr>
 * <tr><td>write</td><td>the size, if it made the file longer</td><td>one for each unit, in order</td></tr>
 * <tr><td>truncation</td><td>the size</td><td>1: the zeros behind it</td></tr>
 * <tr><td>rename of a file between directories, names independent</td><td>the old name is
 * removed</td>
 * <td>1: the new name is added</td></tr>
 * <tr><td>any other</td><td>the whole</td><td>none</td></tr>
 * </table>
 *
 * <p>The losses of a {@link CrashState} are the real ones: {@link PowerCut#state} with these losses
 * gives an equal image. Wanted losses need not be possible; {@link PowerCut} describes the result.
 *
 * <p>Threads: any; losses do not change.
 */
public final class Losses {

  /**
   * One operation that is not whole.
   *
   * @param operation the operation
   * @param parts the parts that are lost; null: all
   */
  record Loss(Operation operation, @Nullable BitSet parts) {

    boolean lost(int part) {
      return parts == null || parts.get(part);
    }
  }

  private static final Losses NONE = new Losses(new TreeMap<>(), null);

  private final SortedMap<Long, Loss> losses;
  private final @Nullable Scene scene;

  /** Losses with or without the data for their story. */
  Losses(SortedMap<Long, Loss> losses, @Nullable Scene scene) {
    this.losses = losses;
    this.scene = scene;
  }

  /**
   * Nothing is lost.
   *
   * @return always the same object
   */
  public static Losses none() {
    return NONE;
  }

  /**
   * Returns losses of whole operations.
   *
   * @param operations the operations; those that are not pending are there all the same
   * @return the losses
   */
  public static Losses of(Collection<? extends Operation> operations) {
    SortedMap<Long, Loss> losses = new TreeMap<>();
    for (Operation operation : operations) {
      losses.put(operation.seq(), new Loss(operation, null));
    }
    return new Losses(losses, null);
  }

  /** One lost part of an operation. */
  static Losses torn(Operation operation, int part) {
    BitSet parts = new BitSet();
    parts.set(part);
    SortedMap<Long, Loss> losses = new TreeMap<>();
    losses.put(operation.seq(), new Loss(operation, parts));
    return new Losses(losses, null);
  }

  /**
   * Returns whether everything is there.
   *
   * @return true if nothing is lost or torn
   */
  public boolean isEmpty() {
    return losses.isEmpty();
  }

  /**
   * Returns the operations that are lost or torn.
   *
   * @return in the order of the trace
   */
  public List<Operation> operations() {
    return losses.values().stream().map(Loss::operation).toList();
  }

  /**
   * Returns whether an operation is lost as far as possible.
   *
   * @param operation the operation
   * @return false if it is there or torn
   */
  public boolean lost(Operation operation) {
    Loss loss = losses.get(operation.seq());
    return loss != null && loss.parts == null;
  }

  /**
   * Returns whether a part of an operation is lost and a part is there.
   *
   * @param operation the operation
   * @return false if it is there or lost
   */
  public boolean torn(Operation operation) {
    Loss loss = losses.get(operation.seq());
    return loss != null && loss.parts != null;
  }

  /**
   * Returns a description: the crash point, then every operation that is missing or not whole, with
   * path, range, thread and stack.
   *
   * @return several lines; one if nothing is lost
   */
  public String story() {
    return scene == null ? "nothing is known of the disk" : scene.tell(losses.values());
  }

  /** The loss of an operation; null if it is there. */
  @Nullable Loss of(long seq) {
    return losses.get(seq);
  }

  /** The loss of each operation that is not whole, by place. */
  SortedMap<Long, Loss> byPlace() {
    return Collections.unmodifiableSortedMap(losses);
  }

  /** The same losses with changes for some operations; null restores an operation. */
  Losses with(Map<Long, @Nullable Loss> changes) {
    SortedMap<Long, Loss> result = new TreeMap<>(losses);
    changes.forEach((seq, loss) -> {
      if (loss == null) {
        result.remove(seq);
      } else {
        result.put(seq, loss);
      }
    });
    return new Losses(result, scene);
  }

  @Override
  public String toString() {
    return losses.values().stream()
        .map(loss -> loss.operation.seq() + (loss.parts == null ? "" : loss.parts.toString()))
        .collect(Collectors.joining(" ", "lost: ", ""));
  }
}

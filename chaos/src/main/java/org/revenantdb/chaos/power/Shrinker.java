package org.revenantdb.chaos.power;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.revenantdb.chaos.disk.DiskImage;
import org.revenantdb.chaos.power.Losses.Loss;

/**
 * Reduces the losses of a failing state as far as it still fails.
 *
 * <p>While the state still fails, it restores lost operations: half of them at once, then quarters,
 * and so on down to single ones. Then each torn operation is lost whole or, if the state then no
 * longer fails, made less torn. The result is minimal: no single operation can be restored, if the
 * trials sufficed.
 */
public final class Shrinker {

  private final PowerCut cut;
  private final Predicate<DiskImage> fails;
  private CrashState state;
  private long hash;
  private int trials;

  private Shrinker(PowerCut cut, CrashState state, Predicate<DiskImage> fails, int trials) {
    this.cut = cut;
    this.state = state;
    this.hash = state.image().hash();
    this.fails = fails;
    this.trials = trials;
  }

  /**
   * Shrinks.
   *
   * @param cut of the trace that the state is from, with the same rules and dropped forces
   * @param failing a state that fails; its image is not changed
   * @param fails opens an image, which it may change, and returns whether that fails
   * @param maxTrials the maximum number of calls
   * @return a state that fails and has no more losses than the one given
   */
  public static CrashState shrink(
      PowerCut cut, CrashState failing, Predicate<DiskImage> fails, int maxTrials) {
    Shrinker shrinker = new Shrinker(cut, failing, fails, maxTrials);
    shrinker.putBack();
    shrinker.mend();
    return shrinker.state;
  }

  private void putBack() {
    for (int size = losses().size(); size > 0; size = size == 1 ? 0 : Math.ceilDiv(size, 2)) {
      boolean again = true;
      while (again) {
        again = false;
        for (int from = 0; from < losses().size(); from += size) {
          List<Loss> all = losses();
          Map<Long, @Nullable Loss> back = new HashMap<>();
          all.subList(from, Math.min(all.size(), from + size))
              .forEach(loss -> back.put(loss.operation().seq(), null));
          if (accept(state.losses().with(back), /* fewer= */ true)) {
            again = size == 1;
            from -= size;
          }
        }
      }
    }
  }

  private void mend() {
    for (Loss loss : losses()) {
      if (loss.parts() != null && !accept(change(loss, null), /* fewer= */ false)) {
        mend(loss, loss.parts());
      }
    }
  }

  /** Restores parts of one operation, in halves. */
  private void mend(Loss loss, BitSet parts) {
    BitSet left = (BitSet) parts.clone();
    for (int size = Math.ceilDiv(left.cardinality(), 2);
        size > 0;
        size = size == 1 ? 0 : Math.ceilDiv(size, 2)) {
      int[] all = left.stream().toArray();
      for (int from = 0; from < all.length; from += size) {
        BitSet fewer = (BitSet) left.clone();
        for (int i = from; i < Math.min(all.length, from + size); i++) {
          fewer.clear(all[i]);
        }
        if (!fewer.isEmpty() && accept(change(loss, fewer), /* fewer= */ false)) {
          left = fewer;
        }
      }
    }
  }

  private Losses change(Loss loss, @Nullable BitSet parts) {
    Map<Long, @Nullable Loss> change = new HashMap<>();
    change.put(loss.operation().seq(), new Loss(loss.operation(), parts));
    return state.losses().with(change);
  }

  private List<Loss> losses() {
    return new ArrayList<>(state.losses().byPlace().values());
  }

  /** Accepts a candidate if it fails, too, and if it is smaller where that is required. */
  private boolean accept(Losses wanted, boolean fewer) {
    CrashState candidate = cut.state(state.seq(), wanted);
    int before = state.losses().byPlace().size();
    int after = candidate.losses().byPlace().size();
    if (after > before || (fewer && after == before)) {
      return false;
    }
    long candidateHash = candidate.image().hash();
    if (candidateHash != hash) {
      if (trials-- <= 0 || !fails.test(candidate.image().fork())) {
        return false;
      }
    }
    state = candidate;
    hash = candidateHash;
    return true;
  }
}

package org.revenantdb.chaos.power;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.revenantdb.chaos.power.Losses.Loss;
import org.revenantdb.chaos.power.PendingDisk.Pending;
import org.revenantdb.chaos.profile.DiskRules;
import org.revenantdb.chaos.profile.PlatformProfile;
import org.revenantdb.chaos.trace.Operation;

/**
 * The losses to try at one crash point: first a fixed list, then random ones without end.
 *
 * <p>A draw need not be possible; the disk uses the nearest legal one.
 */
final class LossDraw implements Iterator<Losses> {

  /** The probabilities with which random draws lose an operation. */
  private static final double[] SHARES = {0.05, 0.3, 0.5, 0.8};

  /** Used before the first crash point. */
  static final LossDraw NOTHING = new LossDraw();

  private final List<Pending> pending;
  private final DiskRules rules;
  private final RandomGenerator random;
  private final List<Losses> inOrder = new ArrayList<>();

  /** The other pending operations if the draw has targets; otherwise empty. */
  private List<Pending> all = List.of();

  private int next;

  private LossDraw() {
    this.pending = List.of();
    this.rules = PlatformProfile.STRICT_POSIX.rules();
    this.random = RandomGenerator.getDefault();
  }

  LossDraw(
      List<Pending> pending, DiskRules rules, int exhaustive, int quota, RandomGenerator random) {
    this(pending, rules, exhaustive, quota, random, /* aimed= */ false);
  }

  private LossDraw(
      List<Pending> pending,
      DiskRules rules,
      int exhaustive,
      int quota,
      RandomGenerator random,
      boolean aimed) {
    this.pending = pending;
    this.rules = rules;
    this.random = random;
    inOrder.add(Losses.none());
    if (pending.isEmpty()) {
      return;
    }
    List<Operation> operations = pending.stream().map(Pending::operation).toList();
    inOrder.add(Losses.of(operations));
    inOrder.add(Losses.of(List.of(operations.getLast())));
    if (!aimed) {
      tornNewest(pending.getLast());
    }
    if (operations.size() <= exhaustive && 1 << operations.size() <= quota * 2) {
      subsets(operations);
    } else {
      singles(operations, Math.max(1, quota / 2));
    }
  }

  /**
   * Loses all targets, each alone, then random ones; sometimes together with other pending
   * operations.
   */
  static LossDraw aimed(
      List<Pending> targets,
      List<Pending> pending,
      DiskRules rules,
      int singles,
      RandomGenerator random) {
    if (targets.isEmpty()) {
      return NOTHING;
    }
    LossDraw draw = new LossDraw(targets, rules, 0, singles * 2, random, /* aimed= */ true);
    draw.inOrder.removeFirst();
    if (targets.isEmpty()) {
      return draw;
    }
    draw.all = pending;
    draw.inOrder.add(1, Losses.of(pending.stream().map(Pending::operation).toList()));
    return draw;
  }

  /** The newest write without its end, and without its beginning, in random order. */
  private void tornNewest(Pending newest) {
    int units = newest.operation() instanceof Operation.Write ? newest.parts() - 1 : 0;
    if (units > 1) {
      boolean endFirst = random.nextBoolean();
      inOrder.add(Losses.torn(newest.operation(), endFirst ? units : 1));
      inOrder.add(Losses.torn(newest.operation(), endFirst ? 1 : units));
    }
  }

  private void subsets(List<Operation> all) {
    for (int set = 1; set < 1 << all.size(); set++) {
      List<Operation> lost = new ArrayList<>();
      for (int i = 0; i < all.size(); i++) {
        if ((set & 1 << i) != 0) {
          lost.add(all.get(i));
        }
      }
      inOrder.add(Losses.of(lost));
    }
  }

  private void singles(List<Operation> all, int most) {
    List<Operation> chosen = new ArrayList<>(all);
    if (chosen.size() > most) {
      Collections.shuffle(chosen, java.util.Random.from(random));
      chosen.subList(most, chosen.size()).clear();
    }
    chosen.forEach(operation -> inOrder.add(Losses.of(List.of(operation))));
  }

  /** Whether the next ones are random, so that they have no end. */
  boolean isByChance() {
    return next >= inOrder.size();
  }

  @Override
  public boolean hasNext() {
    return next < inOrder.size() || !pending.isEmpty();
  }

  @Override
  public Losses next() {
    if (!hasNext()) {
      throw new NoSuchElementException("nothing is pending");
    }
    return next < inOrder.size() ? inOrder.get(next++) : byChance();
  }

  private Losses byChance() {
    if (all.isEmpty() || random.nextBoolean()) {
      return new Losses(draw(pending), null);
    }
    // A missing force may show only if something else is lost or torn, too: a page torn in place is
    // repaired from a copy that was forced before.
    SortedMap<Long, Loss> losses = draw(all);
    pending.forEach(
        one -> losses.put(one.operation().seq(), new Loss(one.operation(), /* parts= */ null)));
    return new Losses(losses, null);
  }

  private SortedMap<Long, Loss> draw(List<Pending> among) {
    SortedMap<Long, Loss> losses = new TreeMap<>();
    int shape = random.nextInt(4);
    int from = random.nextInt(among.size());
    int file = among.get(from).file();
    double share = SHARES[random.nextInt(SHARES.length)];
    double torn = random.nextBoolean() ? 0 : random.nextDouble();
    for (int i = 0; i < among.size(); i++) {
      Pending one = among.get(i);
      boolean lost =
          switch (shape) {
            case 0 -> i >= from;
            case 1 -> one.file() == file;
            default -> random.nextDouble() < share;
          };
      if (lost) {
        @Nullable BitSet parts = random.nextDouble() < torn ? tear(one) : null;
        losses.put(one.operation().seq(), new Loss(one.operation(), parts));
      }
    }
    return losses;
  }

  /** Some parts of an operation; null if it cannot be torn. */
  private @Nullable BitSet tear(Pending one) {
    if (one.parts() < 2) {
      return null;
    }
    BitSet parts = new BitSet(one.parts());
    int at = random.nextInt(1, one.parts());
    switch (random.nextInt(3)) {
      case 0 -> parts.set(at, one.parts());
      case 1 -> parts.set(1, at + 1);
      default -> {
        for (int part = 1; part < one.parts(); part++) {
          parts.set(part, random.nextBoolean());
        }
      }
    }
    parts.set(0, random.nextInt(rules.size() == DiskRules.Size.ANY ? 2 : 8) == 0);
    return parts.isEmpty() ? null : parts;
  }
}

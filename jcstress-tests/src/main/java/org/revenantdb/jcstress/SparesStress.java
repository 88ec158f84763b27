package org.revenantdb.jcstress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE_INTERESTING;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.jspecify.annotations.Nullable;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;
import org.revenantdb.engine.session.Spares;

/**
 * Claim: one thread at a time takes an object that was given back, and each sees what the previous
 * one has done to it.
 *
 * <p>Runs the production class. The twin {@link BrokenSpares} reads its slot and then empties it.
 * Fails on x86.
 *
 * <p>{@code mvn -pl jcstress-tests -am test -Dtest=ProtocolsTest
 * -Dsurefire.failIfNoSpecifiedTests=false -Dtest.excluded.tags=none -Djcstress.tests=SparesStress}
 */
public final class SparesStress {
  /** The result of a thread that got nothing. */
  private static final int NOTHING = -1;

  private SparesStress() {}

  /** An object that threads use one after the other. */
  private static final class Scratch {
    private int uses;

    private int use() {
      return ++uses;
    }
  }

  private static int use(@Nullable Scratch taken) {
    return taken == null ? NOTHING : taken.use();
  }

  /** One object in the slot, one in the queue. */
  private static Spares<Scratch> two() {
    Spares<Scratch> spares = new Spares<>(/* stripes= */ 1);
    spares.giveBack(new Scratch());
    spares.giveBack(new Scratch());
    return spares;
  }

  /** One object in the queue. */
  private static Spares<Scratch> oneInTheQueue() {
    Spares<Scratch> spares = two();
    spares.take();
    return spares;
  }

  /** Two threads take what is in the queue. */
  @JCStressTest
  @Outcome(
      id = {"1, -1", "-1, 1"},
      expect = ACCEPTABLE,
      desc = "One of them has it.")
  @Outcome(expect = FORBIDDEN, desc = "Both have it, or none.")
  @State
  public static class TakenOnce {
    private final Spares<Scratch> spares = oneInTheQueue();

    /** Starts with one object. */
    public TakenOnce() {}

    /** Takes it. */
    @Actor
    public void one(II_Result r) {
      r.r1 = use(spares.take());
    }

    /** Takes it. */
    @Actor
    public void other(II_Result r) {
      r.r2 = use(spares.take());
    }
  }

  /** One thread uses an object and gives it back to the slot, another takes it there. */
  @JCStressTest
  @Outcome(
      id = {"1, 2", "2, 1"},
      expect = ACCEPTABLE,
      desc = "One after the other; the second sees the use of the first.")
  @Outcome(
      id = {"1, -1", "-1, 1"},
      expect = ACCEPTABLE,
      desc = "One of them found nothing meanwhile.")
  @Outcome(expect = FORBIDDEN, desc = "Both had it, or a use was not seen.")
  @State
  public static class ThroughTheSlot {
    private final Spares<Scratch> spares = oneInTheQueue();

    /** Starts with one object. */
    public ThroughTheSlot() {}

    private int useAndGiveBack() {
      Scratch taken = spares.take();
      int uses = use(taken);
      if (taken != null) {
        spares.giveBack(taken);
      }
      return uses;
    }

    /** Uses it. */
    @Actor
    public void one(II_Result r) {
      r.r1 = useAndGiveBack();
    }

    /** Uses it. */
    @Actor
    public void other(II_Result r) {
      r.r2 = useAndGiveBack();
    }
  }

  /** One thread uses an object and gives it back to the queue, another takes it there. */
  @JCStressTest
  @Outcome(id = "1, 2", expect = ACCEPTABLE, desc = "The second sees the use of the first.")
  @Outcome(id = "1, -1", expect = ACCEPTABLE, desc = "It was not there yet.")
  @Outcome(expect = FORBIDDEN, desc = "A use was not seen.")
  @State
  public static class ThroughTheQueue {
    private final Spares<Scratch> spares = new Spares<>(/* stripes= */ 1);
    private final Scratch scratch = new Scratch();

    /** Starts with an object in the slot that stays unused. */
    public ThroughTheQueue() {
      spares.giveBack(new Scratch());
    }

    /** Uses an object. */
    @Actor
    public void one(II_Result r) {
      r.r1 = scratch.use();
      spares.giveBack(scratch);
    }

    /** Takes what is in the slot, and then what is in the queue. */
    @Actor
    public void other(II_Result r) {
      spares.take();
      r.r2 = use(spares.take());
    }
  }

  /** A slot that is read and then emptied. */
  @BrokenTwin
  @JCStressTest
  @Outcome(
      id = {"1, 1", "2, 2"},
      expect = ACCEPTABLE_INTERESTING,
      desc = "Both had it: the twin is broken.")
  @Outcome(expect = ACCEPTABLE, desc = "One at a time, by luck.")
  @State
  public static class BrokenSpares {
    private volatile @Nullable Scratch slot = new Scratch();

    /** Starts with one object. */
    public BrokenSpares() {}

    private int useAndGiveBack() {
      Scratch taken = slot;
      if (taken == null) {
        return NOTHING;
      }
      slot = null;
      int uses = taken.use();
      slot = taken;
      return uses;
    }

    /** Uses it. */
    @Actor
    public void one(II_Result r) {
      r.r1 = useAndGiveBack();
    }

    /** Uses it. */
    @Actor
    public void other(II_Result r) {
      r.r2 = useAndGiveBack();
    }
  }
}

package org.revenantdb.jcstress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE_INTERESTING;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.jspecify.annotations.Nullable;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;
import org.openjdk.jcstress.infra.results.ZZ_Result;
import org.revenantdb.engine.buffer.OpenStays;
import org.revenantdb.engine.buffer.Stay;

/**
 * Claim: who finds a stay through the translation finds all that its maker wrote about it, and, if
 * the read validates, the page as its loader left it, not what was in the frame before. And: of two
 * who bring a page only one enters it.
 *
 * <p>The very translation and stays. Results of a reader: how far it came (0 nothing entered, 1 the
 * loader is at work, 2 not valid, 3 valid), both words of the page (11 = the loader's), and whether
 * the stay and the translation say which page and frame it is.
 *
 * <p>Broken twins. {@link BrokenEnteredBeforeLatched}, a stay that is entered and then latched:
 * seen to fail on x86, where readers take the frame's last content for the page. {@link
 * BrokenLookThenEnter}, an entry that is looked at and then stored: seen to fail on x86. {@link
 * BrokenPlainEntry}, a stay that is stored and read plainly: cannot be seen on x86, which keeps
 * stores in order and loads in order, unless the compiler changes theirs.
 *
 * <p>{@code mvn -pl jcstress-tests -am test -Dtest=ProtocolsTest
 * -Dsurefire.failIfNoSpecifiedTests=false -Dtest.excluded.tags=none
 * -Djcstress.tests=TranslationPublishStress}
 */
public final class TranslationPublishStress {
  private TranslationPublishStress() {}

  /** A frame without a page, and who looks for one. */
  public abstract static class Frame {
    final OpenStays stays = new OpenStays();

    Frame() {}

    void look(@Nullable Stay stay, III_Result r) {
      if (stay == null) {
        return;
      }
      r.r3 = stays.isOf(stay, 0) && stays.frameOf(0) == stay.frame() ? 1 : 0;
      long stamp = stay.readOptimistic();
      if (stamp == Stay.INVALID_STAMP) {
        r.r1 = 1;
        return;
      }
      int content = OpenStays.read(stay);
      if (stay.validate(stamp)) {
        r.r1 = 3;
        r.r2 = content;
      } else {
        r.r1 = 2;
      }
    }
  }

  /** As it is. */
  @JCStressTest
  @Outcome(id = "0, 0, 0", expect = ACCEPTABLE, desc = "Not entered yet.")
  @Outcome(
      id = {"1, 0, 1", "2, 0, 1"},
      expect = ACCEPTABLE,
      desc = "The loader is at work, and that is known.")
  @Outcome(id = "3, 11, 1", expect = ACCEPTABLE, desc = "The page, as it was loaded.")
  @Outcome(expect = FORBIDDEN, desc = "Took something else for the page.")
  @State
  public static class Latched extends Frame {
    /** Starts with the page elsewhere. */
    public Latched() {}

    /** Brings the page. */
    @Actor
    public void loader() {
      Stay stay = stays.newStay(0);
      stay.acquireExclusive();
      stays.install(stay);
      stays.write(1);
      stay.releaseExclusive();
    }

    /** Looks it up. */
    @Actor
    public void reader(III_Result r) {
      look(stays.stayOf(0), r);
    }
  }

  /** A reader that waits for the loader instead. */
  @JCStressTest
  @Outcome(id = "0, 0, 0", expect = ACCEPTABLE, desc = "Not entered yet.")
  @Outcome(id = "3, 11, 1", expect = ACCEPTABLE, desc = "The page, as it was loaded.")
  @Outcome(expect = FORBIDDEN, desc = "Took something else for the page.")
  @State
  public static class LatchedByBoth extends Frame {
    /** Starts with the page elsewhere. */
    public LatchedByBoth() {}

    /** Brings the page. */
    @Actor
    public void loader() {
      Stay stay = stays.newStay(0);
      stay.acquireExclusive();
      stays.install(stay);
      stays.write(1);
      stay.releaseExclusive();
    }

    /** Looks it up. */
    @Actor
    public void reader(III_Result r) {
      Stay stay = stays.stayOf(0);
      if (stay == null) {
        return;
      }
      stay.acquireShared();
      r.r1 = 3;
      r.r2 = OpenStays.read(stay);
      r.r3 = stays.isOf(stay, 0) && stays.frameOf(0) == stay.frame() ? 1 : 0;
      stay.releaseShared();
    }
  }

  /** Two bring the page. */
  @JCStressTest
  @Outcome(
      id = {"true, false", "false, true"},
      expect = ACCEPTABLE,
      desc = "One was first.")
  @Outcome(expect = FORBIDDEN, desc = "The page is in two frames, or in none.")
  @State
  public static class TwoLoaders extends Frame {
    /** Starts with the page elsewhere. */
    public TwoLoaders() {}

    /** Brings the page. */
    @Actor
    public void one(ZZ_Result r) {
      r.r1 = stays.install(stays.newStay(0));
    }

    /** Brings it as well. */
    @Actor
    public void other(ZZ_Result r) {
      r.r2 = stays.install(stays.newStay(0));
    }
  }

  /** The entry first. */
  @BrokenTwin
  @JCStressTest
  @Outcome(
      id = {"0, 0, 0", "1, 0, 1", "2, 0, 1", "3, 11, 1"},
      expect = ACCEPTABLE,
      desc = "As it should be, by luck.")
  @Outcome(
      expect = ACCEPTABLE_INTERESTING,
      desc = "Took what was in the frame for the page: the twin is broken.")
  @State
  public static class BrokenEnteredBeforeLatched extends Frame {
    /** Starts with the page elsewhere. */
    public BrokenEnteredBeforeLatched() {}

    /** Brings the page. */
    @Actor
    public void loader() {
      Stay stay = stays.newStay(0);
      stays.install(stay);
      stay.acquireExclusive();
      stays.write(1);
      stay.releaseExclusive();
    }

    /** Looks it up. */
    @Actor
    public void reader(III_Result r) {
      look(stays.stayOf(0), r);
    }
  }

  /** The entry is not entered by one step. */
  @BrokenTwin
  @JCStressTest
  @Outcome(
      id = {"true, false", "false, true"},
      expect = ACCEPTABLE,
      desc = "One was first, by luck.")
  @Outcome(
      id = "true, true",
      expect = ACCEPTABLE_INTERESTING,
      desc = "The page is in two frames: the twin is broken.")
  @Outcome(expect = FORBIDDEN, desc = "Nobody brought it.")
  @State
  public static class BrokenLookThenEnter extends Frame {
    private volatile @Nullable Stay entry;

    /** Starts with the page elsewhere. */
    public BrokenLookThenEnter() {}

    /** Brings the page. */
    @Actor
    public void one(ZZ_Result r) {
      r.r1 = enter(stays.newStay(0));
    }

    /** Brings it as well. */
    @Actor
    public void other(ZZ_Result r) {
      r.r2 = enter(stays.newStay(0));
    }

    private boolean enter(Stay stay) {
      if (entry != null) {
        return false;
      }
      entry = stay;
      return true;
    }
  }

  /**
   * Plain store, plain read, of something whose fields are not final, filled before it is entered.
   */
  @BrokenTwin(mustShow = false) // x86 keeps stores in order and loads in order
  @JCStressTest
  @Outcome(
      id = {"0, 0, 0", "3, 11, 1"},
      expect = ACCEPTABLE,
      desc = "As it should be, by luck.")
  @Outcome(expect = ACCEPTABLE_INTERESTING, desc = "A part is missing: the twin is broken.")
  @State
  public static class BrokenPlainEntry {
    private static final class Plain {
      int version;
      int first;
      int second;
    }

    private @Nullable Plain entry;

    /** Starts with the page elsewhere. */
    public BrokenPlainEntry() {}

    /** Brings the page. */
    @Actor
    public void loader() {
      Plain plain = new Plain();
      plain.version = 1;
      plain.first = 1;
      plain.second = 1;
      entry = plain;
    }

    /** Looks it up. */
    @Actor
    public void reader(III_Result r) {
      Plain plain = entry;
      if (plain != null) {
        r.r1 = 3;
        r.r2 = 10 * plain.second + plain.first;
        r.r3 = plain.version;
      }
    }
  }
}

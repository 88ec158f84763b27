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
 * Claim: a thread that finds a stay through the translation sees everything that its maker wrote
 * about it. If the read validates, it sees the page as its loader left it, not the former content
 * of the frame. If two threads bring a page in, only one of them enters it.
 *
 * <p>Runs the production translation and stays. Results of a reader: how far it came (0 nothing
 * entered, 1 the loader is at work, 2 not valid, 3 valid); both words of the page (11 = the
 * loader's); whether the stay and the translation have the right page and frame.
 *
 * <p>Broken twins. {@link BrokenEnteredBeforeLatched}: a stay is entered and then latched. It fails
 * on x86, where readers take the frame's last content for the page. {@link BrokenLookThenEnter}: an
 * entry is read and then stored. It fails on x86. {@link BrokenPlainEntry}: a stay is stored and
 * read plainly. Its failure cannot be seen on x86, which keeps the order of stores and the order of
 * loads, unless the compiler changes theirs.
 *
 * <p>{@code mvn -pl jcstress-tests -am test -Dtest=ProtocolsTest
 * -Dsurefire.failIfNoSpecifiedTests=false -Dtest.excluded.tags=none
 * -Djcstress.tests=TranslationPublishStress}
 */
public final class TranslationPublishStress {
  private TranslationPublishStress() {}

  /** A frame without a page, and a thread that looks for one. */
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

  /** The production code. */
  @JCStressTest
  @Outcome(id = "0, 0, 0", expect = ACCEPTABLE, desc = "Not entered yet.")
  @Outcome(
      id = {"1, 0, 1", "2, 0, 1"},
      expect = ACCEPTABLE,
      desc = "The loader is at work, and the reader knows it.")
  @Outcome(id = "3, 11, 1", expect = ACCEPTABLE, desc = "The page, as it was loaded.")
  @Outcome(expect = FORBIDDEN, desc = "Took other bytes for the page.")
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

  /** The production code, with a reader that waits for the loader. */
  @JCStressTest
  @Outcome(id = "0, 0, 0", expect = ACCEPTABLE, desc = "Not entered yet.")
  @Outcome(id = "3, 11, 1", expect = ACCEPTABLE, desc = "The page, as it was loaded.")
  @Outcome(expect = FORBIDDEN, desc = "Took other bytes for the page.")
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

  /** Two threads bring the page in. */
  @JCStressTest
  @Outcome(
      id = {"true, false", "false, true"},
      expect = ACCEPTABLE,
      desc = "One of them was first.")
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

  /** The stay is entered first. */
  @BrokenTwin
  @JCStressTest
  @Outcome(
      id = {"0, 0, 0", "1, 0, 1", "2, 0, 1", "3, 11, 1"},
      expect = ACCEPTABLE,
      desc = "Right, by luck.")
  @Outcome(
      expect = ACCEPTABLE_INTERESTING,
      desc = "Took the frame's former content for the page: the twin is broken.")
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

  /** The stay is not entered in one step. */
  @BrokenTwin
  @JCStressTest
  @Outcome(
      id = {"true, false", "false, true"},
      expect = ACCEPTABLE,
      desc = "One of them was first, by luck.")
  @Outcome(
      id = "true, true",
      expect = ACCEPTABLE_INTERESTING,
      desc = "The page is in two frames: the twin is broken.")
  @Outcome(expect = FORBIDDEN, desc = "The page is in no frame.")
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
   * Plain store and plain read of an object whose fields are not final, filled before it is
   * entered.
   */
  @BrokenTwin(mustShow = false) // x86 keeps stores in order and loads in order
  @JCStressTest
  @Outcome(
      id = {"0, 0, 0", "3, 11, 1"},
      expect = ACCEPTABLE,
      desc = "Right, by luck.")
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

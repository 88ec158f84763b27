package org.revenantdb.jcstress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE_INTERESTING;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicLong;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;
import org.openjdk.jcstress.infra.results.I_Result;
import org.openjdk.jcstress.infra.results.J_Result;
import org.openjdk.jcstress.infra.results.Z_Result;
import org.revenantdb.engine.page.Page;

/**
 * Claims about a space map that several threads change under its shared latch. Of two bytes of one
 * word, each gets its value; so does each of two bits of one byte. The page LSN ends as the
 * highest. The first LSN of the frame is at or below the records of all threads that found it set.
 *
 * <p>Runs on a production page. Tail and first LSN are modelled by two words, as in {@link
 * RedoPointStress}.
 *
 * <p>Broken twins: {@link BrokenPlainWord}, {@link BrokenWholeByte}, {@link BrokenLookThenRaise}
 * and {@link BrokenMarkedAfterwards}. All fail on x86.
 *
 * <p>{@code mvn -pl jcstress-tests -am test -Dtest=ProtocolsTest
 * -Dsurefire.failIfNoSpecifiedTests=false -Dtest.excluded.tags=none
 * -Djcstress.tests=SharedMapStress}
 */
public final class SharedMapStress {
  private static final int ONE = 64;
  private static final int OTHER = 65;

  private SharedMapStress() {}

  /** A page whose words are aligned, as in a frame. */
  public abstract static class Map {
    final MemorySegment page = MemorySegment.ofArray(new long[16]);

    Map() {}
  }

  /** The production code. */
  @JCStressTest
  @Outcome(id = "64, 192", expect = ACCEPTABLE, desc = "Both changes are there.")
  @Outcome(expect = FORBIDDEN, desc = "One change has undone the other.")
  @State
  public static class TwoBytesOfAWord extends Map {
    /** Starts with zeros. */
    public TwoBytesOfAWord() {}

    /** Allocates a page. */
    @Actor
    public void one() {
      Page.putBitsShared(page, ONE, 0xFF, 64);
    }

    /** Marks the next one. */
    @Actor
    public void other() {
      Page.putBitsShared(page, OTHER, 0xFF, 192);
    }

    /** Looks. */
    @Arbiter
    public void look(II_Result r) {
      r.r1 = Page.getByte(page, ONE);
      r.r2 = Page.getByte(page, OTHER);
    }
  }

  /** The production code: two extents whose bits are in one byte. */
  @JCStressTest
  @Outcome(id = "4", expect = ACCEPTABLE, desc = "One is taken, the other freed.")
  @Outcome(expect = FORBIDDEN, desc = "One change has undone the other.")
  @State
  public static class TwoBitsOfAByte extends Map {
    /** Starts with the first one taken. */
    public TwoBitsOfAByte() {
      Page.putByte(page, ONE, 1);
    }

    /** Frees the first extent. */
    @Actor
    public void one() {
      Page.putBitsShared(page, ONE, 1, 0);
    }

    /** Takes the third. */
    @Actor
    public void other() {
      Page.putBitsShared(page, ONE, 4, 4);
    }

    /** Looks. */
    @Arbiter
    public void look(I_Result r) {
      r.r1 = Page.getByte(page, ONE);
    }
  }

  /** Sets the value of the whole byte, not of the bit. */
  @BrokenTwin
  @JCStressTest
  @Outcome(id = "4", expect = ACCEPTABLE, desc = "Both, by luck.")
  @Outcome(
      id = {"0", "5"},
      expect = ACCEPTABLE_INTERESTING,
      desc = "One change has undone the other: the twin is broken.")
  @Outcome(expect = FORBIDDEN, desc = "Neither change is there.")
  @State
  public static class BrokenWholeByte extends Map {
    /** Starts with the first one taken. */
    public BrokenWholeByte() {
      Page.putByte(page, ONE, 1);
    }

    /** Frees the first extent. */
    @Actor
    public void one() {
      Page.putBitsShared(page, ONE, 0xFF, Page.getByteShared(page, ONE) & ~1);
    }

    /** Takes the third. */
    @Actor
    public void other() {
      Page.putBitsShared(page, ONE, 0xFF, Page.getByteShared(page, ONE) | 4);
    }

    /** Looks. */
    @Arbiter
    public void look(I_Result r) {
      r.r1 = Page.getByte(page, ONE);
    }
  }

  /** Reads, changes and stores the word. */
  @BrokenTwin
  @JCStressTest
  @Outcome(id = "64, 192", expect = ACCEPTABLE, desc = "Both, by luck.")
  @Outcome(
      id = {"64, 0", "0, 192"},
      expect = ACCEPTABLE_INTERESTING,
      desc = "One change has undone the other: the twin is broken.")
  @Outcome(expect = FORBIDDEN, desc = "Neither change is there.")
  @State
  public static class BrokenPlainWord extends Map {
    /** Starts with zeros. */
    public BrokenPlainWord() {}

    /** Allocates a page. */
    @Actor
    public void one() {
      Page.putInt(page, ONE, Page.getInt(page, ONE) | 64);
    }

    /** Marks the next one. */
    @Actor
    public void other() {
      Page.putInt(page, ONE, Page.getInt(page, ONE) | (192 << 8));
    }

    /** Looks. */
    @Arbiter
    public void look(II_Result r) {
      r.r1 = Page.getByte(page, ONE);
      r.r2 = Page.getByte(page, OTHER);
    }
  }

  /** The production code. */
  @JCStressTest
  @Outcome(id = "20", expect = ACCEPTABLE, desc = "The highest LSN.")
  @Outcome(expect = FORBIDDEN, desc = "The page LSN is below a change of the page.")
  @State
  public static class HighestLsn extends Map {
    /** Starts with zero. */
    public HighestLsn() {}

    /** The earlier record. */
    @Actor
    public void earlier() {
      Page.raiseLsn(page, 10);
    }

    /** The later record. */
    @Actor
    public void later() {
      Page.raiseLsn(page, 20);
    }

    /** Looks. */
    @Arbiter
    public void look(J_Result r) {
      r.r1 = Page.lsn(page);
    }
  }

  /** Reads the LSN, then stores it. */
  @BrokenTwin
  @JCStressTest
  @Outcome(id = "20", expect = ACCEPTABLE, desc = "The highest LSN, by luck.")
  @Outcome(
      id = "10",
      expect = ACCEPTABLE_INTERESTING,
      desc = "The page LSN is below a change of the page: the twin is broken.")
  @Outcome(expect = FORBIDDEN, desc = "Neither.")
  @State
  public static class BrokenLookThenRaise extends Map {
    /** Starts with zero. */
    public BrokenLookThenRaise() {}

    /** The earlier record. */
    @Actor
    public void earlier() {
      raise(10);
    }

    /** The later record. */
    @Actor
    public void later() {
      raise(20);
    }

    private void raise(long lsn) {
      if (Page.lsn(page) < lsn) {
        Page.setLsn(page, lsn);
      }
    }

    /** Looks. */
    @Arbiter
    public void look(J_Result r) {
      r.r1 = Page.lsn(page);
    }
  }

  /** Tail of the log and first LSN of a clean frame. */
  public abstract static class Frame {
    final AtomicLong tail = new AtomicLong(100);
    final AtomicLong first = new AtomicLong();

    Frame() {}
  }

  /** The production order: the mark, with a tail read before, and then the record. */
  @JCStressTest
  @Outcome(id = "true", expect = ACCEPTABLE, desc = "At or below both.")
  @Outcome(expect = FORBIDDEN, desc = "A checkpoint would skip a record.")
  @State
  public static class MarkedBefore extends Frame {
    private long one;
    private long other;

    /** Starts clean. */
    public MarkedBefore() {}

    /** Changes a byte. */
    @Actor
    public void one() {
      one = change();
    }

    /** Changes another. */
    @Actor
    public void other() {
      other = change();
    }

    private long change() {
      long now = tail.get();
      if (first.get() == 0) {
        first.compareAndSet(0, now);
      }
      return tail.getAndAdd(10);
    }

    /** Looks. */
    @Arbiter
    public void look(Z_Result r) {
      r.r1 = first.get() <= Math.min(one, other);
    }
  }

  /** The record, and then the mark: the source has a count of pending updates against this. */
  @BrokenTwin
  @JCStressTest
  @Outcome(id = "true", expect = ACCEPTABLE, desc = "At or below both, by luck.")
  @Outcome(
      id = "false",
      expect = ACCEPTABLE_INTERESTING,
      desc = "A checkpoint would skip a record: the twin is broken.")
  @State
  public static class BrokenMarkedAfterwards extends Frame {
    private long one;
    private long other;

    /** Starts clean. */
    public BrokenMarkedAfterwards() {}

    /** Changes a byte. */
    @Actor
    public void one() {
      one = change();
    }

    /** Changes another. */
    @Actor
    public void other() {
      other = change();
    }

    private long change() {
      long lsn = tail.getAndAdd(10);
      first.compareAndSet(0, lsn);
      return lsn;
    }

    /** Looks. */
    @Arbiter
    public void look(Z_Result r) {
      r.r1 = first.get() <= Math.min(one, other);
    }
  }
}

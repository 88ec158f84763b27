package org.revenantdb.jcstress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE_INTERESTING;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import java.util.concurrent.atomic.AtomicLong;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.JZ_Result;
import org.revenantdb.gc.version.OpenUnseenDeletes;

/**
 * Claim (protocols.md §41, U1): a noted delete is never forgotten, even if a row of another leaf
 * shares its word and is removed at the same time.
 *
 * <p>Runs the production words. Each actor is a thread of the cleaner that has a leaf of its own
 * latched. Result: the delete that an insert through a snapshot between the two deletes finds
 * afterwards, and whether whole leaves are refused. The twin {@link BrokenSet} reads the word and
 * then sets it. Fails on x86.
 *
 * <p>{@code mvn -pl jcstress-tests -am test -Dtest=ProtocolsTest
 * -Dsurefire.failIfNoSpecifiedTests=false -Dtest.excluded.tags=none
 * -Djcstress.tests=UnseenDeletesStress}
 */
public final class UnseenDeletesStress {
  private static final long EARLY = 10;
  private static final long BETWEEN = 15;
  private static final long LATE = 20;

  private UnseenDeletesStress() {}

  /** The production code. */
  @JCStressTest
  @Outcome(id = "20, true", expect = ACCEPTABLE, desc = "The later delete is known.")
  @Outcome(expect = FORBIDDEN, desc = "Forgotten: the insert does not see the delete.")
  @State
  public static class Words {
    private final OpenUnseenDeletes deletes = new OpenUnseenDeletes();

    /** No delete is noted. */
    public Words() {}

    /** Removes a row. */
    @Actor
    public void early() {
      deletes.taken(0, EARLY);
    }

    /** Removes another row. */
    @Actor
    public void late() {
      deletes.taken(1, LATE);
    }

    /** Inserts the second one again. */
    @Arbiter
    public void insert(JZ_Result r) {
      r.r1 = deletes.after(1, BETWEEN);
      r.r2 = deletes.anyAfter(BETWEEN);
    }
  }

  /** Reads, then sets: a model of the word. */
  @BrokenTwin
  @JCStressTest
  @Outcome(id = "20, true", expect = ACCEPTABLE, desc = "Known, by luck.")
  @Outcome(
      id = "10, false",
      expect = ACCEPTABLE_INTERESTING,
      desc = "The earlier delete has overwritten the later one: the twin is broken.")
  @State
  public static class BrokenSet {
    private final AtomicLong word = new AtomicLong();

    /** No delete is noted. */
    public BrokenSet() {}

    private void taken(long deletedAt) {
      if (word.get() < deletedAt) {
        word.set(deletedAt);
      }
    }

    /** Removes a row. */
    @Actor
    public void early() {
      taken(EARLY);
    }

    /** Removes another row. */
    @Actor
    public void late() {
      taken(LATE);
    }

    /** Inserts the second one again. */
    @Arbiter
    public void insert(JZ_Result r) {
      r.r1 = word.get();
      r.r2 = word.get() > BETWEEN;
    }
  }
}

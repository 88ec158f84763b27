package org.revenantdb.jcstress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE_INTERESTING;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.J_Result;
import org.openjdk.jcstress.infra.results.ZZ_Result;
import org.revenantdb.gc.version.OpenDepartedRows;

/**
 * Claims (protocols.md §48): a reader that reads the leaf first and looks for keys second finds a
 * row that departs meanwhile; a writer finds the delete of a departed row while its key becomes a
 * word.
 *
 * <p>Runs the production code. The leaf is a volatile boolean: the row is in it. Result of the
 * first: whether the row was in the leaf, and whether its key was found. The twin {@link
 * BrokenOrder} looks for the key first. Fails on x86.
 *
 * <p>{@code mvn -pl jcstress-tests -am test -Dtest=ProtocolsTest
 * -Dsurefire.failIfNoSpecifiedTests=false -Dtest.excluded.tags=none
 * -Djcstress.tests=DepartedRowsStress}
 */
public final class DepartedRowsStress {
  private static final long SNAPSHOT = 15;
  private static final long DELETED = 20;

  private DepartedRowsStress() {}

  /** The production order. */
  @JCStressTest
  @Outcome(id = "true, false", expect = ACCEPTABLE, desc = "Seen in the leaf.")
  @Outcome(id = "true, true", expect = ACCEPTABLE, desc = "Seen in both, counted once.")
  @Outcome(id = "false, true", expect = ACCEPTABLE, desc = "Found by its key.")
  @Outcome(id = "false, false", expect = FORBIDDEN, desc = "The snapshot misses the row.")
  @State
  public static class LeafFirst {
    private final OpenDepartedRows departed = new OpenDepartedRows();
    private volatile boolean isInLeaf = true;

    /** The row is in its leaf. */
    public LeafFirst() {}

    /** The cleaner. */
    @Actor
    public void departs() {
      departed.depart(DELETED);
      isInLeaf = false;
    }

    /** A scan. */
    @Actor
    public void reads(ZZ_Result r) {
      r.r1 = isInLeaf;
      r.r2 = departed.finds(SNAPSHOT);
    }
  }

  /** Looks for the key first. */
  @BrokenTwin
  @JCStressTest
  @Outcome(id = "true, false", expect = ACCEPTABLE, desc = "Seen in the leaf.")
  @Outcome(id = "true, true", expect = ACCEPTABLE, desc = "Seen in both.")
  @Outcome(id = "false, true", expect = ACCEPTABLE, desc = "Found by its key.")
  @Outcome(
      id = "false, false",
      expect = ACCEPTABLE_INTERESTING,
      desc = "The snapshot misses the row: the twin is broken.")
  @State
  public static class BrokenOrder {
    private final OpenDepartedRows departed = new OpenDepartedRows();
    private volatile boolean isInLeaf = true;

    /** The row is in its leaf. */
    public BrokenOrder() {}

    /** The cleaner. */
    @Actor
    public void departs() {
      departed.depart(DELETED);
      isInLeaf = false;
    }

    /** A scan. */
    @Actor
    public void reads(ZZ_Result r) {
      r.r2 = departed.finds(SNAPSHOT);
      r.r1 = isInLeaf;
    }
  }

  /** A key becomes a word beside a writer with an old snapshot. */
  @JCStressTest
  @Outcome(id = "20", expect = ACCEPTABLE, desc = "In conflict.")
  @Outcome(expect = FORBIDDEN, desc = "The writer does not see the delete.")
  @State
  public static class Forgets {
    private final OpenDepartedRows departed = new OpenDepartedRows();

    /** The row has departed. */
    public Forgets() {
      departed.depart(DELETED);
    }

    /** A pass of the cleaner. */
    @Actor
    public void forgets() {
      departed.forget();
    }

    /** An insert of the row. */
    @Actor
    public void inserts(J_Result r) {
      r.r1 = departed.after(SNAPSHOT);
    }
  }
}

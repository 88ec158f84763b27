package org.revenantdb.jcstress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE_INTERESTING;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.Z_Result;
import org.revenantdb.gc.version.OpenRow;

/**
 * Claim (rule R4, protocols.md §39): a snapshot finds its version of a row, whatever is written and
 * pruned after it was opened. Two rules ensure that. A set of snapshots decides only about versions
 * that were superseded before the set was taken. A version is in memory before it leaves its page.
 *
 * <p>Broken twins: {@link BrokenMembersOnly}, {@link BrokenPushesLate}. Both fail on x86.
 *
 * <p>{@code mvn -pl jcstress-tests -am test -Dtest=ProtocolsTest
 * -Dsurefire.failIfNoSpecifiedTests=false -Dtest.excluded.tags=none -Djcstress.tests=PruneStress}
 */
public final class PruneStress {
  private PruneStress() {}

  /** The production code. */
  @JCStressTest
  @Outcome(id = "false", expect = FORBIDDEN, desc = "The version that is read was dropped.")
  @Outcome(id = "true", expect = ACCEPTABLE, desc = "Found.")
  @State
  public static class Pruned {
    private final OpenRow row = new OpenRow();

    /** Enough rounds for versions to come and go. */
    @Actor
    public void writer() {
      row.write();
      row.write();
      row.write();
      row.write();
    }

    /** Reads. */
    @Actor
    public void reader(Z_Result r) {
      r.r1 = row.read();
    }
  }

  /** Only the members of the set count, not its bound. */
  @BrokenTwin
  @JCStressTest
  @Outcome(
      id = "false",
      expect = ACCEPTABLE_INTERESTING,
      desc = "The set does not know the reader's snapshot: the twin is broken.")
  @Outcome(id = "true", expect = ACCEPTABLE, desc = "Found, by luck.")
  @State
  public static class BrokenMembersOnly {
    private final OpenRow row = new OpenRow();

    /** Drops too much. */
    @Actor
    public void writer() {
      row.writeByMembersOnly();
      row.writeByMembersOnly();
      row.writeByMembersOnly();
      row.writeByMembersOnly();
    }

    /** Reads. */
    @Actor
    public void reader(Z_Result r) {
      r.r1 = row.read();
    }
  }

  /** The page changes before the version is in memory. */
  @BrokenTwin
  @JCStressTest
  @Outcome(
      id = "false",
      expect = ACCEPTABLE_INTERESTING,
      desc = "The version is neither on its page nor in memory: the twin is broken.")
  @Outcome(id = "true", expect = ACCEPTABLE, desc = "Found, by luck.")
  @State
  public static class BrokenPushesLate {
    private final OpenRow row = new OpenRow();

    /** Pushes the version after the change. */
    @Actor
    public void writer() {
      row.writeTooEarly();
      row.writeTooEarly();
      row.writeTooEarly();
      row.writeTooEarly();
    }

    /** Reads. */
    @Actor
    public void reader(Z_Result r) {
      r.r1 = row.read();
    }
  }
}

package org.revenantdb.jcstress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE_INTERESTING;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.Z_Result;
import org.revenantdb.gc.spill.OpenRuns;

/**
 * Claim: a version that a snapshot needs is found at every moment while it moves from memory to a
 * run, and from there to a merged run, whose input is deleted (protocols.md §30). A run is
 * published before memory, or the former run, drops the version. A reader of a run holds it.
 *
 * <p>Broken twins: {@link BrokenLetsGoFirst}, {@link BrokenMergesLate}, {@link BrokenDeletes}. All
 * fail on x86.
 *
 * <p>{@code mvn -pl jcstress-tests -am test -Dtest=ProtocolsTest
 * -Dsurefire.failIfNoSpecifiedTests=false -Dtest.excluded.tags=none
 * -Djcstress.tests=VersionSpillStress}
 */
public final class VersionSpillStress {
  private VersionSpillStress() {}

  /** The production code. */
  @JCStressTest
  @Outcome(id = "false", expect = FORBIDDEN, desc = "The version is in no place.")
  @Outcome(id = "true", expect = ACCEPTABLE, desc = "In memory or in a run.")
  @State
  public static class PublishedFirst {
    private final OpenRuns runs = new OpenRuns();

    /** Starts in memory. */
    public PublishedFirst() {}

    /** Spills, then merges. */
    @Actor
    public void spiller() {
      runs.publish();
      runs.letMemoryGo();
      runs.merge();
    }

    /** Looks it up. */
    @Actor
    public void reader(Z_Result r) {
      r.r1 = runs.find();
    }
  }

  /** Memory drops the version, then the run is published. */
  @BrokenTwin
  @JCStressTest
  @Outcome(
      id = "false",
      expect = ACCEPTABLE_INTERESTING,
      desc = "The version is in no place: the twin is broken.")
  @Outcome(id = "true", expect = ACCEPTABLE, desc = "Found, by luck.")
  @State
  public static class BrokenLetsGoFirst {
    private final OpenRuns runs = new OpenRuns();

    /** Starts in memory. */
    public BrokenLetsGoFirst() {}

    /** Spills. */
    @Actor
    public void spiller() {
      runs.letMemoryGo();
      runs.publish();
    }

    /** Looks it up. */
    @Actor
    public void reader(Z_Result r) {
      r.r1 = runs.find();
    }
  }

  /** The input leaves the list before the merged run is published. */
  @BrokenTwin
  @JCStressTest
  @Outcome(
      id = "false",
      expect = ACCEPTABLE_INTERESTING,
      desc = "The version is in no place: the twin is broken.")
  @Outcome(id = "true", expect = ACCEPTABLE, desc = "Found, by luck.")
  @State
  public static class BrokenMergesLate {
    private final OpenRuns runs = new OpenRuns();

    /** Starts in a run. */
    public BrokenMergesLate() {
      runs.publish();
      runs.letMemoryGo();
    }

    /** Merges. */
    @Actor
    public void spiller() {
      runs.mergeTooLate();
    }

    /** Looks it up. */
    @Actor
    public void reader(Z_Result r) {
      r.r1 = runs.find();
    }
  }

  /** The input is deleted even if a reader holds it. */
  @BrokenTwin
  @JCStressTest
  @Outcome(
      id = "false",
      expect = ACCEPTABLE_INTERESTING,
      desc = "The file was deleted under the reader: the twin is broken.")
  @Outcome(id = "true", expect = ACCEPTABLE, desc = "Read in time.")
  @State
  public static class BrokenDeletes {
    private final OpenRuns runs = new OpenRuns();

    /** Starts in a run. */
    public BrokenDeletes() {
      runs.publish();
      runs.letMemoryGo();
    }

    /** Merges. */
    @Actor
    public void spiller() {
      runs.mergeAndDelete();
    }

    /** Looks it up. */
    @Actor
    public void reader(Z_Result r) {
      r.r1 = runs.find();
    }
  }
}

package org.revenantdb.latch;

import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Validate;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.revenantdb.testing.Drawn;

/**
 * Claim: data that a {@link HybridLatch} protects behaves as if one thread at a time had used it,
 * in every mode. No thread waits for ever, and the latch is free in the end.
 *
 * <p>Broken twins: the same pair of words, with modes used as if they promised more than they do.
 * Lincheck must reject each twin; otherwise it would not notice a latch that promises less.
 */
@Tag("slow")
class LatchLincheckTest {

  /** Two plain words that are equal whenever no thread writes. */
  public abstract static class Pair {
    /** Lincheck looks into the classes of what it finds in here, but not behind static fields. */
    final ParkingLot lot = ParkingLot.global();

    final HybridLatch latch = new HybridLatch();
    int left;
    int right;

    final int both() {
      return 1_000 * left + right;
    }

    final int add(int seenLeft, int seenRight) {
      left = seenLeft + 1;
      right = seenRight + 1;
      return both();
    }

    /** All threads have left, and no thread is queued. */
    @Validate
    public void everybodyHasLeft() {
      if (latch.wordOpaque() != LatchWord.FREE || (latch.version() & 1) != 0) {
        throw new IllegalStateException(latch.toString());
      }
    }
  }

  /** The pair behind exclusive and shared modes. */
  public static class Locked extends Pair {
    @Operation
    public int add() {
      latch.acquireExclusive();
      return addAndRelease();
    }

    @Operation
    public int addIfFree() {
      if (!latch.tryAcquireExclusive()) {
        latch.acquireExclusive();
      }
      return addAndRelease();
    }

    @Operation
    public int addInTime() {
      if (!latch.tryAcquireExclusive(0) && !latch.tryAcquireExclusive(1)) {
        latch.acquireExclusive();
      }
      return addAndRelease();
    }

    @Operation
    public int read() {
      latch.acquireShared();
      return readAndRelease();
    }

    @Operation
    public int readIfFree() {
      if (!latch.tryAcquireShared()) {
        latch.acquireShared();
      }
      return readAndRelease();
    }

    @Operation
    public int readInTime() {
      if (!latch.tryAcquireShared(0) && !latch.tryAcquireShared(1)) {
        latch.acquireShared();
      }
      return readAndRelease();
    }

    /** The next release is a hand-over. */
    @Operation
    public void fairnessTimeComes() {
      lot.setFairTime(latch, 0, System.nanoTime());
    }

    private int addAndRelease() {
      try {
        return add(left, right);
      } finally {
        latch.releaseExclusive();
      }
    }

    private int readAndRelease() {
      try {
        return both();
      } finally {
        latch.releaseShared();
      }
    }
  }

  /** A visitor waits for a moment, does nothing, and leaves. Threads behind it must continue. */
  public static class Visited extends Locked {
    @Operation
    public void visitAsWriter() {
      if (latch.tryAcquireExclusive(1_000)) {
        latch.releaseExclusive();
      }
    }

    @Operation
    public void visitAsReader() {
      if (latch.tryAcquireShared(1_000)) {
        latch.releaseShared();
      }
    }
  }

  /** The pair is read without a hold. */
  public static class Optimistic extends Pair {
    @Operation
    public int add() {
      latch.acquireExclusive();
      try {
        return add(left, right);
      } finally {
        latch.releaseExclusive();
      }
    }

    @Operation
    public int read() {
      long stamp = latch.readOptimistic();
      int seen = both();
      return latch.validate(stamp) ? seen : readShared();
    }

    @Operation
    public int readAsWriter() {
      latch.acquireExclusive();
      try {
        return both();
      } finally {
        latch.releaseExclusiveUnmodified();
      }
    }

    @Operation
    public int addToWhatWasRead() {
      long stamp = latch.readOptimistic();
      int seenLeft = left;
      int seenRight = right;
      if (!latch.tryUpgradeOptimistic(stamp)) {
        return add();
      }
      try {
        return add(seenLeft, seenRight);
      } finally {
        latch.releaseExclusive();
      }
    }

    final int readShared() {
      latch.acquireShared();
      try {
        return both();
      } finally {
        latch.releaseShared();
      }
    }
  }

  /** The pair under modes that change while it is held. */
  public static class Changing extends Pair {
    @Operation
    public int addAfterReading() {
      latch.acquireShared();
      int seenLeft = left;
      int seenRight = right;
      if (!latch.tryUpgrade()) {
        latch.releaseShared();
        latch.acquireExclusive();
        seenLeft = left;
        seenRight = right;
      }
      try {
        return add(seenLeft, seenRight);
      } finally {
        latch.releaseExclusive();
      }
    }

    @Operation
    public int addAndReadOn() {
      latch.acquireExclusive();
      add(left, right);
      latch.downgrade();
      try {
        return both();
      } finally {
        latch.releaseShared();
      }
    }

    @Operation
    public int read() {
      long stamp = latch.readOptimistic();
      int seen = both();
      if (latch.validate(stamp)) {
        return seen;
      }
      latch.acquireShared();
      try {
        return both();
      } finally {
        latch.releaseShared();
      }
    }
  }

  /** Twin: trusts what it has read without a hold. */
  public static class Trusting extends Optimistic {
    @Override
    @Operation
    public int read() {
      latch.readOptimistic();
      return both();
    }
  }

  /** Twin: reports that it has written nothing, and so does not change the version. */
  public static class Lying extends Optimistic {
    @Override
    @Operation
    public int add() {
      latch.acquireExclusive();
      try {
        return add(left, right);
      } finally {
        latch.releaseExclusiveUnmodified();
      }
    }
  }

  /** Twin: releases before it writes what follows from what it read. */
  public static class LettingGoBefore extends Changing {
    @Override
    @Operation
    public int addAfterReading() {
      latch.acquireShared();
      int seenLeft = left;
      int seenRight = right;
      latch.releaseShared();
      latch.acquireExclusive();
      try {
        return add(seenLeft, seenRight);
      } finally {
        latch.releaseExclusive();
      }
    }
  }

  /** Twin: releases between writing and further reading. */
  public static class LettingGoAfter extends Changing {
    @Override
    @Operation
    public int addAndReadOn() {
      latch.acquireExclusive();
      add(left, right);
      latch.releaseExclusive();
      latch.acquireShared();
      try {
        return both();
      } finally {
        latch.releaseShared();
      }
    }
  }

  /** Twin: writes under a shared hold. */
  public static class WritingReader extends Locked {
    @Override
    @Operation
    public int read() {
      latch.acquireShared();
      try {
        return add(left, right);
      } finally {
        latch.releaseShared();
      }
    }
  }

  @Test
  @Drawn(oneIn = 2)
  void locked_isLinearizable() {
    Lincheck.modelChecks(Locked.class, 2, 2);
    Lincheck.survivesStress(Locked.class, 3, 3);
  }

  @Test
  @Drawn(oneIn = 2)
  void timeouts_leaveNoWaiterBehind() {
    Lincheck.modelChecks(Visited.class, 3, 1);
    Lincheck.survivesStress(Visited.class, 3, 4);
  }

  @Test
  @Drawn(oneIn = 2)
  void optimistic_isLinearizable() {
    Lincheck.modelChecks(Optimistic.class, 2, 2);
    Lincheck.survivesStress(Optimistic.class, 3, 3);
  }

  @Test
  @Drawn(oneIn = 2)
  void changesOfMode_areLinearizable() {
    Lincheck.modelChecks(Changing.class, 2, 2);
    Lincheck.modelChecks(Changing.class, 3, 1);
    Lincheck.survivesStress(Changing.class, 3, 3);
  }

  @Test
  @Drawn(oneIn = 3)
  void twin_thatDoesNotValidateIsRejected() {
    Lincheck.rejects("Invalid execution results", () -> Lincheck.modelHunts(Trusting.class, 2, 2));
  }

  @Test
  @Drawn(oneIn = 3)
  void twin_thatMovesNoVersionIsRejected() {
    Lincheck.rejects("Invalid execution results", () -> Lincheck.modelHunts(Lying.class, 2, 2));
  }

  @Test
  @Drawn(oneIn = 3)
  void twin_thatUpgradesByLettingGoIsRejected() {
    Lincheck.rejects(
        "Invalid execution results", () -> Lincheck.modelHunts(LettingGoBefore.class, 2, 2));
  }

  @Test
  @Drawn(oneIn = 3)
  void twin_thatDowngradesByLettingGoIsRejected() {
    Lincheck.rejects(
        "Invalid execution results", () -> Lincheck.modelHunts(LettingGoAfter.class, 2, 2));
  }

  @Test
  @Drawn(oneIn = 3)
  void twin_thatWritesUnderASharedHoldIsRejected() {
    Lincheck.rejects(
        "Invalid execution results", () -> Lincheck.modelHunts(WritingReader.class, 2, 2));
  }
}

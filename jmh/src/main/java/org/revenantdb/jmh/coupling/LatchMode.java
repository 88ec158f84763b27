package org.revenantdb.jmh.coupling;

/** In which modes the latches of a tree are used. */
public enum LatchMode {
  /** Lock coupling with exclusive latches alone. */
  EXCLUSIVE("exclusive"),
  /** Lock coupling with shared latches; a leaf that changes is latched exclusively. */
  SHARED("shared"),
  /** Optimistic lock coupling; a leaf that was disturbed three times is latched exclusively. */
  OPTIMISTIC("optimistic"),
  /** Optimistic lock coupling; a leaf that was disturbed once is latched shared. */
  HYBRID("hybrid");

  /** As in the loop of {@code HybridLatch.readOptimisticOrShared}. */
  private static final int ATTEMPTS = 3;

  private final String title;

  LatchMode(String title) {
    this.title = title;
  }

  /**
   * The name in points.
   *
   * @return lower case
   */
  public String title() {
    return title;
  }

  /** A thread's own way to a tree. */
  TreeAccess access(NodeTree tree) {
    return switch (this) {
      case EXCLUSIVE -> new PessimisticAccess(tree, /* shared= */ false);
      case SHARED -> new PessimisticAccess(tree, /* shared= */ true);
      case OPTIMISTIC -> new OptimisticAccess(tree, ATTEMPTS, /* sharedFallback= */ false);
      case HYBRID -> new OptimisticAccess(tree, 1, /* sharedFallback= */ true);
    };
  }
}

package org.revenantdb.engine.version;

/** Lets tests make the passes of a cleaner whose thread is not started. */
public final class CleanerSteps {
  private CleanerSteps() {}

  /** One pass; returns how many things it changed. */
  public static long pass(Cleaner cleaner, boolean everything) {
    return cleaner.pass(everything);
  }

  /** Whether it would rest now. */
  public static boolean isNothingNew(Cleaner cleaner) {
    return cleaner.isNothingNew();
  }
}

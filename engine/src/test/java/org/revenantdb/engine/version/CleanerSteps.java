package org.revenantdb.engine.version;

import java.util.List;
import java.util.function.LongSupplier;
import org.revenantdb.engine.btree.Tree;

/** Lets tests make the passes of a cleaner whose thread is not started. */
public final class CleanerSteps {
  private CleanerSteps() {}

  /** One pass; returns how many things it changed. */
  public static long pass(Cleaner cleaner, boolean everything) {
    return cleaner.pass(everything, /* wanted= */ true);
  }

  /** One pass as beside writers: with nothing to forget it visits what cannot wait, and a few. */
  public static long passBesideWriters(Cleaner cleaner) {
    return cleaner.pass(/* everything= */ false, /* wanted= */ false);
  }

  /** Visits one page; nothing is forgotten. */
  public static void visit(Cleaner cleaner, int page) {
    cleaner.visitLeft(page);
  }

  /** A transaction that is active when two passes begin takes long. */
  public static void allTakeLong(Cleaner cleaner) {
    cleaner.active().allTakeLong();
  }

  /** Whether it would rest now. */
  public static boolean isNothingNew(Cleaner cleaner) {
    return cleaner.isNothingNew();
  }

  /** Moves pages to the front of the file; returns how many. */
  public static long compact(Cleaner cleaner, List<Tree> trees) {
    return cleaner.compactHere(trees);
  }

  /** Does something between two passes of a running cleaner, by its thread. */
  public static long between(Cleaner cleaner, LongSupplier work) {
    return cleaner.between(work);
  }

  /** Another thread helps for each so many pages of a pass. */
  public static void pagesPerHelper(Cleaner cleaner, int pages) {
    cleaner.pagesPerHelper(pages);
  }

  /** Says, as another thread, that it is on its way to a page; it takes it from no pass. */
  public static boolean begin(Cleaner cleaner, int page) {
    return cleaner.visits().begin(page);
  }

  /** The visit of a page that was begun; returns how many things it changed. */
  public static long visitBegun(Cleaner cleaner, int page, long horizon) {
    return cleaner.own().visit(page, horizon);
  }

  /** Ends the visit of a page. */
  public static void end(Cleaner cleaner, int page) {
    cleaner.visits().end(page);
  }
}

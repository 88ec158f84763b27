package org.revenantdb.engine.check;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.page.Page;
import org.revenantdb.engine.page.PageStructure;
import org.revenantdb.engine.space.PageBitmap;
import org.revenantdb.recovery.file.FileException;

/**
 * The pages that a check reads, which of them it has reached, and the problems that it has found.
 * For one check and one thread.
 */
final class CheckPages {
  private static final int MAX_PROBLEMS = 100;

  private final FrozenDatabase frozen;
  private final Runnable pace;
  private final List<String> problems = new ArrayList<>();
  private final List<String> warnings = new ArrayList<>();
  private final List<FileException> damage = new ArrayList<>();
  private final PageBitmap reached = new PageBitmap();
  private final PageBitmap versions = new PageBitmap();
  private final PageBitmap ghosts = new PageBitmap();
  private final PageBitmap damaged = new PageBitmap();
  private final PageBitmap judged = new PageBitmap();
  private boolean unreadable;

  /**
   * Makes an object that has read nothing yet.
   *
   * @param pace runs before each page
   */
  CheckPages(FrozenDatabase frozen, Runnable pace) {
    this.frozen = frozen;
    this.pace = pace;
  }

  FrozenDatabase frozen() {
    return frozen;
  }

  List<String> problems() {
    return List.copyOf(problems);
  }

  List<String> warnings() {
    return List.copyOf(warnings);
  }

  /** Reports that something is not as it should be, though nothing is lost. */
  void warning(String text) {
    if (warnings.size() < MAX_PROBLEMS) {
      warnings.add(text);
    }
  }

  List<FileException> damage() {
    return List.copyOf(damage);
  }

  /** Reports a problem. Returns whether it is new and there is room for it. */
  boolean problem(String text) {
    return problems.size() < MAX_PROBLEMS && !problems.contains(text) && problems.add(text);
  }

  /** Reports, only once, that a page cannot be read. */
  void damaged(int pageId, String what, FileException why) {
    if (damaged.set(pageId) && problem(what + ": " + why.getMessage())) {
      damage.add(why);
    }
  }

  boolean isKnownDamaged(int pageId) {
    return damaged.contains(pageId);
  }

  /** Whether some page could not be read, so that the pages behind it are not known. */
  boolean isUnreadable() {
    return unreadable;
  }

  void unreadable(boolean any) {
    unreadable = any;
  }

  /**
   * Records that something refers to a page. False, and a problem, if something else refers to it,
   * too.
   */
  boolean reach(int pageId, String what) {
    if (reached.set(pageId)) {
      return true;
    }
    problem("page " + pageId + " is reached twice, the second time as " + what);
    return false;
  }

  boolean isReached(int pageId) {
    return reached.contains(pageId);
  }

  /** Records the flags of a page that was reached. */
  void flags(int pageId, MemorySegment page) {
    if ((Page.flags(page) & Page.FLAG_VERSIONS) != 0) {
      versions.set(pageId);
    }
    if ((Page.flags(page) & Page.FLAG_GHOST) != 0) {
      ghosts.set(pageId);
    }
  }

  /** The flags of a page that was reached. */
  int flags(int pageId) {
    return (versions.contains(pageId) ? Page.FLAG_VERSIONS : 0)
        | (ghosts.contains(pageId) ? Page.FLAG_GHOST : 0);
  }

  /** A page that is not asked for again; null if it cannot be read, which is a problem then. */
  @Nullable MemorySegment readOnce(int pageId, String what) {
    return read(pageId, what, /* last= */ true);
  }

  /** A page that may be asked for again; null if it cannot be read, which is a problem then. */
  @Nullable MemorySegment read(int pageId, String what) {
    return read(pageId, what, /* last= */ false);
  }

  private @Nullable MemorySegment read(int pageId, String what, boolean last) {
    pace.run();
    if (Integer.compareUnsigned(pageId, frozen.pages()) >= 0) {
      problem(
          "page "
              + Integer.toUnsignedString(pageId)
              + " ("
              + what
              + ") lies beyond the end of the data file");
      return null;
    }
    try {
      MemorySegment page = last ? frozen.readOnce(pageId) : frozen.read(pageId);
      if (page == null) {
        problem("page " + pageId + " (" + what + ") is one that was free");
      } else if (judged.set(pageId)) {
        checkStructure(pageId, what, page);
      }
      return page;
    } catch (FileException bad) {
      unreadable = true;
      damaged(pageId, what, bad);
      return null;
    }
  }

  /**
   * A page from the file was judged when it was read. One that was changed since, or was never
   * read, is judged only here: otherwise a page that the next life would refuse looks sound.
   */
  private void checkStructure(int pageId, String what, MemorySegment page) {
    String wrong = PageStructure.problemOf(pageId, page);
    if (wrong == null) {
      wrong = PageStructure.problemBeforeChange(pageId, page);
    }
    if (wrong != null) {
      problem("%s: in memory, %s; a restart would refuse it".formatted(what, wrong));
    }
  }
}

package org.revenantdb.engine;

import java.lang.foreign.MemorySegment;
import org.revenantdb.engine.page.LeafCell;
import org.revenantdb.engine.page.OverflowPage;
import org.revenantdb.engine.page.Page;

/** Follows large values from what names them: heads, index pages, data pages, lengths. */
final class ValueCheck {
  private final CheckPages pages;
  private long overflowPages;

  ValueCheck(CheckPages pages) {
    this.pages = pages;
  }

  /** Pages of values so far. */
  long pages() {
    return overflowPages;
  }

  /** The value that the reference at an offset of a leaf leads to, and that must be there. */
  void ofRow(MemorySegment leaf, int reference, long writer, String what) {
    int head = LeafCell.referenceHead(leaf, reference);
    long length = LeafCell.referenceLength(leaf, reference);
    if (!pages.reach(head, "value of " + what)) {
      return;
    }
    MemorySegment page = pages.read(head, "value of " + what);
    if (page == null) {
      return;
    }
    if (Page.type(page) != Page.OVERFLOW_HEAD || OverflowPage.writer(page) != writer) {
      pages.problem(what + ": page " + head + " is not the head of its value");
      return;
    }
    if (OverflowPage.length(page) != length) {
      pages.problem(
          what + ": its value has " + OverflowPage.length(page) + " bytes, not " + length);
    }
    boolean unreadableBefore = pages.isUnreadable();
    pages.unreadable(false);
    long bytes = chain(head, page, what);
    if (bytes != length && !pages.isUnreadable()) {
      pages.problem(what + ": the pages of its value hold " + bytes + " bytes, not " + length);
    }
    pages.unreadable(pages.isUnreadable() || unreadableBefore);
  }

  /** A page with a version bit to which no row leads, if it is the head of a value. */
  void waiting(int id) {
    MemorySegment page = pages.read(id, "page with a version bit");
    if (page != null && Page.type(page) == Page.OVERFLOW_HEAD) {
      String what = "the value at page " + id + ", which waits for the cleaner";
      pages.reach(id, what);
      chain(id, page, what);
    }
  }

  /** A value of the version store: it waits for the cleaner, who must not have had it yet. */
  void older(FrozenDatabase.OlderValue value) {
    String what =
        "an older version of row " + value.row() + " of table " + value.table() + ", in memory";
    MemorySegment page = pages.read(value.head(), what);
    if (page == null) {
      return;
    }
    if (Page.type(page) != Page.OVERFLOW_HEAD) {
      pages.problem(what + ": page " + value.head() + " is not the head of its value");
    } else if (OverflowPage.length(page) != value.length()) {
      pages.problem(
          what + ": its value has " + OverflowPage.length(page) + " bytes, not " + value.length());
    }
  }

  /** All that a head leads to; how many bytes that holds. */
  private long chain(int head, MemorySegment first, String what) {
    pages.flags(head, first);
    overflowPages++;
    long bytes = OverflowPage.inline(first);
    MemorySegment page = first;
    while (true) {
      int count = OverflowPage.count(page);
      if (count > OverflowPage.MAX_IDS) {
        pages.problem(what + ": page " + Page.id(page) + " says that it names " + count + " pages");
        return bytes;
      }
      for (int i = 0; i < count; i++) {
        bytes += data(OverflowPage.id(page, i), what);
      }
      int next = OverflowPage.nextIndex(page);
      if (next == 0 || !pages.reach(next, "index page of " + what)) {
        return bytes;
      }
      overflowPages++;
      MemorySegment index = pages.readOnce(next, "index page of " + what);
      if (index == null) {
        return bytes;
      }
      if (Page.type(index) != Page.OVERFLOW_INDEX) {
        pages.problem(what + ": page " + next + " is no index page of a value");
        return bytes;
      }
      page = index;
    }
  }

  private long data(int id, String what) {
    overflowPages++;
    if (!pages.reach(id, "data page of " + what)) {
      return 0;
    }
    MemorySegment page = pages.readOnce(id, "data page of " + what);
    if (page == null) {
      return 0;
    }
    if (Page.type(page) != Page.OVERFLOW_DATA) {
      pages.problem(what + ": page " + id + " is no data page of a value");
    }
    return OverflowPage.count(page);
  }
}

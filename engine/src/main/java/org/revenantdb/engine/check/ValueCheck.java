package org.revenantdb.engine.check;

import java.lang.foreign.MemorySegment;
import java.util.BitSet;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.page.OverflowPage;
import org.revenantdb.engine.page.Page;
import org.revenantdb.engine.page.SharedValues;
import org.revenantdb.engine.page.ValueReference;

/**
 * Follows large values from what names them: slots of shared pages; heads, index pages, data pages;
 * lengths.
 */
final class ValueCheck {
  /** A page that values share: which of its slots rows name, and how full it is. */
  private static final class Shared {
    /** Of the first 64. */
    long named;

    /** Of those behind; where values are as large as today there are none. */
    @Nullable BitSet more;

    final byte fullness;

    Shared(MemorySegment page) {
      fullness = (byte) SharedValues.fullness(page);
    }

    boolean isNamed(int slot) {
      return slot < Long.SIZE ? (named >>> slot & 1) != 0 : more != null && more.get(slot);
    }

    void name(int slot) {
      if (slot < Long.SIZE) {
        named |= 1L << slot;
        return;
      }
      BitSet set = more;
      if (set == null) {
        set = new BitSet();
        more = set;
      }
      set.set(slot);
    }
  }

  private final Map<Integer, Shared> shared = new HashMap<>();

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
  void ofRow(MemorySegment leaf, int offset, long writer, String what) {
    ValueReference reference = ValueReference.of(leaf, offset);
    int id = reference.page();
    if (!reference.isShared() && !pages.reach(id, "value of " + what)) {
      return;
    }
    MemorySegment page = pages.read(id, "value of " + what);
    if (page == null) {
      return;
    }
    if (!reference.leadsTo(page, writer)) {
      pages.problem(what + ": " + reference.place() + " does not have its value");
      return;
    }
    long length = reference.length();
    if (reference.lengthOn(page) != length) {
      pages.problem(what + ": its value has " + reference.lengthOn(page) + " bytes, not " + length);
    }
    if (!reference.isShared()) {
      chain(id, page, length, what);
      return;
    }
    if (SharedValues.superseder(page, reference.slot()) == SharedValues.MOVED) {
      pages.problem(what + ": its value was moved away from " + reference.place());
    }
    Shared there = sharedPage(id, page, "value of " + what);
    if (there.isNamed(reference.slot())) {
      pages.problem(reference.place() + " is reached twice, the second time as value of " + what);
    }
    there.name(reference.slot());
  }

  private Shared sharedPage(int id, MemorySegment page, String what) {
    Shared known = shared.get(id);
    if (known != null) {
      return known;
    }
    pages.reach(id, what);
    pages.flags(id, page);
    overflowPages++;
    Shared fresh = new Shared(page);
    shared.put(id, fresh);
    return fresh;
  }

  /**
   * When all rows were seen: values of shared pages that no row leads to must wait for the cleaner.
   */
  void unnamed() {
    boolean isComplete = !pages.isUnreadable();
    shared.forEach((id, there) -> {
      MemorySegment page = pages.read(id, "values");
      if (page == null) {
        return;
      }
      int values = 0;
      for (int slot = 0; slot < SharedValues.count(page); slot++) {
        if (!SharedValues.isTaken(page, slot)) {
          continue;
        }
        values++;
        if (!there.isNamed(slot) && isComplete && !waits(page, slot)) {
          pages.problem(
              "slot "
                  + slot
                  + " of page "
                  + id
                  + " has a value, but nothing refers to it: it has leaked");
        }
      }
      if (values == 0) {
        pages.problem("page " + id + " is in use for values, but has none");
      }
    });
  }

  private boolean waits(MemorySegment page, int slot) {
    FrozenDatabase frozen = pages.frozen();
    long writer = SharedValues.writer(page, slot);
    long superseder = SharedValues.superseder(page, slot);
    boolean decides =
        frozen.isActive(writer)
            || frozen.isAborted(writer)
            || (superseder != 0 && !frozen.isAborted(superseder));
    return decides && Page.hasVersions(page);
  }

  /** How full the space map should say that a page is: 0 but for those that values share. */
  int fullness(int id) {
    Shared there = shared.get(id);
    return there == null ? 0 : there.fullness;
  }

  private void chain(int head, MemorySegment page, long length, String what) {
    boolean unreadableBefore = pages.isUnreadable();
    pages.unreadable(false);
    long bytes = chain(head, page, what);
    if (bytes != length && !pages.isUnreadable()) {
      pages.problem(what + ": the pages of its value hold " + bytes + " bytes, not " + length);
    }
    pages.unreadable(pages.isUnreadable() || unreadableBefore);
  }

  /** A page with a version bit to which no row leads, if it is one of large values. */
  void waiting(int id) {
    MemorySegment page = pages.read(id, "page with a version bit");
    if (page != null && Page.type(page) == Page.OVERFLOW_HEAD) {
      String what = "the value at page " + id + ", which waits for the cleaner";
      pages.reach(id, what);
      chain(id, page, what);
    } else if (page != null && Page.type(page) == Page.SHARED_VALUES) {
      sharedPage(id, page, "the values of page " + id + ", which wait for the cleaner");
    }
  }

  /** A value of the version store: it waits for the cleaner, who must not have had it yet. */
  void older(FrozenDatabase.OlderValue value) {
    String what =
        "an older version of row " + value.row() + " of table " + value.table() + ", in memory";
    ValueReference reference = value.reference();
    MemorySegment page = pages.read(reference.page(), what);
    if (page == null) {
      return;
    }
    if (!reference.leadsToValue(page)) {
      pages.problem(what + ": " + reference.place() + " does not have its value");
    } else if (reference.lengthOn(page) != reference.length()) {
      pages.problem(
          what
              + ": its value has "
              + reference.lengthOn(page)
              + " bytes, not "
              + reference.length());
    }
  }

  /** All that a head leads to; how many bytes that holds. */
  private long chain(int head, MemorySegment first, String what) {
    pages.flags(head, first);
    overflowPages++;
    long bytes = OverflowPage.inline(first);
    int dataPages = 0;
    MemorySegment page = first;
    while (true) {
      int count = OverflowPage.count(page);
      if (count > OverflowPage.MAX_IDS) {
        pages.problem(what + ": page " + Page.id(page) + " claims to list " + count + " pages");
        return bytes;
      }
      for (int i = 0; i < count; i++) {
        bytes += data(first, OverflowPage.id(page, i), dataPages++, what);
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
      if (!isOf(first, index, Page.OVERFLOW_INDEX, dataPages)) {
        pages.problem(what + ": page " + next + " is not its index page");
        return bytes;
      }
      page = index;
    }
  }

  /** Whether a page names the value of a head, and its place in it, back. */
  private static boolean isOf(MemorySegment head, MemorySegment page, int type, int number) {
    return Page.type(page) == type
        && OverflowPage.origin(page) == OverflowPage.origin(head)
        && OverflowPage.writer(page) == OverflowPage.writer(head)
        && OverflowPage.number(page) == number;
  }

  private long data(MemorySegment head, int id, int number, String what) {
    overflowPages++;
    if (!pages.reach(id, "data page of " + what)) {
      return 0;
    }
    MemorySegment page = pages.readOnce(id, "data page of " + what);
    if (page == null) {
      return 0;
    }
    if (!isOf(head, page, Page.OVERFLOW_DATA, number)) {
      pages.problem(what + ": page " + id + " is not data page " + number + " of the value");
      return 0;
    }
    return OverflowPage.count(page);
  }
}

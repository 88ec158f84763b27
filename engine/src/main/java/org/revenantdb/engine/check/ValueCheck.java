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
 * Follows large values from their references, and checks slots of shared pages; heads, index pages,
 * data pages; and lengths.
 */
final class ValueCheck {
  /** A shared-values page: which of its slots are referred to by rows, and how full it is. */
  private static final class Shared {
    /** The first 64 slots. */
    long named;

    /** The further slots; with the present sizes of values there are none. */
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

  /** The number of pages of values so far. */
  long pages() {
    return overflowPages;
  }

  /** Checks the value to which the reference at an offset of a leaf leads; it must exist. */
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
   * Called after all rows were seen: values of shared pages to which no row refers must wait for
   * the cleaner.
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

  /** The correct fullness of a page in the space map: 0 except for shared-values pages. */
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

  /** Checks a page with a version bit to which no row refers, if it is one of large values. */
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

  /**
   * Checks a value of the version store: it waits for the cleaner, which must not have freed it
   * yet.
   */
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

  /** Checks all pages to which a head leads; returns the number of bytes in them. */
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

  /** Whether a page names the value of a head as its owner, and the correct place in it. */
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

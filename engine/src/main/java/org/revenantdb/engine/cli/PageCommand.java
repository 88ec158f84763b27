package org.revenantdb.engine.cli;

import java.io.PrintWriter;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.revenantdb.engine.page.ExtentMapPage;
import org.revenantdb.engine.page.InnerCell;
import org.revenantdb.engine.page.LeafCell;
import org.revenantdb.engine.page.OverflowPage;
import org.revenantdb.engine.page.Page;
import org.revenantdb.engine.page.SharedValues;
import org.revenantdb.engine.page.Slotted;
import org.revenantdb.engine.page.SpaceMapPage;
import org.revenantdb.engine.page.ValueReference;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code page DIR N}: shows a page as it is in the file. */
@Command(
    name = "page",
    description = "Shows a page of a database as it is in the file, even if it is damaged.",
    mixinStandardHelpOptions = true)
final class PageCommand implements Callable<Integer> {
  private static final String[] TYPES = {
    "never written",
    "1",
    "space map",
    "leaf",
    "inner",
    "overflow head",
    "overflow index",
    "overflow data",
    "GAM",
    "IAM",
    "shared values"
  };

  private final PrintWriter out;

  @Spec private CommandSpec spec = CommandSpec.create();

  @Parameters(index = "0", paramLabel = "DIR", description = "the directory of the database")
  private Path directory = Path.of("");

  @Parameters(index = "1", paramLabel = "N", description = "the page, from 0")
  private long number;

  PageCommand(PrintWriter out) {
    this.out = out;
  }

  @Override
  public Integer call() {
    if (number < 0) {
      throw new ParameterException(spec.commandLine(), "N must be 0 or more, not " + number);
    }
    try (DatabaseDirectory files = DatabaseDirectory.open(directory)) {
      if (number < 0 || number >= files.pages()) {
        throw new ParameterException(
            spec.commandLine(),
            "There is no page "
                + number
                + ": the file has pages 0 to "
                + (files.pages() - 1)
                + ".");
      }
      MemorySegment page = files.page(number);
      String condition = DatabaseDirectory.condition(page, number);
      out.printf(
          "page        %d, at byte %d of %s%n", number, number * Page.SIZE, files.dataFile());
      out.printf("checksum    %08x, %s%n", Page.getInt(page, 0), condition);
      try {
        body(page);
      } catch (IndexOutOfBoundsException | NegativeArraySizeException damaged) {
        out.println("            the rest cannot be decoded: " + damaged.getMessage());
      }
      return condition.startsWith("DAMAGED") ? Main.PROBLEMS : Main.SOUND;
    }
  }

  private void body(MemorySegment page) {
    out.println("page id     " + Integer.toUnsignedString(Page.id(page)));
    if (number == 0) {
      SystemPages.fileHeader(out, page);
      return;
    }
    if (number <= 2) {
      SystemPages.controlSlot(out, page);
      return;
    }
    int type = Page.type(page);
    out.println("page LSN    " + Long.toUnsignedString(Page.lsn(page)));
    out.println("type        " + (type < TYPES.length ? type + ", " + TYPES[type] : "" + type));
    out.println("flags       " + flags(Page.getByte(page, Page.FLAGS)));
    switch (type) {
      case Page.SPACE_MAP -> spaceMap(page);
      case Page.GAM -> extents(page, ExtentMapPage.range(ExtentMapPage.extentOf((int) number)));
      case Page.IAM -> {
        int range = ExtentMapPage.rangeNumber(page);
        out.println("table       " + Integer.toUnsignedString(ExtentMapPage.table(page)));
        out.println("range       " + range);
        out.println("next list   " + Integer.toUnsignedString(ExtentMapPage.nextPage(page)));
        extents(page, range);
      }
      case Page.LEAF, Page.INNER -> slotted(page, type);
      case Page.OVERFLOW_HEAD -> {
        out.println("writer      " + Long.toUnsignedString(OverflowPage.writer(page)));
        out.println("origin      page " + Integer.toUnsignedString(OverflowPage.origin(page)));
        out.println("superseder  " + Long.toUnsignedString(OverflowPage.superseder(page)));
        out.println("length      " + Long.toUnsignedString(OverflowPage.length(page)));
        out.println("here        " + OverflowPage.inline(page) + " bytes");
        ids(page);
      }
      case Page.OVERFLOW_INDEX -> {
        owner(page);
        ids(page);
      }
      case Page.OVERFLOW_DATA -> {
        owner(page);
        int count = OverflowPage.count(page);
        out.println("bytes       " + count);
        out.println("            " + Shown.bytes(Page.bytes(page, OverflowPage.DATA, count)));
      }
      case Page.SHARED_VALUES -> sharedValues(page);
      default -> {}
    }
  }

  private void owner(MemorySegment page) {
    out.printf(
        "value       by writer %s, made at page %s%n",
        Long.toUnsignedString(OverflowPage.writer(page)),
        Integer.toUnsignedString(OverflowPage.origin(page)));
    out.println("number      " + Integer.toUnsignedString(OverflowPage.number(page)));
  }

  private void sharedValues(MemorySegment page) {
    int count = SharedValues.count(page);
    out.println("slots       " + count);
    out.println("free        " + SharedValues.free(page) + " bytes");
    out.println("fullness    " + SharedValues.fullness(page) + " of 4");
    for (int slot = 0; slot < Math.min(count, SharedValues.MAX_SLOTS); slot++) {
      if (!SharedValues.isTaken(page, slot)) {
        out.printf("  %3d   none%n", slot);
        continue;
      }
      int offset = SharedValues.offset(page, slot);
      int length = SharedValues.length(page, slot);
      long superseder = SharedValues.superseder(page, slot);
      String by =
          superseder == SharedValues.MOVED ? "moved away" : Long.toUnsignedString(superseder);
      boolean isInPage = offset + length <= Page.SIZE;
      out.printf(
          "  %3d   writer %s, superseder %s, %d bytes%s%n",
          slot,
          Long.toUnsignedString(SharedValues.writer(page, slot)),
          by,
          length,
          isInPage ? " " + Shown.bytes(Page.bytes(page, offset, length)) : ", beyond the page");
    }
  }

  private static String flags(int flags) {
    return switch (flags) {
      case Page.FLAG_VERSIONS -> flags + ", there may be versions to clean";
      case Page.FLAG_VERSIONS | Page.FLAG_GHOST ->
          flags + ", there may be versions to clean, and deleted rows or a large value among them";
      default -> "" + flags;
    };
  }

  private void ids(MemorySegment page) {
    out.println("next index  " + Integer.toUnsignedString(OverflowPage.nextIndex(page)));
    int count = OverflowPage.count(page);
    out.println("data pages  " + count);
    StringBuilder line = new StringBuilder();
    for (int i = 0; i < count; i++) {
      line.append(line.isEmpty() ? "            " : " ");
      line.append(Integer.toUnsignedString(OverflowPage.id(page, i)));
      if (line.length() > 90 || i == count - 1) {
        out.println(line);
        line.setLength(0);
      }
    }
  }

  /** Prints runs of extents whose bits are set. */
  private void extents(MemorySegment page, int range) {
    int base = range * ExtentMapPage.RANGE;
    for (int e = ExtentMapPage.next(page, base, /* set= */ true); e >= 0; ) {
      int end = e + 1;
      while (end < base + ExtentMapPage.RANGE && ExtentMapPage.isSet(page, end)) {
        end++;
      }
      out.printf(
          "  extents %6d to %6d  pages %8d to %8d%n",
          e, end - 1, ExtentMapPage.firstPage(e), ExtentMapPage.firstPage(end) - 1);
      e = end < base + ExtentMapPage.RANGE ? ExtentMapPage.next(page, end, /* set= */ true) : -1;
    }
  }

  /** Prints runs of equal bytes, each with the meaning of its bits. */
  private void spaceMap(MemorySegment page) {
    long first = number - SpaceMapPage.POSITION;
    int from = 0;
    for (int i = 1; i <= SpaceMapPage.GROUP; i++) {
      int bits = Page.getByte(page, SpaceMapPage.offset(from));
      if (i < SpaceMapPage.GROUP && Page.getByte(page, SpaceMapPage.offset(i)) == bits) {
        continue;
      }
      String meaning =
          ((bits & SpaceMapPage.ALLOCATED) != 0 ? "allocated" : "free")
              + ((bits & SpaceMapPage.VERSION) != 0 ? ", versions to clean" : "")
              + ((bits & SpaceMapPage.GHOST) != 0 ? ", ghosts" : "")
              + ((bits & SpaceMapPage.IAM) != 0 ? ", list of extents" : "")
              + ((bits & SpaceMapPage.MIXED) != 0 ? ", mixed" : "");
      out.printf("  %8d to %8d  %02x  %s%n", first + from, first + i - 1, bits, meaning);
      from = i;
    }
  }

  private void slotted(MemorySegment page, int type) {
    out.println("table       " + Integer.toUnsignedString(Slotted.table(page)));
    out.println("level       " + Slotted.level(page));
    out.println(
        "prefix      " + Slotted.prefix(page) + " bytes of each key, left out in the cells");
    out.printf(
        "heap        from %d, %d bytes of garbage, %d bytes free%n",
        Slotted.heapTop(page), Slotted.garbage(page), Slotted.free(page));
    if (Slotted.iam(page) != 0) {
      out.println(
          "extents     listed from page " + Integer.toUnsignedString(Slotted.iam(page)) + " on");
    }
    out.println("lower fence " + Shown.key(Slotted.lowerFence(page)));
    out.println(
        "upper fence "
            + (Slotted.hasUpperFence(page) ? Shown.key(Slotted.upperFence(page)) : "none"));
    if (type == Page.LEAF) {
      out.println("max writer  " + Long.toUnsignedString(Slotted.maxWriter(page)));
    } else {
      out.println(
          "left child  " + Integer.toUnsignedString(Page.getInt(page, Slotted.LEFTMOST_CHILD)));
    }
    int count = Slotted.count(page);
    out.println("slots       " + count);
    for (int slot = 0; slot < count; slot++) {
      int cell = Slotted.cell(page, slot);
      if (type == Page.LEAF) {
        row(page, slot, cell);
      } else {
        out.printf(
            "  %4d at %4d  from %s to page %s%n",
            slot,
            cell,
            Shown.key(Slotted.keyOf(page, cell)),
            Integer.toUnsignedString(InnerCell.child(page, cell)));
      }
    }
  }

  private void row(MemorySegment page, int slot, int cell) {
    out.printf("  %4d at %4d  %s%n", slot, cell, Shown.key(Slotted.keyOf(page, cell)));
    version(
        page,
        "current    ",
        LeafCell.writer(page, cell),
        LeafCell.is(page, cell, LeafCell.DELETED),
        LeafCell.is(page, cell, LeafCell.OVERFLOW),
        LeafCell.valueOffset(page, cell),
        LeafCell.value(page, cell));
    if (LeafCell.is(page, cell, LeafCell.PREDECESSOR)) {
      version(
          page,
          "predecessor",
          LeafCell.predecessorWriter(page, cell),
          LeafCell.is(page, cell, LeafCell.PREDECESSOR_DELETED),
          LeafCell.is(page, cell, LeafCell.PREDECESSOR_OVERFLOW),
          LeafCell.predecessorOffset(page, cell),
          LeafCell.predecessor(page, cell));
    }
  }

  private void version(
      MemorySegment page,
      String which,
      long writer,
      boolean deleted,
      boolean overflow,
      int offset,
      byte[] value) {
    String what;
    if (deleted) {
      what = "deleted";
    } else if (overflow) {
      ValueReference reference = ValueReference.of(page, offset);
      what =
          reference.length()
              + (reference.isShared() ? " bytes in " : " bytes in overflow pages, head ")
              + reference.place();
    } else {
      what = value.length + " bytes " + Shown.bytes(value);
    }
    out.printf("        %s by %s: %s%n", which, Long.toUnsignedString(writer), what);
  }
}

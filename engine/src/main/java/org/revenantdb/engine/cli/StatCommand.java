package org.revenantdb.engine.cli;

import java.io.PrintWriter;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.zip.CRC32C;
import org.revenantdb.engine.page.DroppedTableRow;
import org.revenantdb.engine.page.LeafCell;
import org.revenantdb.engine.page.Page;
import org.revenantdb.engine.page.SequenceRow;
import org.revenantdb.engine.page.SlogEntry;
import org.revenantdb.engine.page.Slotted;
import org.revenantdb.engine.page.TableRow;
import org.revenantdb.recovery.file.DatabaseLockedException;
import org.revenantdb.recovery.format.ControlSlotLayout;
import org.revenantdb.recovery.format.DoubleWriteLayout;
import org.revenantdb.recovery.format.FileHeaderLayout;
import org.revenantdb.recovery.format.PageChecksum;
import org.revenantdb.recovery.format.SegmentLayout;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/**
 * {@code stat DIR}: shows the content of a database's files, or, if a process has it open, the
 * counters of that process.
 */
@Command(
    name = "stat",
    description = {
      "Shows what a database holds: the tables and sequences if it was closed cleanly, then header,",
      "control slots, log segments and the double-write batch.",
      "If a process has the database open: its counters, and what its threads have waited for."
    },
    mixinStandardHelpOptions = true)
final class StatCommand implements Callable<Integer> {
  private static final int CATALOGUE_ROOT = 5;

  private final PrintWriter out;

  @Parameters(index = "0", paramLabel = "DIR", description = "the directory of the database")
  private Path directory = Path.of("");

  private boolean sequenceSeen;

  StatCommand(PrintWriter out) {
    this.out = out;
  }

  @Override
  public Integer call() {
    try (DatabaseDirectory files = DatabaseDirectory.open(directory)) {
      return show(files);
    } catch (DatabaseLockedException open) {
      new CountersView(out, directory).ofOpenDatabase(open);
      return Main.SOUND;
    }
  }

  private int show(DatabaseDirectory files) {
    MemorySegment header = files.page(0);
    int counts = slotThatCounts(files);
    out.println("data file   " + files.dataFile() + ", " + files.pages() + " pages");
    if (counts != 0 && ControlSlotLayout.clean(files.page(counts)) == 1) {
      out.println("tables");
      catalogue(files, CATALOGUE_ROOT);
    } else {
      out.println(
          "tables      not known: the database was not closed cleanly; run check --recover");
    }
    out.println();
    out.println("header");
    out.println("checksum    " + DatabaseDirectory.condition(header, 0));
    SystemPages.fileHeader(out, header);
    for (int slot = ControlSlotLayout.FIRST_PAGE; slot <= ControlSlotLayout.SECOND_PAGE; slot++) {
      MemorySegment page = files.page(slot);
      out.println();
      out.println("control slot " + slot + (slot == counts ? ", the one that counts" : ""));
      out.println("checksum    " + DatabaseDirectory.condition(page, slot));
      SystemPages.controlSlot(out, page);
    }
    out.println();
    files.segments().forEach(file -> segment(files, file));
    out.println();
    doubleWrite(files.doubleWriteHeader());
    new CountersView(out, directory)
        .leftBehind(FileHeaderLayout.databaseId(header).toArray(ValueLayout.JAVA_BYTE));
    return counts == 0 ? Main.PROBLEMS : Main.SOUND;
  }

  /** The whole slot with the higher sequence, 0 if neither is whole. */
  private static int slotThatCounts(DatabaseDirectory files) {
    int counts = 0;
    for (int slot = ControlSlotLayout.FIRST_PAGE; slot <= ControlSlotLayout.SECOND_PAGE; slot++) {
      MemorySegment page = files.page(slot);
      boolean whole =
          PageChecksum.isGood(page, slot)
              && ControlSlotLayout.magic(page) == ControlSlotLayout.MAGIC_VALUE;
      if (whole
          && (counts == 0
              || ControlSlotLayout.sequence(page)
                  > ControlSlotLayout.sequence(files.page(counts)))) {
        counts = slot;
      }
    }
    return counts;
  }

  private void segment(DatabaseDirectory files, Path file) {
    MemorySegment header = files.start(file, SegmentLayout.CHECKED);
    CRC32C crc = new CRC32C();
    crc.update(header.asSlice(Integer.BYTES).toArray(ValueLayout.JAVA_BYTE));
    if (Page.getLong(header, SegmentLayout.MAGIC) != SegmentLayout.MAGIC_VALUE
        || Page.getInt(header, SegmentLayout.CRC) != (int) crc.getValue()) {
      out.println("segment     " + file.getFileName() + "  no whole header");
      return;
    }
    long begin = Page.getLong(header, SegmentLayout.BEGIN);
    int size = Page.getInt(header, SegmentLayout.SIZE);
    long first = Page.getLong(header, SegmentLayout.FIRST_LSN);
    long sealed = Page.getLong(header, SegmentLayout.SEALED_END);
    out.printf(
        "segment     %s  %,d bytes, life %d, LSNs %d to %d, durable when written %d%s%s%n",
        file.getFileName(),
        size,
        Page.getInt(header, SegmentLayout.LIFE),
        begin,
        begin + SegmentLayout.payload(size),
        Page.getLong(header, SegmentLayout.DURABLE),
        first == 0
            ? ""
            : "; the life begins at %d, the former one ended at %d"
                .formatted(first, Page.getLong(header, SegmentLayout.FORMER_END)),
        sealed == 0 ? "" : "; the log of its life ends at " + sealed);
  }

  private void doubleWrite(MemorySegment header) {
    if (!PageChecksum.isWhole(header)
        || DoubleWriteLayout.magic(header) != DoubleWriteLayout.MAGIC_VALUE) {
      out.println("batch       none: no whole header in the double-write file");
      return;
    }
    int pages = DoubleWriteLayout.pages(header);
    out.printf(
        "batch       %d, %d pages; forced in the data file up to batch %d%n",
        DoubleWriteLayout.batch(header), pages, DoubleWriteLayout.highestForced(header));
    for (int i = 0; i < pages && i < DoubleWriteLayout.MAX_PAGES; i++) {
      out.printf(
          "            page %s, checksum %08x%n",
          Integer.toUnsignedString(DoubleWriteLayout.entryPageId(header, i)),
          DoubleWriteLayout.entryCrc(header, i));
    }
  }

  /**
   * Prints the rows of the catalogue below a page; after a clean close the file has all of them.
   * Dropped tables come after the tables, sequences last.
   */
  private void catalogue(DatabaseDirectory files, int id) {
    MemorySegment page = files.page(Integer.toUnsignedLong(id));
    String condition = DatabaseDirectory.condition(page, Integer.toUnsignedLong(id));
    int type = Page.type(page);
    if (!condition.equals("good") || (type != Page.LEAF && type != Page.INNER)) {
      out.println("            page " + id + " of the catalogue cannot be read, " + condition);
      return;
    }
    int count = Slotted.count(page);
    if (type == Page.INNER) {
      for (int slot = -1; slot < count; slot++) {
        catalogue(files, Slotted.child(page, slot));
      }
      return;
    }
    for (int slot = 0; slot < count; slot++) {
      int cell = Slotted.cell(page, slot);
      byte[] key = Slotted.keyOf(page, cell);
      if (SequenceRow.isKey(key)) {
        sequence(SequenceRow.name(key), LeafCell.value(page, cell));
        continue;
      }
      byte[] value = LeafCell.value(page, cell);
      SlogEntry entry = SlogEntry.of(key, value);
      String name =
          entry != null
              ? "(%s by transaction %d, unfinished: %s)"
                  .formatted(
                      entry.step() == SlogEntry.Step.CREATED ? "created" : "dropped",
                      entry.transaction(),
                      new String(entry.name(), StandardCharsets.UTF_8))
              : DroppedTableRow.isKey(key)
                  ? "(dropped, not all pages freed)"
                  : new String(key, StandardCharsets.UTF_8);
      out.printf(
          "            %s  %s%n", name, table(entry == null ? value : entry.trees().bytes()));
    }
  }

  /** A table's row in words; the pages of its trees contain these ids. */
  private static String table(byte[] bytes) {
    TableRow row = TableRow.of(bytes);
    if (row == null) {
      return "has a row of " + bytes.length + " bytes that cannot be decoded; run check";
    }
    String roots =
        IntStream.range(0, row.trees())
            .mapToObj(tree -> Integer.toUnsignedString(row.root(tree)))
            .collect(Collectors.joining(" "));
    return row.trees() == 1
        ? "id %s, root page %s".formatted(Integer.toUnsignedString(row.id(0)), roots)
        : "ids %s to %s, %d hash partitions, root pages %s"
            .formatted(
                Integer.toUnsignedString(row.id(0)),
                Integer.toUnsignedString(row.lastId()),
                row.trees(),
                roots);
  }

  private void sequence(byte[] name, byte[] row) {
    if (!sequenceSeen) {
      sequenceSeen = true;
      out.println("sequences");
    }
    String text = new String(name, StandardCharsets.UTF_8);
    String problem = SequenceRow.problem(row);
    if (problem != null) {
      out.println("            " + text + "  " + problem);
      return;
    }
    out.printf(
        "            %s  start %d, increment %d, cache %d, %s; %,d values reserved, the next is %s%n",
        text,
        SequenceRow.start(row),
        SequenceRow.increment(row),
        SequenceRow.cacheSize(row),
        SequenceRow.order(row) == SequenceRow.BIT_REVERSED ? "bit-reversed" : "plain",
        SequenceRow.mark(row),
        next(row));
  }

  private static String next(byte[] row) {
    long mark = SequenceRow.mark(row);
    return mark == SequenceRow.count(row)
        ? "none: the range is used up"
        : ""
            + SequenceRow.value(
                SequenceRow.start(row), SequenceRow.increment(row), SequenceRow.order(row), mark);
  }
}

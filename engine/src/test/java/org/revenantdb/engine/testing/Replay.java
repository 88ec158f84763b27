package org.revenantdb.engine.testing;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.TreeSet;
import org.revenantdb.engine.catalog.Catalog;
import org.revenantdb.engine.page.ExtentMapPage;
import org.revenantdb.engine.page.Page;
import org.revenantdb.engine.page.PageOps;
import org.revenantdb.engine.page.SlottedEdit;
import org.revenantdb.engine.page.SpaceMapPage;
import org.revenantdb.recovery.format.LittleEndian;
import org.revenantdb.recovery.format.LogRecordLayout;
import org.revenantdb.recovery.log.PartKind;
import org.revenantdb.recovery.log.RecordType;

/** Redo over arrays, by the rules of protocols.md §10 and nothing else. */
public final class Replay {
  private Replay() {}

  /** A part of a record. */
  public record Part(int page, PartKind kind, long lsn, byte[] record, int offset, int length) {}

  /** The pages of a new database, by id. */
  public static Map<Integer, byte[]> newDatabase() {
    byte[] map = new byte[Page.SIZE];
    MemorySegment page = MemorySegment.ofArray(map);
    Page.setId(page, SpaceMapPage.POSITION);
    Page.putByte(page, Page.TYPE, Page.SPACE_MAP);
    for (int id = 0; id < ExtentMapPage.PAGES; id++) {
      int used = id <= Catalog.ROOT ? SpaceMapPage.ALLOCATED : 0;
      Page.putByte(page, SpaceMapPage.offset(id), used | SpaceMapPage.MIXED);
    }
    byte[] gam = new byte[Page.SIZE];
    page = MemorySegment.ofArray(gam);
    Page.setId(page, ExtentMapPage.POSITION);
    Page.putByte(page, Page.TYPE, Page.GAM);
    Page.putByte(page, ExtentMapPage.offset(0), ExtentMapPage.mask(0));
    byte[] root = new byte[Page.SIZE];
    page = MemorySegment.ofArray(root);
    SlottedEdit.formatEmptyLeaf(page, Catalog.TABLE);
    Page.setId(page, Catalog.ROOT);
    Map<Integer, byte[]> pages = new TreeMap<>();
    pages.put(SpaceMapPage.POSITION, map);
    pages.put(ExtentMapPage.POSITION, gam);
    pages.put(Catalog.ROOT, root);
    return pages;
  }

  public static List<Part> parts(MemoryJournal.Entry entry) {
    List<Part> parts = new ArrayList<>();
    if (!entry.is(RecordType.PAGES)) {
      return parts;
    }
    byte[] bytes = entry.bytes();
    for (int at = LogRecordLayout.HEADER; at < bytes.length; ) {
      int length = LittleEndian.getShort(bytes, at + LogRecordLayout.PART_LENGTH);
      PartKind kind = PartKind.of(bytes[at + LogRecordLayout.PART_KIND]);
      if (kind == null) {
        throw new AssertionError("a part of no kind");
      }
      int page = LittleEndian.getInt(bytes, at + LogRecordLayout.PART_PAGE);
      parts.add(new Part(page, kind, entry.lsn(), bytes, at + LogRecordLayout.PART_HEADER, length));
      at += LogRecordLayout.PART_HEADER + length;
    }
    return parts;
  }

  /** Goes from one state to a later one as normal operation does: every part is applied. */
  public static void forward(
      Map<Integer, byte[]> pages, MemoryJournal.Entry entry, PageOps operations) {
    for (Part part : parts(entry)) {
      if (part.kind() != PartKind.FREE) {
        apply(pages, part, operations);
      }
    }
  }

  private static void apply(Map<Integer, byte[]> pages, Part part, PageOps operations) {
    byte[] bytes = pages.get(part.page());
    if (bytes == null || part.kind() == PartKind.FORMAT) {
      if (part.kind() == PartKind.CHANGE) {
        throw new AssertionError("page " + part.page() + " is changed, but there is none");
      }
      bytes = new byte[Page.SIZE];
      pages.put(part.page(), bytes);
    }
    MemorySegment page = MemorySegment.ofArray(bytes);
    Page.setId(page, part.page());
    operations.apply(page, part.record(), part.offset(), part.length());
    Page.setLsn(page, part.lsn());
  }

  /** Redo: R12, then LSN by LSN; FORMAT is blind, a CHANGE counts when the page's LSN is lower. */
  public static void redo(Map<Integer, byte[]> pages, List<MemoryJournal.Entry> entries) {
    Map<Integer, Long> last = new HashMap<>();
    for (MemoryJournal.Entry entry : entries) {
      for (Part part : parts(entry)) {
        if (part.kind() != PartKind.CHANGE) {
          last.put(part.page(), part.lsn());
        }
      }
    }
    PageOps operations = new PageOps();
    for (MemoryJournal.Entry entry : entries) {
      for (Part part : parts(entry)) {
        if (part.lsn() >= last.getOrDefault(part.page(), 0L) && part.kind() != PartKind.FREE) {
          redo(pages, part, operations);
        }
      }
    }
  }

  public static void redo(Map<Integer, byte[]> pages, Part part, PageOps operations) {
    byte[] bytes = pages.get(part.page());
    if (part.kind() == PartKind.FORMAT
        || bytes == null
        || Page.lsn(MemorySegment.ofArray(bytes)) < part.lsn()) {
      apply(pages, part, operations);
    }
  }

  /**
   * What a crash may leave: each page as it was at a time of its own, not before the redo point. A
   * page that was dirty when it was freed may be as old as it likes, since its frame was discarded.
   *
   * @param from the redo point is before this entry
   */
  public static Map<Integer, byte[]> randomlyFlushed(
      Map<Integer, byte[]> base, List<MemoryJournal.Entry> entries, int from, Random random) {
    Map<Integer, byte[]> disk = new TreeMap<>();
    Map<Integer, byte[]> memory = copy(base);
    PageOps operations = new PageOps();
    TreeSet<Integer> freed = new TreeSet<>();
    for (int i = 0; i <= entries.size(); i++) {
      if (i == from) {
        memory.forEach((id, bytes) -> {
          if (!freed.contains(id)) {
            disk.put(id, bytes.clone());
          }
        });
      }
      if (i == entries.size()) {
        break;
      }
      MemoryJournal.Entry entry = entries.get(i);
      forward(memory, entry, operations);
      for (Part part : parts(entry)) {
        if (part.kind() == PartKind.FREE) {
          freed.add(part.page());
        } else {
          freed.remove(part.page());
        }
        if (random.nextInt(8) == 0 && part.kind() != PartKind.FREE) {
          disk.put(part.page(), memory.get(part.page()).clone());
        }
      }
    }
    return disk;
  }

  static Map<Integer, byte[]> copy(Map<Integer, byte[]> pages) {
    Map<Integer, byte[]> copy = new TreeMap<>();
    pages.forEach((id, bytes) -> copy.put(id, bytes.clone()));
    return copy;
  }

  /** The pages that the space maps call allocated. */
  public static TreeSet<Integer> allocated(Map<Integer, byte[]> pages) {
    TreeSet<Integer> ids = new TreeSet<>();
    for (int map = SpaceMapPage.POSITION; pages.containsKey(map); map += SpaceMapPage.GROUP) {
      MemorySegment page = MemorySegment.ofArray(pages.get(map));
      int first = map - SpaceMapPage.POSITION;
      for (int id = Math.max(first, 3); id < first + SpaceMapPage.GROUP; id++) {
        if ((Page.getByte(page, SpaceMapPage.offset(id)) & SpaceMapPage.ALLOCATED) != 0) {
          ids.add(id);
        }
      }
    }
    return ids;
  }
}

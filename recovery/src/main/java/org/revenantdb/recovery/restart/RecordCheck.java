package org.revenantdb.recovery.restart;

import org.jspecify.annotations.Nullable;
import org.revenantdb.recovery.checkpoint.CheckpointImage;
import org.revenantdb.recovery.file.DamagedFileException;
import org.revenantdb.recovery.format.LogRecordLayout;
import org.revenantdb.recovery.format.SegmentLayout;
import org.revenantdb.recovery.log.FlushedPages;
import org.revenantdb.recovery.log.ForgottenIds;
import org.revenantdb.recovery.log.PartKind;
import org.revenantdb.recovery.log.RecordType;
import org.revenantdb.recovery.segment.LogReader;
import org.revenantdb.recovery.segment.SegmentHeader;

/**
 * The legal range of each field of a record whose checksum is right; {@code docs/format.md} §2.2.
 * Whoever reads a record behind this check need not fear its numbers. What the operations of a part
 * do to a page is known only where the page is.
 */
final class RecordCheck {
  /** Ids are handed out one by one, so none is ever as high as that. */
  private static final long LARGEST_ID = 1L << 60;

  private static final int LIFE_BODY = Long.BYTES + Integer.BYTES;

  private final LogReader record;
  private final SegmentCatalog catalog;

  private final PageRange pages;

  RecordCheck(LogReader record, SegmentCatalog catalog, PageRange pages) {
    this.record = record;
    this.catalog = catalog;
    this.pages = pages;
  }

  /** Checks the current record of the reader; returns its type. */
  RecordType check() {
    @Nullable RecordType type = RecordType.of(record.type());
    if (type == null) {
      throw wrong("its type is " + record.type());
    }
    int padding = record.length() - record.contentLength();
    if (padding < 0 || padding >= LogRecordLayout.ALIGNMENT) {
      throw wrong("it has " + padding + " bytes of padding");
    }
    if (record.contentLength() < LogRecordLayout.HEADER) {
      throw wrong("its padding reaches into its header");
    }
    if (!SegmentLayout.isLsn(record.durable()) || record.durable() > record.start()) {
      throw wrong("it names " + record.durable() + " as durable");
    }
    checkTransaction(type);
    checkBody(type);
    return type;
  }

  private void checkTransaction(RecordType type) {
    long id = record.transactionId();
    boolean legal =
        switch (type) {
          case PAGES -> id >= 0 && id <= LARGEST_ID;
          case COMMIT, ABORT, PREPARE -> isId(id);
          case FORGET, CHECKPOINT, PAD, LIFE, FLUSHED -> id == 0;
        };
    if (!legal) {
      throw wrong("a record of type " + type + " of transaction " + id);
    }
  }

  private static boolean isId(long id) {
    return id > 0 && id <= LARGEST_ID;
  }

  private void checkBody(RecordType type) {
    switch (type) {
      case PAGES -> checkParts();
      case COMMIT, ABORT -> bodyHas(0);
      case FORGET -> {
        bodyHasAtLeast(Integer.BYTES);
        int count = record.getInt(ForgottenIds.COUNT);
        listEnds(ForgottenIds.IDS, count, Long.BYTES);
        checkIds(ForgottenIds.IDS, count);
      }
      case CHECKPOINT -> checkImage();
      case LIFE -> checkLife();
      case FLUSHED -> checkFlushed();
      case PAD, PREPARE -> {} // a prepared transaction reads its record itself
    }
  }

  private void checkParts() {
    int end = record.contentLength();
    int at = LogRecordLayout.HEADER;
    while (at + LogRecordLayout.PART_HEADER <= end) {
      long page = Integer.toUnsignedLong(record.getInt(at + LogRecordLayout.PART_PAGE));
      int kind = record.array()[record.offset() + at + LogRecordLayout.PART_KIND];
      if (PartKind.of(kind) == null) {
        throw wrong("a part is of kind " + kind);
      }
      if (page < pages.first()) {
        throw wrong("a part is of page " + page + ", which the log never changes");
      }
      at += LogRecordLayout.PART_HEADER + record.getShort(at + LogRecordLayout.PART_LENGTH);
    }
    if (at != end) {
      throw wrong("its parts are longer than the record");
    }
  }

  private void checkImage() {
    bodyHasAtLeast(CheckpointImage.IDS - LogRecordLayout.HEADER);
    int part = record.getInt(CheckpointImage.PART);
    int parts = record.getInt(CheckpointImage.PARTS);
    if (part < 0 || part >= parts) {
      throw wrong("it is part " + part + " of " + parts + " parts");
    }
    long highest = record.getLong(CheckpointImage.HIGHEST);
    if (highest < 0 || highest > LARGEST_ID) {
      throw wrong("it names " + highest + " as the highest transaction id");
    }
    long redo = record.getLong(CheckpointImage.REDO_POINT);
    if (!SegmentLayout.isLsn(redo) || redo > record.start()) {
      throw wrong("it names " + redo + " as redo point");
    }
    long ids = 0;
    for (int field :
        new int[] {CheckpointImage.WRITING, CheckpointImage.PREPARED, CheckpointImage.ABORTED}) {
      int count = record.getInt(field);
      if (count < 0) {
        throw wrong("it has a list of " + count + " ids");
      }
      ids += count;
    }
    int refused = record.getInt(CheckpointImage.REFUSED);
    if (refused < 0 || ids * Long.BYTES > record.contentLength()) {
      throw wrong("it has lists of " + ids + " ids and " + refused + " refused pages");
    }
    int pagesAt = CheckpointImage.IDS + (int) ids * Long.BYTES;
    listEnds(pagesAt, refused, CheckpointImage.REFUSED_ENTRY);
    checkIds(CheckpointImage.IDS, (int) ids);
    for (int i = 0; i < refused; i++) {
      int at = pagesAt + i * CheckpointImage.REFUSED_ENTRY;
      checkWritten(record.getInt(at), record.getLong(at + Integer.BYTES));
    }
  }

  /** What it says of the former life stands in the header of its segment, too. */
  private void checkLife() {
    bodyHas(LIFE_BODY);
    long formerEnd = record.getLong(LogRecordLayout.HEADER);
    int formerLife = record.getInt(LogRecordLayout.HEADER + Long.BYTES);
    @Nullable SegmentHeader header = catalog.headerAt(record.start());
    boolean legal =
        header != null
            && header.firstLsn() == record.start()
            && header.formerEnd() == formerEnd
            && formerLife > 0
            && formerLife < record.life();
    if (!legal) {
      throw wrong(
          "it begins a life after life "
              + formerLife
              + ", which ended at "
              + formerEnd
              + ", but the header of its segment does not say so");
    }
  }

  private void checkFlushed() {
    bodyHasAtLeast(Integer.BYTES);
    int count = record.getInt(FlushedPages.COUNT);
    listEnds(FlushedPages.PAGES, count, FlushedPages.ENTRY);
    for (int i = 0; i < count; i++) {
      int at = FlushedPages.PAGES + i * FlushedPages.ENTRY;
      checkWritten(record.getInt(at + FlushedPages.PAGE), record.getLong(at + FlushedPages.LSN));
    }
  }

  private void checkWritten(int pageId, long lsn) {
    long page = Integer.toUnsignedLong(pageId);
    if (page < pages.first() || lsn < 0 || lsn > record.start()) {
      throw wrong("it says that page " + page + " was written at LSN " + lsn);
    }
  }

  private void checkIds(int from, int count) {
    for (int i = 0; i < count; i++) {
      long id = record.getLong(from + i * Long.BYTES);
      if (!isId(id)) {
        throw wrong("it names transaction " + id);
      }
    }
  }

  private void bodyHas(int bytes) {
    if (record.contentLength() != LogRecordLayout.HEADER + bytes) {
      throw wrong(
          "its body has "
              + (record.contentLength() - LogRecordLayout.HEADER)
              + " bytes instead of "
              + bytes);
    }
  }

  private void bodyHasAtLeast(int bytes) {
    if (record.contentLength() < LogRecordLayout.HEADER + bytes) {
      bodyHas(bytes);
    }
  }

  private void listEnds(int from, long count, int entry) {
    if (count < 0 || from + count * entry != record.contentLength()) {
      throw wrong("its list of " + count + " entries does not end with the record");
    }
  }

  private DamagedFileException wrong(String reason) {
    return LogDamage.record(catalog, record.start(), reason);
  }
}

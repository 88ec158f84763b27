package org.revenantdb.recovery.file;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.jspecify.annotations.Nullable;
import org.revenantdb.recovery.format.ControlSlotLayout;
import org.revenantdb.recovery.format.FileHeaderLayout;
import org.revenantdb.recovery.format.PageHeaderLayout;
import org.revenantdb.recovery.format.SegmentLayout;

/**
 * Checks the range of each field of a control slot with a correct checksum; {@code docs/format.md}
 * §1.2.
 */
record SlotCheck(StorageFile data, int pageId) {

  /**
   * A field with an impossible value.
   *
   * @param field where it is in the slot
   * @param reason a clause
   */
  record Impossible(long field, String reason) {}

  /** Refuses a slot in which a field has an impossible value. */
  void check(ControlState state, MemorySegment page) {
    if (state.sequence() <= 0 || state.sequence() >= Long.MAX_VALUE / 2) {
      throw wrong(impossible(ControlSlotLayout.SEQUENCE, "the sequence", state.sequence()));
    }
    int clean = ControlSlotLayout.clean(page);
    if (clean != 0 && clean != 1) {
      throw wrong(impossible(ControlSlotLayout.CLEAN, "the mark of a clean close", clean));
    }
    Impossible found = impossible(state);
    if (found != null) {
      throw wrong(found);
    }
    MemorySegment reserved = page.asSlice(ControlSlotLayout.END);
    long at = reserved.mismatch(MemorySegment.ofArray(new byte[(int) reserved.byteSize()]));
    if (at >= 0) {
      byte value = reserved.get(ValueLayout.JAVA_BYTE, at);
      throw wrong(ControlSlotLayout.END + at, "a reserved byte cannot be " + value);
    }
  }

  /** The first of the values that no slot can have, but the sequence; null if there is none. */
  static @Nullable Impossible impossible(ControlState state) {
    long redo = state.redoPoint();
    if (!SegmentLayout.isLsn(redo)) {
      return impossible(ControlSlotLayout.REDO_POINT, "the redo point", redo);
    }
    long analysis = state.analysisPoint();
    if (!SegmentLayout.isLsn(analysis) || analysis < redo) {
      return impossible(ControlSlotLayout.ANALYSIS_POINT, "where analysis starts", analysis);
    }
    long durable = state.durableLsn();
    if (!SegmentLayout.isLsn(durable) || durable < analysis) {
      return impossible(ControlSlotLayout.DURABLE_LSN, "the durable LSN", durable);
    }
    long checkpoint = state.checkpointLsn();
    if (checkpoint != 0
        && (!SegmentLayout.isLsn(checkpoint) || checkpoint < analysis || checkpoint >= durable)) {
      return impossible(
          ControlSlotLayout.CHECKPOINT_LSN, "the start of the checkpoint", checkpoint);
    }
    if (state.life() <= 0) {
      return impossible(ControlSlotLayout.LIFE, "the life", state.life());
    }
    long end = state.endOfLog();
    boolean isLegal = state.clean() ? SegmentLayout.isLsn(end) && end > checkpoint : end == 0;
    if (!isLegal) {
      return impossible(ControlSlotLayout.END_OF_LOG, "the end of the log", end);
    }
    long pages = state.highWaterPages();
    if (pages <= PageHeaderLayout.FIRST_POOLED_PAGE || pages > FileHeaderLayout.MOST_PAGES) {
      return impossible(ControlSlotLayout.HIGH_WATER_PAGES, "the number of pages", pages);
    }
    return null;
  }

  private static Impossible impossible(long field, String name, long value) {
    return new Impossible(field, name + " cannot be " + value);
  }

  private DamagedFileException wrong(Impossible found) {
    return wrong(found.field(), found.reason());
  }

  DamagedFileException wrong(long field, String reason) {
    return new DamagedFileException(
        data.path(),
        PageHeaderLayout.position(pageId) + field,
        "the checksum of the control slot is correct, but " + reason);
  }
}

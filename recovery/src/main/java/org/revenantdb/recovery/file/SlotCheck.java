package org.revenantdb.recovery.file;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.revenantdb.recovery.format.ControlSlotLayout;
import org.revenantdb.recovery.format.FileHeaderLayout;
import org.revenantdb.recovery.format.PageHeaderLayout;
import org.revenantdb.recovery.format.SegmentLayout;

/**
 * Checks the range of each field of a control slot with a correct checksum; {@code docs/format.md}
 * §1.2.
 */
record SlotCheck(StorageFile data, int pageId) {

  /** Refuses a slot in which a field has an impossible value. */
  void check(ControlState state, MemorySegment page) {
    require(
        state.sequence() > 0 && state.sequence() < Long.MAX_VALUE / 2,
        ControlSlotLayout.SEQUENCE,
        "the sequence",
        state.sequence());
    require(
        SegmentLayout.isLsn(state.redoPoint()),
        ControlSlotLayout.REDO_POINT,
        "the redo point",
        state.redoPoint());
    require(
        SegmentLayout.isLsn(state.analysisPoint()) && state.analysisPoint() >= state.redoPoint(),
        ControlSlotLayout.ANALYSIS_POINT,
        "where analysis starts",
        state.analysisPoint());
    require(
        SegmentLayout.isLsn(state.durableLsn()) && state.durableLsn() >= state.analysisPoint(),
        ControlSlotLayout.DURABLE_LSN,
        "the durable LSN",
        state.durableLsn());
    long checkpoint = state.checkpointLsn();
    require(
        checkpoint == 0
            || (SegmentLayout.isLsn(checkpoint)
                && checkpoint >= state.analysisPoint()
                && checkpoint < state.durableLsn()),
        ControlSlotLayout.CHECKPOINT_LSN,
        "the start of the checkpoint",
        checkpoint);
    require(state.life() > 0, ControlSlotLayout.LIFE, "the life", state.life());
    int clean = ControlSlotLayout.clean(page);
    require(clean == 0 || clean == 1, ControlSlotLayout.CLEAN, "the mark of a clean close", clean);
    require(
        state.clean()
            ? SegmentLayout.isLsn(state.endOfLog()) && state.endOfLog() > checkpoint
            : state.endOfLog() == 0,
        ControlSlotLayout.END_OF_LOG,
        "the end of the log",
        state.endOfLog());
    require(
        state.highWaterPages() > PageHeaderLayout.FIRST_POOLED_PAGE
            && state.highWaterPages() <= FileHeaderLayout.MOST_PAGES,
        ControlSlotLayout.HIGH_WATER_PAGES,
        "the number of pages",
        state.highWaterPages());
    MemorySegment reserved = page.asSlice(ControlSlotLayout.END);
    long at = reserved.mismatch(MemorySegment.ofArray(new byte[(int) reserved.byteSize()]));
    if (at >= 0) {
      byte value = reserved.get(ValueLayout.JAVA_BYTE, at);
      throw wrong(ControlSlotLayout.END + at, "a reserved byte cannot be " + value);
    }
  }

  private void require(boolean legal, long field, String name, long value) {
    if (!legal) {
      throw wrong(field, name + " cannot be " + value);
    }
  }

  DamagedFileException wrong(long field, String reason) {
    return new DamagedFileException(
        data.path(),
        PageHeaderLayout.position(pageId) + field,
        "the checksum of the control slot is correct, but " + reason);
  }
}

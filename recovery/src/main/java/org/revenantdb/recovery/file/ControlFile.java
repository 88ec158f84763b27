package org.revenantdb.recovery.file;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import org.revenantdb.recovery.format.ControlSlotLayout;
import org.revenantdb.recovery.format.PageChecksum;
import org.revenantdb.recovery.format.PageHeaderLayout;

/**
 * The two control slots of the data file. They hold the point where recovery starts, and one write
 * switches from one to the other.
 *
 * <p>Threads: one thread at a time writes; any thread may read {@link #state}.
 *
 * <p>Failure: after a failed write or force the former state still counts on disk, and this object
 * is unchanged.
 */
public final class ControlFile {
  /*
   * Case list of write(), new state in the slot that does not count
   *   nothing written          the other slot counts: former state
   *   part written (torn)      its checksum is wrong, the other slot counts: former state
   *   all written, not forced  former or new state, both are correct: all that the new one claims was
   *                            forced before, and nothing that the former one needs has been recycled
   *   forced                   new state
   *
   * Invariants  C1 the slot that counts is never changed (rewrite writes the same bytes). C2 its sequence is the
   *             higher one. C3 a state is overwritten only after its successor was forced.
   */

  private final StorageFile data;
  private final @Nullable ControlState former;
  private int currentPage;
  private volatile ControlState state;

  private ControlFile(
      StorageFile data, int currentPage, ControlState state, @Nullable ControlState former) {
    this.data = data;
    this.former = former;
    this.currentPage = currentPage;
    this.state = state;
  }

  /**
   * Writes and forces the first state of a new database into both slots. So damage to one of them
   * can never bring back an older state.
   *
   * @param data its data file
   * @param first the state; its sequence is replaced
   * @return the control file
   */
  public static ControlFile create(StorageFile data, ControlState first) {
    ControlFile control =
        new ControlFile(data, ControlSlotLayout.SECOND_PAGE, first.withSequence(0), null);
    control.writeBoth(first);
    return control;
  }

  /**
   * Reads both slots and takes the newer of those that are whole.
   *
   * @param data the data file of an existing database
   * @return the control file
   * @throws DamagedFileException if neither slot is whole, if a field of a whole slot has an
   *     impossible value, or if the two do not follow each other; no crash can cause any of these
   */
  public static ControlFile read(StorageFile data) {
    @Nullable ControlState first = slot(data, ControlSlotLayout.FIRST_PAGE);
    @Nullable ControlState second = slot(data, ControlSlotLayout.SECOND_PAGE);
    if (first != null && second != null) {
      checkPair(data, first, second);
    }
    if (first != null && (second == null || first.sequence() > second.sequence())) {
      return new ControlFile(data, ControlSlotLayout.FIRST_PAGE, first, second);
    }
    if (second != null) {
      return new ControlFile(data, ControlSlotLayout.SECOND_PAGE, second, first);
    }
    throw new DamagedFileException(
        data.path(),
        PageHeaderLayout.position(ControlSlotLayout.FIRST_PAGE),
        "both control slots are damaged, but a crash can damage only one");
  }

  private static @Nullable ControlState slot(StorageFile data, int pageId) {
    MemorySegment page = MemorySegment.ofArray(new byte[PageHeaderLayout.PAGE_SIZE]);
    data.readUpTo(PageHeaderLayout.position(pageId), page);
    if (!PageChecksum.isGood(page, pageId)
        || ControlSlotLayout.magic(page) != ControlSlotLayout.MAGIC_VALUE) {
      return null;
    }
    ControlState state =
        new ControlState(
            ControlSlotLayout.sequence(page),
            ControlSlotLayout.analysisPoint(page),
            ControlSlotLayout.redoPoint(page),
            ControlSlotLayout.checkpointLsn(page),
            ControlSlotLayout.durableLsn(page),
            ControlSlotLayout.life(page),
            ControlSlotLayout.clean(page) == 1,
            ControlSlotLayout.endOfLog(page),
            ControlSlotLayout.highWaterPages(page));
    new SlotCheck(data, pageId).check(state, page);
    return state;
  }

  /** Slots are written in turn, each with the next sequence, and no life or position falls. */
  private static void checkPair(StorageFile data, ControlState first, ControlState second) {
    boolean firstIsNewer = first.sequence() > second.sequence();
    ControlState newer = firstIsNewer ? first : second;
    ControlState older = firstIsNewer ? second : first;
    SlotCheck check =
        new SlotCheck(
            data, firstIsNewer ? ControlSlotLayout.FIRST_PAGE : ControlSlotLayout.SECOND_PAGE);
    if (newer.sequence() != older.sequence() + 1) {
      throw check.wrong(
          ControlSlotLayout.SEQUENCE,
          "its sequence is "
              + newer.sequence()
              + " and the other slot's "
              + older.sequence()
              + ", but slots are written in turn");
    }
    if (newer.life() < older.life()
        || newer.redoPoint() < older.redoPoint()
        || newer.durableLsn() < older.durableLsn()) {
      throw check.wrong(
          ControlSlotLayout.SEQUENCE,
          "it is newer than the other slot, but its life, redo point or durable LSN is lower");
    }
  }

  /**
   * The state that counts.
   *
   * @return the state that was last read, or written and forced
   */
  public ControlState state() {
    return state;
  }

  /**
   * The state before the one that counts.
   *
   * @return what the other slot had when the file was read; null if it was not whole
   */
  public @Nullable ControlState former() {
    return former;
  }

  /**
   * Writes a state into the slot that does not count, and forces it: from now on it counts.
   *
   * <p>Everything that the state claims must have been forced before. The method first checks that
   * all watched files are there.
   *
   * @param next the state; its sequence is replaced by the next one
   * @throws OwnershipLostException if a file is missing, or the slots are of another engine
   */
  public void write(ControlState next) {
    checkOwner();
    ControlState numbered = next.withSequence(state.sequence() + 1);
    int page = otherPage();
    data.write(PageHeaderLayout.position(page), image(page, numbered));
    data.force();
    currentPage = page;
    state = numbered;
  }

  /**
   * Writes a state into both slots, one after the other. This is for the first state of a life: if
   * the state of a former clean close stayed in the other slot, one flipped bit would bring it
   * back, and with it the claim that there is nothing to redo. It is also for the state of a clean
   * close, after which segments are deleted: the state before it could not be used without them.
   *
   * @param next the state; its sequence is replaced
   */
  public void writeBoth(ControlState next) {
    write(next);
    write(next);
  }

  /**
   * Writes the state that counts once more, into its own slot, and forces it. A restart does this
   * first: after a failed force, or after the death of a process before a force, the system's cache
   * may hold bytes that the medium does not (rule R6). A power cut meanwhile may leave garbage in
   * the slot. Then the former state counts, so this is for restarts that could use it.
   *
   * <p>The next force of the data file would come too late. Before it, a restart recycles segments
   * that this state does not need, but the former one may.
   */
  public void rewrite() {
    data.write(PageHeaderLayout.position(currentPage), image(currentPage, state));
    data.force();
  }

  /** The slots on disk must not be ahead of this object: no other engine writes them. */
  private void checkOwner() {
    Ownership ownership = data.ownership();
    if (ownership.isNone()) {
      return;
    }
    ownership.checkFiles();
    for (int page : new int[] {ControlSlotLayout.FIRST_PAGE, ControlSlotLayout.SECOND_PAGE}) {
      @Nullable ControlState found = slot(data, page);
      if (found != null && (found.sequence() > state.sequence() || found.life() > state.life())) {
        throw ownership.overtaken(data.path(), state.life(), found.life());
      }
    }
  }

  private int otherPage() {
    return currentPage == ControlSlotLayout.FIRST_PAGE
        ? ControlSlotLayout.SECOND_PAGE
        : ControlSlotLayout.FIRST_PAGE;
  }

  private static MemorySegment image(int pageId, ControlState state) {
    MemorySegment page = MemorySegment.ofArray(new byte[PageHeaderLayout.PAGE_SIZE]);
    PageHeaderLayout.pageId(page, pageId);
    ControlSlotLayout.magic(page, ControlSlotLayout.MAGIC_VALUE);
    ControlSlotLayout.sequence(page, state.sequence());
    ControlSlotLayout.analysisPoint(page, state.analysisPoint());
    ControlSlotLayout.redoPoint(page, state.redoPoint());
    ControlSlotLayout.checkpointLsn(page, state.checkpointLsn());
    ControlSlotLayout.durableLsn(page, state.durableLsn());
    ControlSlotLayout.life(page, state.life());
    ControlSlotLayout.clean(page, state.clean() ? 1 : 0);
    ControlSlotLayout.endOfLog(page, state.endOfLog());
    ControlSlotLayout.highWaterPages(page, state.highWaterPages());
    PageChecksum.seal(page);
    return page;
  }
}

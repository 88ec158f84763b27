package org.revenantdb.recovery.file;

/**
 * The content of a control slot: the points from which a database can be recovered.
 *
 * @param sequence the higher, the newer; given by {@link ControlFile} when it is written
 * @param analysisPoint where analysis starts: the tail of the log when the checkpoint began
 * @param redoPoint where redo starts
 * @param checkpointLsn start of the checkpoint's first record
 * @param durableLsn the durable LSN when it was written
 * @param life the life that wrote it
 * @param clean whether the database was closed: the log ends at {@code endOfLog} and nothing has to
 *     be redone
 * @param endOfLog end of the log at a clean close, else 0
 * @param highWaterPages pages in use by the data file
 */
public record ControlState(
    long sequence,
    long analysisPoint,
    long redoPoint,
    long checkpointLsn,
    long durableLsn,
    int life,
    boolean clean,
    long endOfLog,
    long highWaterPages) {

  /**
   * The state of a data file that was not closed, and has no slot yet.
   *
   * @param analysisPoint where analysis starts
   * @param redoPoint where redo starts
   * @param checkpointLsn start of the checkpoint's first record, or 0
   * @param durableLsn where the log ends, at least
   * @param life the life that wrote it
   * @param pages pages in use by the data file
   * @return the state
   */
  public static ControlState notClosed(
      long analysisPoint,
      long redoPoint,
      long checkpointLsn,
      long durableLsn,
      int life,
      long pages) {
    return new ControlState(
        /* sequence= */ 0,
        analysisPoint,
        redoPoint,
        checkpointLsn,
        durableLsn,
        life,
        /* clean= */ false,
        /* endOfLog= */ 0,
        pages);
  }

  /**
   * Whether a slot can have these values, whatever its sequence is.
   *
   * @return false if one of them is impossible by itself or beside the others
   */
  public boolean isPossible() {
    return SlotCheck.impossible(this) == null;
  }

  /**
   * The same with another sequence.
   *
   * @param newSequence the sequence
   * @return a copy
   */
  public ControlState withSequence(long newSequence) {
    return new ControlState(
        newSequence,
        analysisPoint,
        redoPoint,
        checkpointLsn,
        durableLsn,
        life,
        clean,
        endOfLog,
        highWaterPages);
  }
}

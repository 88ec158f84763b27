package org.revenantdb.recovery.checkpoint;

import java.util.Arrays;
import org.revenantdb.recovery.format.LogRecordLayout;
import org.revenantdb.recovery.log.Log;
import org.revenantdb.recovery.log.RecordBuilder;
import org.revenantdb.recovery.log.RecordType;

/**
 * The CHECKPOINT records of a checkpoint: drawing and writer.
 *
 * <pre>
 *   40     44      48           56           64        68         72        76
 *   +------+-------+------------+------------+---------+----------+---------+---------------------------
 *   | part | parts | highest    | redo point | writing | prepared | aborted | ids, in this order
 *   |      |       | transaction|            | count   | count    | count   |
 *   +------+-------+------------+------------+---------+----------+---------+---------------------------
 * </pre>
 */
public final class CheckpointImage {
  /** u32: number of the part, from 0. */
  public static final int PART = LogRecordLayout.HEADER;

  /** u32: number of parts. */
  public static final int PARTS = PART + Integer.BYTES;

  /** u64: highest transaction id. */
  public static final int HIGHEST = PARTS + Integer.BYTES;

  /** u64: redo point. */
  public static final int REDO_POINT = HIGHEST + Long.BYTES;

  /** u32: ids of writing transactions in this part. */
  public static final int WRITING = REDO_POINT + Long.BYTES;

  /** u32: ids of prepared transactions in this part. */
  public static final int PREPARED = WRITING + Integer.BYTES;

  /** u32: ids of aborted transactions in this part. */
  public static final int ABORTED = PREPARED + Integer.BYTES;

  /** The ids. */
  public static final int IDS = ABORTED + Integer.BYTES;

  private CheckpointImage() {}

  /**
   * Publishes an image in as many records as it needs.
   *
   * @param log the log
   * @param image the transactions
   * @param redoPoint the redo point
   * @return start of the first record and LSN of the last one
   */
  public static Published publish(Log log, TransactionImage image, long redoPoint) {
    int perPart = (log.maxRecord() - IDS) / Long.BYTES;
    int writing = image.writing().length;
    int decided = writing + image.prepared().length;
    long[] ids = Arrays.copyOf(image.writing(), decided + image.aborted().length);
    System.arraycopy(image.prepared(), 0, ids, writing, image.prepared().length);
    System.arraycopy(image.aborted(), 0, ids, decided, image.aborted().length);
    int parts = Math.max(1, (ids.length + perPart - 1) / perPart);
    RecordBuilder record = new RecordBuilder();
    long start = 0;
    long lsn = 0;
    for (int part = 0; part < parts; part++) {
      int from = part * perPart;
      int to = Math.min(ids.length, from + perPart);
      record.begin(RecordType.CHECKPOINT, /* transactionId= */ 0);
      record.putInt(part);
      record.putInt(parts);
      record.putLong(image.highestTransactionId());
      record.putLong(redoPoint);
      record.putInt(overlap(from, to, 0, writing));
      record.putInt(overlap(from, to, writing, decided));
      record.putInt(overlap(from, to, decided, ids.length));
      for (int i = from; i < to; i++) {
        record.putLong(ids[i]);
      }
      lsn = log.publish(record);
      start = part == 0 ? lsn - LogRecordLayout.aligned(record.length()) : start;
    }
    return new Published(start, lsn);
  }

  private static int overlap(int from, int to, int first, int end) {
    return Math.max(0, Math.min(to, end) - Math.max(from, first));
  }

  /**
   * Where an image is in the log.
   *
   * @param start start of its first record
   * @param lsn LSN of its last record
   */
  public record Published(long start, long lsn) {}
}

package org.revenantdb.recovery.checkpoint;

import java.util.Arrays;
import java.util.List;
import org.revenantdb.recovery.format.LogRecordLayout;
import org.revenantdb.recovery.log.Log;
import org.revenantdb.recovery.log.RecordBuilder;
import org.revenantdb.recovery.log.RecordType;

/**
 * The CHECKPOINT records of a checkpoint: drawing and writer.
 *
 * <pre>
 *   40     44      48           56           64        68         72        76        80
 *   +------+-------+------------+------------+---------+----------+---------+---------+--------------------
 *   | part | parts | highest    | redo point | writing | prepared | aborted | refused | ids, in this order;
 *   |      |       | transaction|            | count   | count    | count   | count   | refused pages
 *   +------+-------+------------+------------+---------+----------+---------+---------+--------------------
 *   a refused page:  page u32 | LSN u64
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

  /** u32: refused pages in this part. */
  public static final int REFUSED = ABORTED + Integer.BYTES;

  /** The ids; behind them the refused pages. */
  public static final int IDS = REFUSED + Integer.BYTES;

  /** Bytes of a refused page: u32 its id, then u64 the LSN that a good page has at least. */
  public static final int REFUSED_ENTRY = Integer.BYTES + Long.BYTES;

  private CheckpointImage() {}

  /**
   * Publishes an image in as many records as needed.
   *
   * @param log the log
   * @param image the transactions
   * @param refused the pages that were refused to readers
   * @param redoPoint the redo point
   * @return start of the first record and LSN of the last one
   */
  public static Published publish(
      Log log, TransactionImage image, List<RefusedPage> refused, long redoPoint) {
    int perPart = (log.maxRecord() - IDS) / Long.BYTES;
    int pagesPerPart = (log.maxRecord() - IDS) / REFUSED_ENTRY;
    int writing = image.writing().length;
    int decided = writing + image.prepared().length;
    long[] ids = Arrays.copyOf(image.writing(), decided + image.aborted().length);
    System.arraycopy(image.prepared(), 0, ids, writing, image.prepared().length);
    System.arraycopy(image.aborted(), 0, ids, decided, image.aborted().length);
    // A part has either ids or pages, which makes its size easy to check.
    int idParts = Math.ceilDiv(ids.length, perPart);
    int parts = Math.max(1, idParts + Math.ceilDiv(refused.size(), pagesPerPart));
    RecordBuilder record = new RecordBuilder();
    long start = 0;
    long lsn = 0;
    for (int part = 0; part < parts; part++) {
      int from = Math.min(ids.length, part * perPart);
      int to = Math.min(ids.length, from + perPart);
      List<RefusedPage> pages =
          part < idParts ? List.of() : slice(refused, part - idParts, pagesPerPart);
      record.begin(RecordType.CHECKPOINT, /* transactionId= */ 0);
      record.putInt(part);
      record.putInt(parts);
      record.putLong(image.highestTransactionId());
      record.putLong(redoPoint);
      record.putInt(overlap(from, to, 0, writing));
      record.putInt(overlap(from, to, writing, decided));
      record.putInt(overlap(from, to, decided, ids.length));
      record.putInt(pages.size());
      for (int i = from; i < to; i++) {
        record.putLong(ids[i]);
      }
      for (RefusedPage page : pages) {
        record.putInt(page.page());
        record.putLong(page.lsn());
      }
      lsn = log.publish(record);
      start = part == 0 ? lsn - LogRecordLayout.aligned(record.length()) : start;
    }
    return new Published(start, lsn);
  }

  private static int overlap(int from, int to, int first, int end) {
    return Math.max(0, Math.min(to, end) - Math.max(from, first));
  }

  private static List<RefusedPage> slice(List<RefusedPage> all, int number, int length) {
    int from = number * length;
    return all.subList(from, Math.min(all.size(), from + length));
  }

  /**
   * Where an image is in the log.
   *
   * @param start start of its first record
   * @param lsn LSN of its last record
   */
  public record Published(long start, long lsn) {}
}

package org.revenantdb.recovery.restart;

import java.util.List;
import java.util.TreeMap;
import org.revenantdb.recovery.checkpoint.CheckpointImage;
import org.revenantdb.recovery.file.DamagedFileException;
import org.revenantdb.recovery.log.ForgottenIds;
import org.revenantdb.recovery.log.RecordType;
import org.revenantdb.recovery.segment.LogReader;

/**
 * The writing, the prepared and the aborted transactions: the checkpoint's image, overridden by
 * every record from its begin on (R8).
 */
final class TransactionStates {
  /*
   * The image was taken after the checkpoint's begin B. In the log it follows records that it may or may not contain.
   * So the outcomes in these records are kept until the image was read, and override it:
   *   image: writing   and COMMIT, ABORT from B on      -> what the record says
   *   image: aborted   and FORGET from B on             -> forgotten
   *   image: writing   and PREPARE from B on            -> prepared
   *   image: prepared  has a PREPARE from B on, and is that unless COMMIT or ABORT from B on say otherwise; no PREPARE
   *                    lies behind the outcome (protocols.md §29)
   * A transaction that is in no list and has no record from B on was decided before B and left no aborted row.
   */

  private final long checkpointLsn;
  private final LongLongMap undecided = new LongLongMap();
  private final TreeMap<Long, PreparedTransaction> prepared = new TreeMap<>();
  private final LongLongMap aborted = new LongLongMap();
  private final LongLongMap decidedBeforeImage = new LongLongMap();
  private final LongLongMap forgottenBeforeImage = new LongLongMap();
  private boolean imageRead;
  private int partsRead;
  private long highest;

  /** States from the checkpoint whose first record starts there; 0 = there was none. */
  TransactionStates(long checkpointLsn) {
    this.checkpointLsn = checkpointLsn;
    imageRead = checkpointLsn == 0;
  }

  /** Begins with what is known at the position from which records are taken in. */
  TransactionStates(KnownStates known) {
    this(/* checkpointLsn= */ 0);
    highest = known.highest();
    for (long id : known.undecided()) {
      undecided.put(id, 0);
    }
    for (long id : known.aborted()) {
      aborted.put(id, 0);
    }
    known.prepared().forEach(one -> prepared.put(one.id(), one));
  }

  /** Takes in a record from the checkpoint's begin on. */
  void take(LogReader record, RecordType type, SegmentCatalog catalog) {
    long id = record.transactionId();
    highest = Math.max(highest, id);
    switch (type) {
      case PAGES -> {
        if (id != 0) {
          if (isPrepared(id)) {
            throw damaged(record, catalog, "transaction " + id + " is prepared, and writes");
          }
          undecided.put(id, 0);
        }
      }
      case COMMIT -> decide(id);
      case ABORT -> {
        decide(id);
        aborted.put(id, 0);
      }
      case FORGET -> forget(record);
      case CHECKPOINT -> takeImage(record, catalog);
      case PREPARE -> {
        PreparedTransaction said = PreparedTransaction.of(record);
        if (said == null || id == 0) {
          throw damaged(record, catalog, "its entry for a prepared transaction is invalid");
        }
        if (aborted.contains(id)
            || decidedBeforeImage.contains(id)
            || forgottenBeforeImage.contains(id)) {
          throw damaged(
              record, catalog, "it prepares transaction " + id + ", which has its outcome");
        }
        undecided.remove(id);
        prepared.put(id, said);
      }
      case LIFE -> abortUndecided();
      case PAD, FLUSHED -> {}
    }
  }

  /** Takes in only the ids of a record from before the checkpoint's begin. */
  void takeIds(LogReader record) {
    highest = Math.max(highest, record.transactionId());
  }

  /** Nearly always there is none, and the key is an object. */
  private boolean isPrepared(long id) {
    return !prepared.isEmpty() && prepared.containsKey(id);
  }

  private void decide(long id) {
    undecided.remove(id);
    if (!prepared.isEmpty()) {
      prepared.remove(id);
    }
    if (!imageRead) {
      decidedBeforeImage.put(id, 0);
    }
  }

  private void forget(LogReader record) {
    int count = record.getInt(ForgottenIds.COUNT);
    for (int i = 0; i < count; i++) {
      long id = record.getLong(ForgottenIds.IDS + i * Long.BYTES);
      highest = Math.max(highest, id);
      aborted.remove(id);
      undecided.remove(id);
      prepared.remove(id);
      if (!imageRead) {
        forgottenBeforeImage.put(id, 0);
      }
    }
  }

  private void takeImage(LogReader record, SegmentCatalog catalog) {
    highest = Math.max(highest, record.getLong(CheckpointImage.HIGHEST));
    boolean ours = !imageRead && record.start() >= checkpointLsn;
    if (!ours || record.getInt(CheckpointImage.PART) != partsRead) {
      return;
    }
    int writing = record.getInt(CheckpointImage.WRITING);
    int waiting = record.getInt(CheckpointImage.PREPARED);
    int inMap = record.getInt(CheckpointImage.ABORTED);
    for (int i = 0; i < writing + waiting + inMap; i++) {
      long id = record.getLong(CheckpointImage.IDS + i * Long.BYTES);
      highest = Math.max(highest, id);
      boolean decided = decidedBeforeImage.contains(id);
      boolean forgotten = forgottenBeforeImage.contains(id);
      if (i < writing) {
        if (!decided && !forgotten && !prepared.containsKey(id)) {
          undecided.put(id, 0);
        }
      } else if (i < writing + waiting) {
        if (!decided && !forgotten && !prepared.containsKey(id)) {
          throw damaged(
              record,
              catalog,
              "it names transaction "
                  + id
                  + " as prepared, but the log has no record that prepares it");
        }
      } else if (!forgotten) {
        if (prepared.containsKey(id)) {
          throw damaged(record, catalog, "it names prepared transaction " + id + " as aborted");
        }
        undecided.remove(id);
        aborted.put(id, 0);
      }
    }
    partsRead++;
    if (partsRead == record.getInt(CheckpointImage.PARTS)) {
      imageRead = true;
      decidedBeforeImage.clear();
      forgottenBeforeImage.clear();
    }
  }

  private static DamagedFileException damaged(
      LogReader record, SegmentCatalog catalog, String reason) {
    return LogDamage.record(catalog, record.start(), reason);
  }

  private void abortUndecided() {
    for (long id : undecided.keys()) {
      aborted.put(id, 0);
    }
    undecided.clear();
  }

  /** Whether the image that the control slot names was found, all of it. */
  boolean isImageRead() {
    return imageRead;
  }

  long highest() {
    return highest;
  }

  /** The transactions that were undecided at the end, in ascending order. */
  long[] undecided() {
    return undecided.sortedKeys();
  }

  /** The transactions that were prepared at the end, in ascending order of ids. */
  List<PreparedTransaction> prepared() {
    return List.copyOf(prepared.values());
  }

  /** The aborted transactions, including the undecided ones, in ascending order. */
  long[] abortedAndUndecided() {
    LongLongMap all = new LongLongMap();
    for (long id : aborted.keys()) {
      all.put(id, 0);
    }
    for (long id : undecided.keys()) {
      all.put(id, 0);
    }
    return all.sortedKeys();
  }
}

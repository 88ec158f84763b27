package org.revenantdb.recovery.restart;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.revenantdb.recovery.checkpoint.CheckpointImage;
import org.revenantdb.recovery.checkpoint.TransactionImage;
import org.revenantdb.recovery.file.DamagedFileException;
import org.revenantdb.recovery.log.Log;
import org.revenantdb.recovery.log.RecordBuilder;
import org.revenantdb.recovery.log.RecordType;
import org.revenantdb.recovery.testing.CrashDisk;

/** R8: the fuzzy image of the transactions, and what overrides it. */
class TransactionStatesTest {
  private static final byte[] ROW = LogFixture.bytes(20);
  private static final long[] NONE = {};

  private final CrashDisk disk = new CrashDisk();
  private final Log log = LogFixture.create(disk);

  @AfterEach
  void close() {
    log.close();
  }

  private CheckpointImage.Published checkpoint(long redo, long[] writing, long[] aborted) {
    return CheckpointImage.publish(
        log, new TransactionImage(99, writing, NONE, aborted), List.of(), redo);
  }

  private AnalysisResult analyse(long begin, CheckpointImage.Published image) {
    log.awaitDurable(log.tail());
    return LogFixture.analyse(
            disk.afterKill(), LogFixture.state(begin, begin, image.start(), image.lsn(), 1))
        .result();
  }

  /** Schedule 1: T wrote before the checkpoint began and is known by the image alone. */
  @Test
  void R8_a_transaction_that_wrote_before_the_checkpoint_is_undecided_by_the_image() {
    LogFixture.change(log, 5, 1, ROW);
    long begin = log.tail();
    AnalysisResult result = analyse(begin, checkpoint(begin, new long[] {5}, NONE));
    assertArrayEquals(new long[] {5}, result.undecided());
    assertArrayEquals(new long[] {5}, result.aborted());
  }

  /** Schedule 2: the commit record is before the image, in which the state is still "writing". */
  @Test
  void R8_a_commit_between_begin_and_image_wins_over_the_image() {
    LogFixture.change(log, 5, 1, ROW);
    long begin = log.tail();
    LogFixture.mark(log, RecordType.COMMIT, 5);
    AnalysisResult result = analyse(begin, checkpoint(begin, new long[] {5}, NONE));
    assertArrayEquals(NONE, result.aborted());
  }

  @Test
  void R8_a_commit_behind_the_image_wins_over_the_image() {
    LogFixture.change(log, 5, 1, ROW);
    long begin = log.tail();
    CheckpointImage.Published image = checkpoint(begin, new long[] {5}, NONE);
    LogFixture.mark(log, RecordType.COMMIT, 5);
    assertArrayEquals(NONE, analyse(begin, image).aborted());
  }

  @Test
  void R8_an_abort_between_begin_and_image_wins_over_the_image() {
    long begin = log.tail();
    LogFixture.mark(log, RecordType.ABORT, 5);
    AnalysisResult result = analyse(begin, checkpoint(begin, new long[] {5}, NONE));
    assertArrayEquals(new long[] {5}, result.aborted());
    assertArrayEquals(NONE, result.undecided());
  }

  @Test
  void R8_forget_between_begin_and_image_wins_over_the_image() {
    long begin = log.tail();
    LogFixture.forget(log, 5, 6);
    AnalysisResult result = analyse(begin, checkpoint(begin, NONE, new long[] {5, 6, 7}));
    assertArrayEquals(new long[] {7}, result.aborted());
  }

  @Test
  void R8_forget_behind_the_image_wins_over_the_image() {
    long begin = log.tail();
    CheckpointImage.Published image = checkpoint(begin, NONE, new long[] {5, 6, 7});
    LogFixture.forget(log, 6);
    assertArrayEquals(new long[] {5, 7}, analyse(begin, image).aborted());
  }

  /** Of a checkpoint whose control slot was not written in time, only its ids count. */
  @Test
  void R8_only_the_checkpoint_that_the_control_slot_names_counts() {
    LogFixture.change(log, 5, 1, ROW);
    long begin = log.tail();
    CheckpointImage.Published image = checkpoint(begin, new long[] {5}, NONE);
    LogFixture.change(log, 8, 1, ROW);
    CheckpointImage.publish(log, new TransactionImage(500, NONE, NONE, NONE), List.of(), begin);
    AnalysisResult result = analyse(begin, image);
    assertArrayEquals(new long[] {5, 8}, result.undecided());
    assertEquals(500, result.highestTransactionId());
  }

  @Test
  void R8_an_image_of_many_parts_is_read_whole() {
    long begin = log.tail();
    long[] writing = java.util.stream.LongStream.rangeClosed(1, 300).toArray();
    long[] aborted = java.util.stream.LongStream.rangeClosed(301, 777).toArray();
    AnalysisResult result = analyse(begin, checkpoint(begin, writing, aborted));
    assertArrayEquals(writing, result.undecided());
    assertEquals(777, result.aborted().length);
    assertEquals(777, result.highestTransactionId());
  }

  @Test
  void R8_records_before_the_checkpoint_decide_nothing() {
    long redo = log.tail();
    LogFixture.change(log, 5, 1, ROW); // rolled back by itself, and ended without a record
    long begin = log.tail();
    CheckpointImage.Published image = checkpoint(redo, NONE, NONE);
    log.awaitDurable(log.tail());
    AnalysisResult result =
        LogFixture.analyse(
                disk.afterKill(), LogFixture.state(begin, redo, image.start(), image.lsn(), 1))
            .result();
    assertArrayEquals(NONE, result.aborted());
    assertEquals(99, result.highestTransactionId());
  }

  @Test
  void a_checkpoint_that_is_not_where_the_control_slot_says_is_damage() {
    long begin = log.tail();
    LogFixture.change(log, 5, 1, ROW);
    assertThrows(
        DamagedFileException.class,
        () -> analyse(begin, new CheckpointImage.Published(begin, begin)));
  }

  /** The next life's first record decides: a transaction that was undecided before is aborted. */
  @Test
  void undecided_transactions_of_former_lives_stay_aborted_until_forgotten() {
    LogFixture.change(log, 5, 1, ROW);
    LogFixture.change(log, 6, 2, ROW);
    LogFixture.mark(log, RecordType.COMMIT, 6);
    log.awaitDurable(log.tail());
    CrashDisk left = disk.afterKill();
    try (Log second =
        LogFixture.analyse(left, LogFixture.firstState()).startLife(LogFixture.options())) {
      LogFixture.change(second, 7, 1, ROW);
      second.awaitDurable(second.tail());
    }
    AnalysisResult result = LogFixture.analyse(left, LogFixture.firstStateOf(2)).result();
    assertArrayEquals(new long[] {5, 7}, result.aborted());
    assertArrayEquals(new long[] {7}, result.undecided());
    assertEquals(7, result.highestTransactionId());
  }

  private static PreparedTransaction prepared(long id) {
    return new PreparedTransaction(id, new byte[] {1, (byte) id}, new int[] {7, 8});
  }

  private void prepare(long id) {
    log.publish(prepared(id).build(new RecordBuilder()));
  }

  private CheckpointImage.Published checkpointOfPrepared(
      long redo, long[] writing, long[] prepared) {
    return CheckpointImage.publish(
        log, new TransactionImage(99, writing, prepared, NONE), List.of(), redo);
  }

  @Test
  void R8_a_transaction_is_prepared_until_a_record_decides_it() {
    for (long id = 1; id <= 5; id++) {
      LogFixture.change(log, id, (int) id, ROW);
      prepare(id);
    }
    LogFixture.mark(log, RecordType.COMMIT, 2);
    LogFixture.mark(log, RecordType.ABORT, 3);
    LogFixture.forget(log, 4);
    log.awaitDurable(log.tail());
    AnalysisResult result = LogFixture.analyse(disk.afterKill(), LogFixture.firstState()).result();
    assertEquals(List.of(prepared(1), prepared(5)), result.prepared());
    assertArrayEquals(new long[] {3}, result.aborted());
    assertArrayEquals(NONE, result.undecided());
  }

  /** 1 was prepared after the image of writing transactions was taken, 2 before the checkpoint. */
  @Test
  void R8_a_prepare_from_the_begin_on_wins_over_the_image() {
    LogFixture.change(log, 1, 1, ROW);
    LogFixture.change(log, 2, 2, ROW);
    prepare(2);
    long begin = log.tail();
    prepare(2); // repeated by the checkpoint
    prepare(1);
    CheckpointImage.Published image = checkpointOfPrepared(begin, new long[] {1}, new long[] {2});
    AnalysisResult result = analyse(begin, image);
    assertEquals(List.of(prepared(1), prepared(2)), result.prepared());
    assertArrayEquals(NONE, result.aborted());
  }

  @Test
  void R8_an_outcome_between_the_repeated_prepare_and_the_image_wins_over_both() {
    long begin = log.tail();
    prepare(1);
    prepare(2);
    LogFixture.mark(log, RecordType.COMMIT, 1);
    LogFixture.mark(log, RecordType.ABORT, 2);
    AnalysisResult result = analyse(begin, checkpointOfPrepared(begin, NONE, new long[] {1, 2}));
    assertEquals(List.of(), result.prepared());
    assertArrayEquals(new long[] {2}, result.aborted());
  }

  @Test
  void a_prepared_transaction_of_the_image_that_nothing_describes_is_damage() {
    prepare(1);
    long begin = log.tail();
    CheckpointImage.Published image = checkpointOfPrepared(begin, NONE, new long[] {1});
    assertThrows(DamagedFileException.class, () -> analyse(begin, image));
  }

  @Test
  void prepared_transactions_of_former_lives_stay_prepared() {
    LogFixture.change(log, 5, 1, ROW);
    prepare(5);
    log.awaitDurable(log.tail());
    CrashDisk left = disk.afterKill();
    try (Log second =
        LogFixture.analyse(left, LogFixture.firstState()).startLife(LogFixture.options())) {
      LogFixture.change(second, 7, 1, ROW);
      second.awaitDurable(second.tail());
    }
    AnalysisResult result = LogFixture.analyse(left, LogFixture.firstStateOf(2)).result();
    assertEquals(List.of(prepared(5)), result.prepared());
    assertArrayEquals(new long[] {7}, result.aborted());
  }
}

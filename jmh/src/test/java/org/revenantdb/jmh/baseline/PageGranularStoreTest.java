package org.revenantdb.jmh.baseline;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.time.Duration;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.recovery.file.IoStatistics;
import org.revenantdb.recovery.format.SegmentLayout;
import org.revenantdb.recovery.log.LifeStart;
import org.revenantdb.recovery.log.Log;
import org.revenantdb.recovery.log.LogOptions;

/** The baseline behaves as in the paper; otherwise the comparison would be with something else. */
class PageGranularStoreTest {
  private static final int ROWS_PER_PAGE = 10;

  @TempDir private Path folder;
  private Log log;
  private PageGranularStore store;

  @BeforeEach
  void start() {
    log =
        Log.start(
            new LifeStart(
                folder,
                new byte[16],
                1,
                SegmentLayout.FIRST_BEGIN,
                LogOptions.DEFAULT_SEGMENT_SIZE,
                0,
                0,
                new TreeMap<>(),
                new TreeSet<>(),
                new TreeSet<>()),
            new LogOptions(
                LogOptions.DEFAULT_SEGMENT_SIZE,
                LogOptions.DEFAULT_BUFFER_CAPACITY,
                LogOptions.DEFAULT_MAX_LOG_SIZE,
                "test",
                new IoStatistics()));
    store = new PageGranularStore(log, 20, 100, ROWS_PER_PAGE, Duration.ofDays(1).toNanos());
  }

  @AfterEach
  void end() {
    log.close();
  }

  private void commitLazily(int row) {
    PageGranularStore.Change change = store.begin(/* lazy= */ true);
    change.add(row, 1);
    change.commit();
  }

  @Test
  void aLazyCommit_isNotForced_andADurableOneIs() {
    commitLazily(1);
    assertTrue(log.durableLsn() < log.tail());
    PageGranularStore.Change durable = store.begin(/* lazy= */ false);
    durable.add(2, 1);
    durable.commit();
    assertEquals(log.tail(), log.durableLsn());
  }

  /** Section 6.2: the page is made durable, whichever row was read. */
  @Test
  void aDurableRead_forcesForAnyRowOfThePage_andForNoneOfAnother() {
    commitLazily(1);
    assertEquals(0, store.readDurably(ROWS_PER_PAGE));
    assertTrue(log.durableLsn() < log.tail());
    assertEquals(0, store.readDurably(2));
    assertEquals(log.tail(), log.durableLsn());
    assertEquals(1, store.readDurably(1));
  }

  /** Section 5.3: a page whose changes an earlier read has made durable needs no further force. */
  @Test
  void aDurableRead_ofAPageThatIsDurableAlready_forcesNothing() {
    commitLazily(1);
    commitLazily(ROWS_PER_PAGE);
    assertEquals(1, store.readDurably(ROWS_PER_PAGE));
    commitLazily(ROWS_PER_PAGE + 1);
    long durable = log.durableLsn();
    assertEquals(1, store.readDurably(1));
    assertEquals(durable, log.durableLsn());
  }

  /** Section 5.2: the reader comes before the commit, so the commit must force. */
  @Test
  void aLazyCommit_whosePageWasReadDurablyBefore_isForced() {
    commitLazily(2);
    PageGranularStore.Change change = store.begin(/* lazy= */ true);
    change.add(1, 1);
    assertEquals(1, store.readDurably(2));
    change.commit();
    assertEquals(log.tail(), log.durableLsn());
  }
}

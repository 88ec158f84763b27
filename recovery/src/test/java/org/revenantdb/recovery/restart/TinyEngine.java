package org.revenantdb.recovery.restart;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.revenantdb.recovery.checkpoint.CheckpointSource;
import org.revenantdb.recovery.checkpoint.Checkpointer;
import org.revenantdb.recovery.checkpoint.RefusedPage;
import org.revenantdb.recovery.checkpoint.TransactionImage;
import org.revenantdb.recovery.file.ControlFile;
import org.revenantdb.recovery.file.ControlState;
import org.revenantdb.recovery.file.IoStatistics;
import org.revenantdb.recovery.file.OpenMode;
import org.revenantdb.recovery.file.StorageFile;
import org.revenantdb.recovery.log.FlushedPages;
import org.revenantdb.recovery.log.Log;
import org.revenantdb.recovery.log.LogOptions;
import org.revenantdb.recovery.log.LogSpace;
import org.revenantdb.recovery.log.PageSpace;
import org.revenantdb.recovery.log.PartKind;
import org.revenantdb.recovery.log.RecordBuilder;
import org.revenantdb.recovery.log.RecordType;
import org.revenantdb.recovery.log.RecoverySpace;
import org.revenantdb.recovery.testing.CrashDisk;

/**
 * The smallest engine over the log: {@value #PAGES} pages with one number each. Operation {@code n}
 * sets some of them to {@code n}, in one record. So the pages show how far history went.
 */
final class TinyEngine implements CheckpointSource, AutoCloseable {
  static final int PAGES = 24;
  static final int SEGMENT = 1 << 13;
  static final int BUFFER = 1 << 13;
  static final long MAX_RECOVERY_LOG = 1 << 16;
  static final byte[] ID = "0123456789abcdef".getBytes(java.nio.charset.StandardCharsets.US_ASCII);

  /** The number of pages that fit into a record of a buffer of this size. */
  private static final int MOST_ON_RECORD = 16;

  private static final long PAGES_AT = 3 * 8192;
  private static final int SLOT = 16;

  /** An operation: it sets these pages to its own number. */
  record Operation(long number, int[] pages, int filler) {}

  private final CrashDisk disk;
  private final StorageFile data;
  private final ControlFile control;
  private final Restart restart;
  private final RecordBuilder record = new RecordBuilder();
  private final long[] values = new long[PAGES];
  private final long[] lsns = new long[PAGES];
  private final long[] firstLsn = new long[PAGES];
  private final long[] flushing = new long[PAGES];
  private Log log;
  private Checkpointer checkpointer;
  private long oldRedoPoint;

  private TinyEngine(CrashDisk disk, StorageFile data, ControlFile control, Restart restart) {
    this.disk = disk;
    this.data = data;
    this.control = control;
    this.restart = restart;
  }

  static LogOptions options() {
    return new LogOptions(SEGMENT, BUFFER, 1 << 20, "tiny", new IoStatistics());
  }

  static Path logDirectory(CrashDisk disk) {
    return disk.path("/db/log");
  }

  static Path dataFile(CrashDisk disk) {
    return disk.path("/db/revenant.data");
  }

  /** Creates a new, empty database whose files are all durable. */
  static TinyEngine create(CrashDisk disk) {
    StorageFile data = StorageFile.open(dataFile(disk), OpenMode.CREATE_NEW, true);
    Log log = Restart.createFirst(logDirectory(disk), ID, options());
    data.preallocate(0, PAGES_AT + (long) PAGES * SLOT);
    data.force();
    ControlFile control =
        ControlFile.create(
            data,
            new ControlState(0, log.tail(), log.tail(), 0, log.durableLsn(), 1, false, 0, PAGES));
    org.revenantdb.recovery.file.Directories.force(disk.path("/db"));
    TinyEngine engine = new TinyEngine(disk, data, control, null);
    engine.log = log;
    engine.startCheckpoints();
    return engine;
  }

  /** Reads the log of a database; changes nothing yet. */
  static TinyEngine analyse(CrashDisk disk) {
    StorageFile data = StorageFile.open(dataFile(disk), OpenMode.READ_WRITE, true);
    ControlFile control = ControlFile.read(data);
    control.rewrite(); // protocols.md §10, step 1
    Restart restart =
        Restart.analyse(
            logDirectory(disk),
            ID,
            SEGMENT,
            control.state(),
            PageRange.ANY,
            new IoStatistics(),
            RestartProgress.NONE);
    return new TinyEngine(disk, data, control, restart);
  }

  static TinyEngine open(CrashDisk disk) {
    TinyEngine engine = analyse(disk);
    engine.startLife();
    engine.redo();
    engine.startCheckpoints();
    return engine;
  }

  void startLife() {
    oldRedoPoint = restart.result().redoPoint();
    log = restart.startLife(options(), control);
  }

  void redo() {
    for (int page = 0; page < PAGES; page++) {
      MemorySegment slot = MemorySegment.ofArray(new byte[SLOT]);
      data.read(PAGES_AT + (long) page * SLOT, slot);
      lsns[page] = slot.get(ValueLayout.JAVA_LONG_UNALIGNED, 0);
      values[page] = slot.get(ValueLayout.JAVA_LONG_UNALIGNED, 8);
    }
    LogFixture.replay(
        restart,
        (page, lsn, kind, bytes, offset, length) -> {
          firstLsn[page] = oldRedoPoint;
          if (lsns[page] < lsn) {
            lsns[page] = lsn;
            values[page] =
                MemorySegment.ofArray(bytes).get(ValueLayout.JAVA_LONG_UNALIGNED, offset);
          }
        });
  }

  void startCheckpoints() {
    RecoverySpace space =
        new RecoverySpace(
            new LogSpace(log::tail, 1 << 24, 1 << 16, () -> {}), PageSpace.unlimited());
    checkpointer = new Checkpointer(log, space, control, this, MAX_RECOVERY_LOG, "tiny");
  }

  Log log() {
    return log;
  }

  Restart restart() {
    return restart;
  }

  CrashDisk disk() {
    return disk;
  }

  ControlState control() {
    return control.state();
  }

  synchronized long[] values() {
    return values.clone();
  }

  /** Does an operation, which is published on return. */
  synchronized long apply(Operation operation) {
    record.begin(RecordType.PAGES, /* transactionId= */ 0);
    for (int page : operation.pages) {
      record.beginPart(page, PartKind.CHANGE);
      record.putLong(operation.number);
      record.putBytes(LogFixture.bytes(operation.filler), 0, operation.filler);
      record.endPart();
      firstLsn[page] = firstLsn[page] == 0 ? log.tail() : firstLsn[page];
    }
    long lsn = log.publish(record);
    for (int page : operation.pages) {
      values[page] = operation.number;
      lsns[page] = lsn;
    }
    return lsn;
  }

  void checkpoint() {
    checkpointer.checkpointNow(/* everything= */ true);
  }

  void closeCleanly() {
    checkpointer.closeCleanly();
    log.close();
    data.close();
  }

  /** Ends the threads without a last checkpoint. */
  @Override
  public void close() {
    if (checkpointer != null) {
      checkpointer.close();
    }
    if (log != null) {
      try {
        log.close();
      } catch (org.revenantdb.recovery.log.LogStoppedException stopped) {
        // that is what some tests are about
      }
    }
    data.close();
  }

  @Override
  public void flushDirtyBefore(long goal) {
    List<Integer> batch = new ArrayList<>();
    long[][] copies = new long[PAGES][];
    long highest = 0;
    synchronized (this) {
      for (int page = 0; page < PAGES; page++) {
        if (firstLsn[page] != 0 && firstLsn[page] < goal) {
          batch.add(page);
          copies[page] = new long[] {lsns[page], values[page]};
          flushing[page] = firstLsn[page];
          firstLsn[page] = 0;
          highest = Math.max(highest, lsns[page]);
        }
      }
    }
    log.awaitDurable(highest);
    for (int page : batch) {
      MemorySegment slot = MemorySegment.ofArray(new byte[SLOT]);
      slot.set(ValueLayout.JAVA_LONG_UNALIGNED, 0, copies[page][0]);
      slot.set(ValueLayout.JAVA_LONG_UNALIGNED, 8, copies[page][1]);
      data.write(PAGES_AT + (long) page * SLOT, slot);
    }
    data.force();
    synchronized (this) {
      Arrays.fill(flushing, 0);
    }
    putOnRecord(batch, copies);
  }

  /** Publishes FLUSHED for some of the pages, as if the log did not always have room. */
  private void putOnRecord(List<Integer> batch, long[][] copies) {
    List<Integer> some =
        batch.stream().filter(page -> copies[page][0] % 3 != 0).limit(MOST_ON_RECORD).toList();
    int[] pages = some.stream().mapToInt(page -> page).toArray();
    long[] flushed = some.stream().mapToLong(page -> copies[page][0]).toArray();
    log.publish(FlushedPages.build(new RecordBuilder(), pages.length, pages, flushed));
  }

  @Override
  public synchronized long oldestDirtyLsn() {
    long oldest = Long.MAX_VALUE;
    for (int page = 0; page < PAGES; page++) {
      oldest = firstLsn[page] == 0 ? oldest : Math.min(oldest, firstLsn[page]);
      oldest = flushing[page] == 0 ? oldest : Math.min(oldest, flushing[page]);
    }
    return oldest;
  }

  @Override
  public TransactionImage transactions() {
    return new TransactionImage(0, new long[0], new long[0], new long[0]);
  }

  @Override
  public List<RefusedPage> refusedPages() {
    return List.of();
  }

  @Override
  public long highWaterPages() {
    return PAGES;
  }
}

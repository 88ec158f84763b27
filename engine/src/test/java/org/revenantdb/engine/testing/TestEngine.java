package org.revenantdb.engine.testing;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.CheckReport;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.TableOptions;
import org.revenantdb.engine.Transaction;
import org.revenantdb.engine.TransactionOptions;
import org.revenantdb.engine.WaitClass;
import org.revenantdb.engine.access.ApiAccess;
import org.revenantdb.engine.btree.Tree;
import org.revenantdb.engine.buffer.BufferPool;
import org.revenantdb.engine.buffer.BufferPoolOptions;
import org.revenantdb.engine.catalog.Catalog;
import org.revenantdb.engine.catalog.Publication;
import org.revenantdb.engine.catalog.TableState;
import org.revenantdb.engine.change.FlushRecords;
import org.revenantdb.engine.check.Checker;
import org.revenantdb.engine.lifecycle.EngineWaits;
import org.revenantdb.engine.overflow.OverflowInput;
import org.revenantdb.engine.page.ExtentMapPage;
import org.revenantdb.engine.page.Page;
import org.revenantdb.engine.page.PageStructure;
import org.revenantdb.engine.page.SpaceMapPage;
import org.revenantdb.engine.session.Engine;
import org.revenantdb.engine.session.TableSteps;
import org.revenantdb.engine.space.Allocator;
import org.revenantdb.engine.space.RoomyPages;
import org.revenantdb.engine.space.VersionMarks;
import org.revenantdb.engine.txn.TransactionTable;
import org.revenantdb.engine.version.Cleaner;
import org.revenantdb.engine.version.CleanerSteps;
import org.revenantdb.engine.version.Reading;
import org.revenantdb.engine.version.RowLoader;
import org.revenantdb.engine.version.RowWriter;
import org.revenantdb.engine.version.Storage;
import org.revenantdb.engine.version.StoredValue;
import org.revenantdb.gc.ActiveSnapshots;
import org.revenantdb.gc.Horizon;
import org.revenantdb.gc.spill.SpillFiles;
import org.revenantdb.gc.version.GarbageStrategy;
import org.revenantdb.gc.version.VolatileStore;
import org.revenantdb.latch.WaitMeter;
import org.revenantdb.recovery.file.IoStatistics;
import org.revenantdb.recovery.file.OpenMode;
import org.revenantdb.recovery.file.StorageFile;
import org.revenantdb.recovery.format.LittleEndian;
import org.revenantdb.recovery.format.LogRecordLayout;
import org.revenantdb.recovery.format.PageChecksum;
import org.revenantdb.recovery.log.ForgottenIds;
import org.revenantdb.recovery.log.LogSpace;
import org.revenantdb.recovery.log.PageSpace;
import org.revenantdb.recovery.log.RecordBuilder;
import org.revenantdb.recovery.log.RecordType;
import org.revenantdb.recovery.log.RecoverySpace;
import org.revenantdb.recovery.restart.AbortedTransactions;
import org.revenantdb.recovery.restart.PreparedTransaction;

/**
 * The engine without its files: a real pool of 256 frames over a temporary file, a log in memory,
 * and a cleaner that moves only when it is told to.
 */
public final class TestEngine implements AutoCloseable {
  public final MemoryJournal journal;
  final Path path;
  public final StorageFile file;
  public final BufferPool pool;
  private final SpillFiles spill;
  public final EngineWaits waits = new EngineWaits();
  public final ActiveSnapshots snapshots = new ActiveSnapshots();
  public final Storage storage;
  public final Engine engine;
  public final Catalog catalog;
  public final Cleaner cleaner;
  private final boolean mapsRead;

  /** Marks that may fail behind a record, as if memory ended there. */
  public static final class Marks extends VersionMarks {
    public boolean fails;

    @Override
    public void mark(int pageId) {
      super.mark(pageId);
      failIfWanted();
    }

    @Override
    public void markForLater(int pageId) {
      super.markForLater(pageId);
      failIfWanted();
    }

    private void failIfWanted() {
      if (fails) {
        throw new OutOfMemoryError("not now");
      }
    }
  }

  public final Marks marks = new Marks();

  /** How many rows a transaction may have written that puts them back. */
  public int shortRows;

  /** Runs around each visit of the cleaner. */
  public volatile Cleaner.Inside around = step -> step.getAsLong();

  /** A new database. */
  public TestEngine(Path directory, int pagesInFile) {
    this(directory, pagesInFile, PageSpace.unlimited());
  }

  /** A new database in which credit for pages may be scarce. */
  public TestEngine(Path directory, int pagesInFile, PageSpace pages) {
    this(directory, pagesInFile, pages, DatabaseOptions.defaults());
  }

  /** A new database whose transactions are as the options say. */
  public TestEngine(Path directory, int pagesInFile, DatabaseOptions options) {
    this(directory, pagesInFile, PageSpace.unlimited(), options);
  }

  private TestEngine(Path directory, int pagesInFile, PageSpace pages, DatabaseOptions options) {
    this(
        directory,
        new MemoryJournal(),
        Replay.newDatabase(),
        pagesInFile,
        new long[0],
        List.of(),
        0,
        true,
        pages,
        options);
  }

  private TestEngine(
      Path directory,
      MemoryJournal journal,
      Map<Integer, byte[]> pages,
      int pagesInFile,
      long[] aborted,
      List<PreparedTransaction> prepared,
      long highestId,
      boolean mapsRead,
      PageSpace restartPages,
      DatabaseOptions options) {
    this.journal = journal;
    try {
      path = Files.createTempDirectory(directory, "engine").resolve("data");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    file = StorageFile.open(path, OpenMode.CREATE_NEW, /* ownerOnly= */ true);
    pages.forEach((id, bytes) -> {
      MemorySegment page = MemorySegment.ofArray(bytes);
      PageChecksum.seal(page);
      file.write((long) id * Page.SIZE, page);
    });
    file.write((long) pagesInFile * Page.SIZE - 1, MemorySegment.ofArray(new byte[1]));
    pool =
        new BufferPool(
            BufferPoolOptions.ofBytes(BufferPoolOptions.MIN_BYTES),
            file,
            null,
            journal,
            new FlushRecords(journal, restartPages),
            PageStructure::problemOf,
            waits);
    AbortedTransactions map = new AbortedTransactions();
    for (long id : aborted) {
      map.add(id);
    }
    Allocator allocator = new Allocator(pool, journal, pool.sizeInPages());
    spill =
        new SpillFiles(
            java.util.Objects.requireNonNull(path.getParent()),
            new byte[16],
            /* life= */ 1,
            new IoStatistics());
    Horizon horizon = new Horizon(snapshots, journal::tail, journal::durableLsn);
    storage =
        new Storage(
            pool,
            journal,
            new RecoverySpace(
                new LogSpace(journal::tail, Long.MAX_VALUE / 2, 1, () -> {}), restartPages),
            allocator,
            new RoomyPages(pool, journal, allocator),
            marks,
            new TransactionTable(
                map,
                highestId,
                prepared.stream().mapToLong(PreparedTransaction::id).toArray(),
                waits.of(WaitClass.ROW)),
            horizon,
            new VolatileStore(
                spill,
                64 << 20,
                horizon::refresh,
                GarbageStrategy.of(horizon),
                WaitMeter.NONE,
                cause -> {}),
            spill,
            new Storage.Counters());
    engine =
        new Engine(storage, snapshots, options, 1 << 22, prepared, waits.of(WaitClass.RETRY_PAUSE));
    catalog = new Catalog(engine);
    storage.allocator().formatMissingMap(/* knownPages= */ 0);
    catalog.load();
    engine.tables(new TableSteps(engine, catalog));
    this.mapsRead = mapsRead;
    cleaner = newCleaner(1);
  }

  /** A cleaner beside the other one, with so many threads; only one of them may clean at a time. */
  public Cleaner newCleaner(int threads) {
    Cleaner made =
        new Cleaner(
            storage,
            catalog::tree,
            catalog.dropped(),
            catalog,
            step -> around.run(step),
            mapsRead,
            threads,
            "test-cleaner");
    CleanerSteps.pagesPerHelper(made, 1);
    return made;
  }

  /** What a crash leaves when the log ends after these records, restarted. */
  public static TestEngine restart(
      Path directory, List<MemoryJournal.Entry> entries, Map<Integer, byte[]> pages) {
    return restart(directory, entries, pages, DatabaseOptions.defaults());
  }

  /** As {@link #restart(Path, List, Map)}, with transactions as the options say. */
  public static TestEngine restart(
      Path directory,
      List<MemoryJournal.Entry> entries,
      Map<Integer, byte[]> pages,
      DatabaseOptions options) {
    TreeSet<Long> undecided = new TreeSet<>();
    Map<Long, PreparedTransaction> prepared = new TreeMap<>();
    long highest = 0;
    for (MemoryJournal.Entry entry : entries) {
      long id = entry.transaction();
      highest = Math.max(highest, id);
      if (entry.is(RecordType.PAGES) && id != 0 || entry.is(RecordType.ABORT)) {
        undecided.add(id);
        prepared.remove(id);
      } else if (entry.is(RecordType.COMMIT)) {
        undecided.remove(id);
        prepared.remove(id);
      } else if (entry.is(RecordType.PREPARE)) {
        undecided.remove(id);
        prepared.put(id, prepared(entry));
      } else if (entry.is(RecordType.FORGET)) {
        for (int at = LogRecordLayout.HEADER + 4; at + 8 <= entry.bytes().length; at += 8) {
          undecided.remove(LittleEndian.getLong(entry.bytes(), at));
        }
      }
    }
    int last = pages.keySet().stream().mapToInt(i -> i).max().orElseThrow();
    MemorySegment gam = MemorySegment.ofArray(pages.get(ExtentMapPage.POSITION));
    for (int e = 0; e >= 0; e = ExtentMapPage.next(gam, e + 1, /* set= */ true)) {
      last = Math.max(last, ExtentMapPage.firstPage(e + 1) - 1);
    }
    return new TestEngine(
        directory,
        new MemoryJournal(entries),
        pages,
        last + 1 + 16,
        undecided.stream().mapToLong(i -> i).toArray(),
        List.copyOf(prepared.values()),
        highest,
        /* mapsRead= */ false,
        PageSpace.unlimited(),
        options);
  }

  /** What a PREPARE record says (format.md §2.2). */
  private static PreparedTransaction prepared(MemoryJournal.Entry entry) {
    byte[] bytes = entry.bytes();
    int length = LittleEndian.getInt(bytes, LogRecordLayout.HEADER);
    int[] tables = new int[LittleEndian.getInt(bytes, LogRecordLayout.HEADER + 4)];
    int name = LogRecordLayout.HEADER + 8;
    for (int i = 0; i < tables.length; i++) {
      tables[i] = LittleEndian.getInt(bytes, name + length + 4 * i);
    }
    return new PreparedTransaction(
        entry.transaction(), Arrays.copyOfRange(bytes, name, name + length), tables);
  }

  public Tree table(String name) {
    return TableState.of(table(name, TableOptions.defaults())).newest().all().getFirst();
  }

  public Table table(String name, TableOptions options) {
    Table table = catalog.find(name);
    if (table == null) {
      catalog.create(name, options);
      table = catalog.find(name);
    }
    return java.util.Objects.requireNonNull(table);
  }

  /** A transaction with the face that users have. */
  public Transaction transaction() {
    return transaction(TransactionOptions.lazy());
  }

  public Transaction transaction(TransactionOptions options) {
    int slot = engine.snapshots().open(journal::tail);
    return ApiAccess.api().transaction(engine, slot, options, null, null);
  }

  public Tx begin() {
    return new Tx();
  }

  /** All that the snapshot of now sees of a row. */
  public byte @Nullable [] read(Tree tree, byte[] key) {
    journal.force();
    Tx tx = begin();
    try {
      return tx.get(tree, key);
    } finally {
      tx.abort();
    }
  }

  /** Passes until nothing more changes. */
  public void clean() {
    for (int pass = 0; CleanerSteps.pass(cleaner, true) > 0; pass++) {
      assertTrue(pass < 1000, "the cleaner finds no end");
    }
  }

  public void pass() {
    CleanerSteps.pass(cleaner, true);
  }

  public CheckReport check() {
    assertNull(journal.failure());
    CheckReport report = Checker.alone(storage);
    assertEquals(List.of(), report.problems());
    return report;
  }

  /** With no transaction open: after cleaning nothing is left to clean, and nothing has leaked. */
  public CheckReport checkAllClean() {
    journal.force();
    clean();
    CheckReport report = check();
    assertEquals(0, report.pagesToClean(), "pages with a version bit");
    assertTrue(storage.marks().isEmpty(), "pages are marked");
    assertEquals(0, storage.transactions().aborted().size(), "transactions are not forgotten");
    assertEquals(0, storage.versions().rows(), "rows with versions in memory");
    return report;
  }

  /** Pages in use or claimed. */
  public int used() {
    TreeSet<Integer> pages = Replay.allocated(memory());
    pages.addAll(storage.allocator().claims().pages());
    return pages.size();
  }

  /** Every allocated page as it is in memory, without its checksum. */
  public Map<Integer, byte[]> memory() {
    Map<Integer, byte[]> pages = new TreeMap<>();
    for (int map = SpaceMapPage.POSITION;
        map < storage.allocator().pages();
        map += SpaceMapPage.GROUP) {
      pages.put(map, page(map));
    }
    for (int id : Replay.allocated(pages)) {
      pages.put(id, page(id));
    }
    return pages;
  }

  public byte[] page(int id) {
    int frame = pool.fixShared(id);
    try {
      return Page.bytes(pool.page(frame), 0, Page.SIZE);
    } finally {
      pool.unfixShared(frame);
    }
  }

  public static void assertSamePages(Map<Integer, byte[]> expected, Map<Integer, byte[]> found) {
    TreeSet<Integer> ids = Replay.allocated(expected);
    assertEquals(ids, Replay.allocated(found));
    for (int id : ids) {
      byte[] one = expected.get(id);
      byte[] other = found.get(id);
      assertTrue(other != null, "page " + id + " is missing");
      int at = Arrays.mismatch(one, 4, Page.SIZE, other, 4, Page.SIZE);
      assertEquals(-1, at, "page " + id + " differs at its byte " + (at + 4));
    }
  }

  @Override
  public void close() {
    storage.versions().close();
    spill.close();
    pool.close();
    file.close();
    try {
      Files.delete(path);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** A transaction, step by step: commits may be published and durable at different times. */
  public final class Tx {
    public final int slot = snapshots.open(journal::tail);
    public final long snapshot = snapshots.snapshot(slot);
    public final Reading reading = new Reading(snapshot);
    public long id;
    private @Nullable RowWriter writer;

    public TestEngine engine() {
      return TestEngine.this;
    }

    private RowWriter writer() {
      if (writer == null) {
        writer = engine.takeWriter();
        writer.begin(shortRows);
        id = storage.transactions().enter();
        reading.writesAs(id);
      }
      return writer;
    }

    /** For a read that is distinguished from others. */
    public Reading freshReading() {
      Reading fresh = new Reading(snapshot);
      fresh.writesAs(id);
      return fresh;
    }

    public byte @Nullable [] get(Tree tree, byte[] key) {
      StoredValue value = engine.reader().read(tree, key, reading);
      return value == null ? null : bytes(value);
    }

    public byte[] bytes(StoredValue value) {
      if (!value.isOverflow()) {
        return value.bytes();
      }
      OverflowInput input =
          new OverflowInput(pool, java.util.function.Supplier::get, value.reference());
      byte[] bytes = new byte[(int) value.length()];
      assertEquals(bytes.length, bytes.length == 0 ? 0 : input.read(bytes, 0, bytes.length));
      assertEquals(-1, input.read(), "there is more than its length says");
      return bytes;
    }

    /** In overflow pages if it is too long for the leaf. */
    public RowWriter.Outcome put(Tree tree, byte[] key, byte[] value) {
      RowWriter rows = writer();
      if (value.length <= org.revenantdb.engine.page.LeafCell.maxInlineValue(key.length)) {
        return rows.put(tree, id, snapshot, key, value);
      }
      rows.overflow().writeWhole(id, value);
      return rows.putOverflow(tree, id, snapshot, key, rows.overflow());
    }

    /** As a stream of unknown length is written. */
    public RowWriter.Outcome putStream(Tree tree, byte[] key, byte[] value) {
      RowWriter rows = writer();
      var overflow = rows.newOverflowWriter();
      overflow.begin(id);
      for (int at = 0;
          at < value.length;
          at += org.revenantdb.engine.overflow.OverflowWriter.CHUNK) {
        overflow.append(
            value,
            at,
            Math.min(org.revenantdb.engine.overflow.OverflowWriter.CHUNK, value.length - at));
      }
      return rows.putOverflow(tree, id, snapshot, key, overflow);
    }

    /** A load of this transaction, which does nothing else. */
    public RowLoader loader(Tree tree) {
      return new RowLoader(storage, tree, writer(), id, snapshot);
    }

    public RowWriter.Outcome delete(Tree tree, byte[] key) {
      return writer().delete(tree, id, snapshot, key);
    }

    public long metLsn() {
      return writer().metLsn();
    }

    public long conflictingWriter() {
      return writer().conflictingWriter();
    }

    /** Published, not yet durable. */
    public long commit() {
      long lsn = 0;
      if (id != 0) {
        storage.transactions().committing(id);
        lsn = journal.publish(new RecordBuilder().begin(RecordType.COMMIT, id));
        storage.transactions().committed(id, lsn);
      }
      end();
      return lsn;
    }

    public long commitDurably() {
      long lsn = commit();
      journal.force();
      return lsn;
    }

    public void abort() {
      if (id != 0) {
        storage.transactions().aborted().add(id);
        journal.publish(new RecordBuilder().begin(RecordType.ABORT, id));
        storage.transactions().aborted(id);
      }
      end();
    }

    /** Waits for the decision: {@code engine.prepared()}. */
    public void prepare(byte[] name) {
      engine
          .prepared()
          .prepare(new PreparedTransaction(id, name, new int[0]), Publication.ANYWHERE, () -> {});
      end();
    }

    public int savepoint() {
      return writer().history().savepoint();
    }

    public void goBackTo(int savepoint) {
      writer().goBackTo(savepoint, id, snapshot);
    }

    /** As a short transaction; false if it was not, and has been aborted like any other. */
    public boolean putBack() {
      if (!writer().history().putBack(id)) {
        abort();
        return false;
      }
      journal.publish(ForgottenIds.build(new RecordBuilder(), id));
      storage.transactions().aborted(id);
      end();
      return true;
    }

    private void end() {
      snapshots.close(slot);
      RowWriter used = writer;
      if (used != null) {
        used.end();
        engine.giveBack(used);
        writer = null;
      }
    }
  }
}

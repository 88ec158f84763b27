package org.revenantdb.engine.backup;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.revenantdb.engine.backup.BackedUp.SMALL;
import static org.revenantdb.engine.backup.BackedUp.between;
import static org.revenantdb.engine.backup.BackedUp.contents;
import static org.revenantdb.engine.backup.BackedUp.key;
import static org.revenantdb.engine.backup.BackedUp.opened;
import static org.revenantdb.engine.backup.BackedUp.put;
import static org.revenantdb.engine.backup.BackedUp.value;

import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CancellationException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.BackupOptions;
import org.revenantdb.engine.BackupReport;
import org.revenantdb.engine.BulkLoad;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.RestoreProgress;
import org.revenantdb.engine.StorageException;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.Transaction;
import org.revenantdb.engine.page.SpaceMapPage;
import org.revenantdb.engine.testing.LiveCopy;
import org.revenantdb.engine.testing.Refusals;
import org.revenantdb.recovery.file.IoStatistics;
import org.revenantdb.recovery.file.Ownership;
import org.revenantdb.recovery.testing.FaultyFileSystem;
import org.revenantdb.recovery.testing.IoEvent;

/** Increments: what is in them, what they are applied to, and what is refused (§56). */
class IncrementTest {
  private static final int PAGE = 8_192;

  @TempDir Path temporary;
  private Path directory;
  private Path base;
  private Database db;
  private int targets;

  @BeforeEach
  void open() {
    directory = temporary.resolve("db");
    base = temporary.resolve("base");
    db = Database.open(directory, SMALL);
    put(db, "rows", 0, 5_000, 1, 200);
    put(db, "large", 0, 3, 1, 100_000);
  }

  @AfterEach
  void close() {
    db.close();
  }

  private void reopen() {
    db.close();
    db = Database.open(directory, SMALL);
  }

  private Path target() {
    return temporary.resolve("target" + targets++);
  }

  private static BackupOptions since(BackupReport report) {
    return BackupOptions.defaults().withSince(report.id());
  }

  private Path increment(BackupReport since) {
    Path target = target();
    db.backup(target, since(since));
    return target;
  }

  private Map<String, Map<String, String>> applied(Path... chain) {
    Path target = target();
    Database.applyBackups(List.of(chain), target);
    return opened(target);
  }

  private static StorageException refused(StorageException.Reason reason, Runnable call) {
    return Refusals.assertRefused(reason, call::run);
  }

  private StorageException unapplied(StorageException.Reason reason, Path... chain) {
    Path target = target();
    StorageException told = refused(reason, () -> Database.applyBackups(List.of(chain), target));
    assertFalse(Files.exists(target), "something is left");
    return told;
  }

  private static Map<String, byte[]> files(Path folder) {
    Map<String, byte[]> files = new TreeMap<>();
    try (Stream<Path> all = Files.walk(folder)) {
      for (Path file : all.filter(Files::isRegularFile).toList()) {
        files.put(folder.relativize(file).toString(), Files.readAllBytes(file));
      }
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
    return files;
  }

  private static void assertSame(Map<String, byte[]> expected, Map<String, byte[]> found) {
    assertEquals(expected.keySet(), found.keySet());
    expected.forEach((name, bytes) -> assertArrayEquals(bytes, found.get(name), name));
  }

  /** Does something once, when a piece of pages was copied. */
  private void whileCopying(Runnable action) {
    AtomicBoolean done = new AtomicBoolean();
    between(
        db,
        BackupSteps.Step.PAGES_COPIED,
        () -> {
          if (!done.getAndSet(true)) {
            action.run();
          }
        });
  }

  @Test
  void a_base_and_an_increment_are_the_database_and_the_increment_is_small() throws IOException {
    db.cleanNow();
    db.checkpoint(); // else the redo point of the base could lie before all pages
    BackupReport whole = db.backup(base);
    assertNotNull(whole.id());
    assertNull(whole.since());
    assertEquals(whole.id(), Database.backupId(base));
    Map<String, byte[]> before = files(base);
    put(db, "rows", 100, 110, 2, 200);
    Path target = target();
    BackupReport report = db.backup(target, since(whole));
    Map<String, Map<String, String>> expected = contents(db);
    put(db, "rows", 0, 5_000, 9, 200);
    assertEquals(whole.id(), report.since());
    assertEquals(report.id(), Database.backupId(target));
    assertNotEquals(whole.id(), report.id());
    assertEquals(List.of("revenant.increment"), List.of(target.toFile().list()));
    assertTrue(report.pagesCopied() < 20, report::toString);
    assertEquals(report.pagesCopied() * PAGE + report.logBytes(), report.bytes());
    assertTrue(
        Files.size(target.resolve("revenant.increment")) < report.bytes() + 20_000,
        report::toString);
    Path result = target();
    BackupReport applied = Database.applyBackups(List.of(base, target), result);
    assertEquals(report.id(), applied.id());
    assertEquals(report.endOfLog(), applied.endOfLog());
    assertEquals(report.id(), Database.backupId(result));
    assertEquals(expected, opened(result));
    assertSame(before, files(base));
  }

  @Test
  void extents_that_have_not_changed_are_not_read_but_after_an_open_all_are() {
    db.cleanNow();
    db.checkpoint();
    BackupReport whole = db.backup(base);
    put(db, "rows", 100, 110, 2, 200);
    BackupReport first = db.backup(target(), since(whole));
    assertTrue(first.pagesRead() < first.pages() / 2, first::toString);
    BackupReport none = db.backup(target(), since(first));
    assertTrue(none.pagesCopied() < 20, none::toString); // the cleaner may have changed some
    reopen();
    BackupReport all = db.backup(target(), since(none));
    assertEquals(all.pages() - 3, all.pagesRead());
    assertTrue(all.pagesCopied() < 30, all::toString);
    BackupReport again = db.backup(target(), since(all));
    assertTrue(again.pagesRead() < again.pages() / 2, again::toString);
  }

  /** What another backup has made known is used for an older base as well. */
  @Test
  void R26_one_page_of_an_extent_that_has_changed_is_enough() {
    db.cleanNow();
    db.checkpoint();
    BackupReport whole = db.backup(base);
    for (int i = 0; i < 5_000; i += 500) {
      put(db, "rows", i, i + 1, 2, 200);
    }
    reopen(); // the pages are written, and nothing is known of extents
    db.backup(target());
    BackupReport report = db.backup(target(), since(whole));
    assertTrue(report.pagesRead() < report.pages() - 3, report::toString);
    assertEquals(contents(db), applied(base, report.target()));
  }

  @Test
  void a_chain_across_restarts_in_files_and_directories() throws IOException {
    List<Path> chain = new ArrayList<>();
    Path file = temporary.resolve("whole.tar");
    BackupReport last = stream(file, BackupOptions.defaults());
    chain.add(file);
    for (int i = 2; i < 7; i++) {
      put(db, "rows", i * 300, i * 300 + 400, i, 300);
      put(db, "large", i, i + 2, i, 60_000);
      if (i == 4) {
        db.dropTable("large");
      }
      if (i % 2 == 0) {
        reopen();
        put(db, "more", 0, 10 * i, i, 100);
        Path target = target();
        last = db.backup(target, since(last));
        chain.add(target);
      } else {
        file = temporary.resolve("increment" + i);
        last = stream(file, since(last));
        chain.add(file);
      }
      Path result = target();
      assertEquals(last.id(), Database.applyBackups(chain, result).id());
      assertEquals(contents(db), opened(result), "after " + i);
    }
  }

  private BackupReport stream(Path file, BackupOptions options) throws IOException {
    try (OutputStream to = Files.newOutputStream(file)) {
      return db.backup(to, options);
    }
  }

  /** The database is open read-only, so that nothing changes between the two. */
  @Test
  void the_result_is_page_for_page_that_of_a_whole_backup() throws IOException {
    BackupReport whole = db.backup(base);
    put(db, "rows", 1_000, 1_500, 2, 220);
    db.run(tx -> tx.deleteRange(db.table("rows"), key(3_000), key(3_900)));
    put(db, "large", 1, 2, 2, 200_000);
    db.createTable("new");
    db.cleanNow();
    db.close();
    db = Database.open(directory, SMALL.withReadOnly(true));
    Path target = target();
    BackupReport report = db.backup(target, since(whole));
    assertNull(report.id(), "a database that is open read-only notes nothing");
    assertTrue(report.notNoted().contains("read-only"), report::toString);
    Path direct = target();
    db.backup(direct);
    Path result = target();
    Database.applyBackups(List.of(base, target), result);
    byte[] expected = Files.readAllBytes(direct.resolve("revenant.data"));
    byte[] found = Files.readAllBytes(result.resolve("revenant.data"));
    assertEquals(expected.length, found.length);
    for (int page = 1; page < expected.length / PAGE; page++) {
      int from = page * PAGE;
      assertArrayEquals(
          Arrays.copyOfRange(expected, from, from + PAGE),
          Arrays.copyOfRange(found, from, from + PAGE),
          "page " + page);
    }
    assertEquals(contents(db), opened(result));
  }

  @Test
  void R26_pages_that_change_while_the_base_is_copied_are_in_the_increment() {
    whileCopying(() -> {
      put(db, "rows", 0, 5_000, 2, 200);
      db.checkpoint();
    });
    BackupReport whole = db.backup(base);
    BackedUp.steps(db, BackupSteps.NONE);
    assertEquals(contents(db), applied(base, increment(whole)));
    put(db, "rows", 10, 20, 3, 200);
    assertEquals(contents(db), applied(base, increment(whole)));
  }

  @Test
  void R26_pages_that_were_dirty_at_the_base_and_not_in_its_file() {
    db.cleanNow();
    db.checkpoint();
    for (int i = 0; i < 5_000; i += 50) { // every page, and little log: no checkpoint
      put(db, "rows", i, i + 1, 2, 200);
    }
    BackupReport whole = db.backup(base);
    assertEquals(contents(db), applied(base, increment(whole)), "they still are");
    db.checkpoint();
    assertEquals(contents(db), applied(base, increment(whole)), "they are written");
  }

  @Test
  void R12_pages_that_were_freed_and_allocated_anew() {
    put(db, "goes", 0, 5_000, 1, 300);
    db.cleanNow();
    BackupReport whole = db.backup(base);
    db.dropTable("goes");
    db.cleanNow();
    BackupReport dropped = db.backup(target(), since(whole));
    assertEquals(contents(db), applied(base, dropped.target()));
    put(db, "comes", 0, 5_000, 2, 250);
    put(db, "large", 10, 13, 3, 200_000);
    Path anew = increment(dropped);
    assertEquals(contents(db), applied(base, dropped.target(), anew));
    db.checkpoint();
    assertEquals(contents(db), applied(base, increment(whole)));
  }

  @Test
  void R12_a_file_that_was_cut_and_has_grown_again() throws IOException {
    put(db, "goes", 0, 20_000, 1, 200);
    db.checkpoint();
    BackupReport whole = db.backup(base);
    db.dropTable("goes");
    db.cleanNow();
    db.compact();
    BackupReport small = db.backup(target(), since(whole));
    assertTrue(small.pages() < whole.pages() / 2, small::toString);
    assertEquals(contents(db), applied(base, small.target()));
    put(db, "comes", 0, 8_000, 2, 200);
    BackupReport grown = db.backup(target(), since(small));
    assertTrue(grown.pages() > small.pages(), grown::toString);
    assertEquals(contents(db), applied(base, small.target(), grown.target()));
    assertEquals(contents(db), applied(base, increment(whole)), "without the small one");
  }

  /** A cut is not forced. The space map behind it is as it was, and older than the base. */
  @Test
  void R26_pages_that_a_power_cut_gives_back_to_a_file_that_was_cut() throws IOException {
    for (int i = 0; i < 900; i += 20) {
      put(db, "goes", i, i + 20, 1, 80_000); // more than one space map
    }
    db.dropTable("goes");
    db.cleanNow();
    reopen();
    Path data = directory.resolve("revenant.data");
    byte[] before = Files.readAllBytes(data);
    assertTrue(before.length / PAGE > SpaceMapPage.GROUP, "one space map");
    db.compact();
    BackupReport whole = db.backup(base);
    assertTrue(whole.pages() < SpaceMapPage.GROUP, whole::toString);
    db.close();
    int cut = (int) Files.size(data);
    Files.write(data, Arrays.copyOfRange(before, cut, before.length), StandardOpenOption.APPEND);
    db = Database.open(directory, SMALL);
    put(db, "rows", 0, 10, 2, 200);
    BackupReport report = db.backup(target(), since(whole));
    assertTrue(report.pages() > SpaceMapPage.GROUP, report::toString);
    assertEquals(contents(db), applied(base, report.target()));
  }

  @Test
  void the_file_is_cut_while_an_increment_is_made() {
    put(db, "goes", 0, 20_000, 1, 200);
    BackupReport whole = db.backup(base);
    put(db, "goes", 0, 20_000, 2, 200);
    put(db, "rows", 0, 5_000, 2, 200);
    db.checkpoint();
    whileCopying(() -> {
      db.dropTable("goes");
      db.cleanNow();
      db.compact();
      put(db, "new", 0, 3_000, 2, 200);
    });
    Path target = increment(whole);
    BackedUp.steps(db, BackupSteps.NONE);
    assertEquals(contents(db), applied(base, target));
  }

  @Test
  void pages_that_were_moved_by_a_compaction() {
    put(db, "goes", 0, 10_000, 1, 200);
    put(db, "moves", 0, 10_000, 1, 200);
    db.dropTable("goes");
    db.cleanNow();
    BackupReport whole = db.backup(base);
    assertTrue(db.compact().pagesMoved() > 0);
    assertEquals(contents(db), applied(base, increment(whole)));
  }

  @Test
  void a_bulk_load_a_drop_and_an_undecided_transaction() {
    Table loaded = db.createTable("loaded");
    BulkLoad load = db.bulkLoad(loaded);
    for (int i = 0; i < 3_000; i++) {
      load.add(key(i), value(i, 300));
    }
    BackupReport whole = db.backup(base);
    for (int i = 3_000; i < 9_000; i++) {
      load.add(key(i), value(i, 300));
    }
    load.finish();
    Map<String, Map<String, String>> expected = contents(db);
    try (Transaction open = db.begin()) {
      for (int i = 0; i < 3_000; i++) {
        open.put(db.table("rows"), key(i), value(7, 220));
      }
      assertEquals(expected, applied(base, increment(whole)));
      open.rollback();
    }
    db.dropTable("loaded");
    assertEquals(contents(db), applied(base, increment(whole)));
  }

  @Test
  void a_crash_of_the_source_takes_the_map_and_not_the_base() throws IOException {
    BackupReport whole = db.backup(base);
    put(db, "rows", 0, 2_000, 2, 200);
    db.checkpoint();
    put(db, "rows", 1_500, 2_500, 3, 200);
    Path crashed = temporary.resolve("crashed");
    Path again = temporary.resolve("again");
    do { // pages that are written meanwhile make a copy that no crash leaves
      LiveCopy.copy(directory, crashed);
      LiveCopy.copy(directory, again);
    } while (!hasSamePages(crashed, again));
    db.close();
    db = Database.open(crashed, SMALL);
    BackupReport report = db.backup(target(), since(whole));
    assertEquals(report.pages() - 3, report.pagesRead());
    assertEquals(contents(db), applied(base, report.target()));
  }

  private static boolean hasSamePages(Path one, Path other) throws IOException {
    for (String file : List.of("revenant.data", "revenant.dw")) {
      if (Files.mismatch(one.resolve(file), other.resolve(file)) >= 0) {
        return false;
      }
    }
    return true;
  }

  @Test
  void a_base_of_another_database_is_refused_and_nothing_is_made() {
    Path other = temporary.resolve("other");
    BackupReport foreign;
    try (Database second = Database.open(other, SMALL)) {
      foreign = second.backup(base);
    }
    Path target = target();
    StorageException told =
        refused(StorageException.Reason.BACKUP_BASE, () -> db.backup(target, since(foreign)));
    assertTrue(told.getMessage().contains(foreign.id()), told::getMessage);
    assertTrue(told.getMessage().contains("make a whole backup"), told::getMessage);
    assertFalse(Files.exists(target));
    assertThrows(
        IllegalArgumentException.class, () -> BackupOptions.defaults().withSince("not an id"));
  }

  @Test
  void a_restored_database_does_not_know_the_backups_of_its_original() {
    BackupReport whole = db.backup(base);
    Path copy = target();
    db.backup(copy);
    db.close();
    db = Database.open(copy, SMALL);
    Path target = target();
    refused(StorageException.Reason.BACKUP_BASE, () -> db.backup(target, since(whole)));
    BackupReport own = db.backup(target());
    put(db, "rows", 0, 10, 5, 200);
    assertEquals(contents(db), applied(own.target(), increment(own)));
  }

  /** The files of a closed database are put back: the id is the same, and positions come again. */
  @Test
  void a_database_of_which_an_older_copy_was_put_back_refuses_younger_bases() throws IOException {
    BackupReport older = db.backup(base);
    db.close();
    Path kept = temporary.resolve("kept");
    LiveCopy.copy(directory, kept);
    for (boolean keepsList : new boolean[] {false, true}) {
      db = Database.open(directory, SMALL);
      put(db, "rows", 0, 5_000, 2, 200);
      BackupReport younger = db.backup(target());
      byte[] list = Files.readAllBytes(directory.resolve(BackupNotes.NAME));
      db.close();
      LiveCopy.copy(kept, directory);
      if (keepsList) {
        Files.write(directory.resolve(BackupNotes.NAME), list);
      }
      db = Database.open(directory, SMALL);
      put(db, "rows", 0, 5_000, 3, 200); // beyond the end of the younger one
      put(db, "rows", 0, 5_000, 4, 200);
      reopen();
      Path target = target();
      refused(StorageException.Reason.BACKUP_BASE, () -> db.backup(target, since(younger)));
      if (!keepsList) {
        assertEquals(contents(db), applied(base, increment(older)), "an ancestor of both");
      }
      db.close();
      LiveCopy.copy(kept, directory);
    }
    db = Database.open(directory, SMALL);
  }

  /** Its log is longer than that of the line which the list is of. */
  @Test
  void a_list_of_another_line_of_the_database_does_not_count() throws IOException {
    db.close();
    Path kept = temporary.resolve("kept");
    LiveCopy.copy(directory, kept);
    db = Database.open(directory, SMALL);
    put(db, "rows", 0, 100, 2, 200);
    BackupReport other = db.backup(base);
    byte[] list = Files.readAllBytes(directory.resolve(BackupNotes.NAME));
    db.close();
    LiveCopy.copy(kept, directory);
    db = Database.open(directory, SMALL);
    put(db, "rows", 0, 5_000, 3, 200);
    reopen();
    put(db, "rows", 0, 5_000, 4, 200);
    db.close();
    Files.write(directory.resolve(BackupNotes.NAME), list);
    db = Database.open(directory, SMALL);
    refused(StorageException.Reason.BACKUP_BASE, () -> db.backup(target(), since(other)));
    assertFalse(Files.exists(directory.resolve(BackupNotes.NAME)));
  }

  @Test
  void a_list_that_cannot_be_read_or_deleted_is_no_reason_not_to_open() throws IOException {
    BackupReport whole = db.backup(base);
    db.close();
    FaultyFileSystem faulty = new FaultyFileSystem();
    faulty.hook(event -> {
      if (event.file().endsWith(BackupNotes.NAME)
          && (event.kind() == IoEvent.Kind.READ || event.kind() == IoEvent.Kind.DELETE)) {
        throw new IOException("a bad block");
      }
    });
    db = Database.open(faulty.wrap(directory), SMALL);
    BackupReport report = db.backup(target());
    assertNull(report.id(), "it could not be noted");
    assertTrue(report.notNoted().contains("a bad block"), report::toString);
    assertEquals(contents(db), opened(report.target()));
    assertTrue(Files.exists(directory.resolve(BackupNotes.NAME)));
    db.close();
    db = Database.open(directory, SMALL);
    refused(StorageException.Reason.BACKUP_BASE, () -> db.backup(target(), since(whole)));
    assertFalse(Files.exists(directory.resolve(BackupNotes.NAME)), "it was of a former life");
    BackupReport next = db.backup(target());
    put(db, "rows", 0, 10, 2, 200);
    assertEquals(contents(db), applied(next.target(), increment(next)));
  }

  @Test
  void a_list_that_cannot_be_written_leaves_no_half_file() {
    db.close();
    FaultyFileSystem faulty = new FaultyFileSystem();
    faulty.hook(event -> {
      if (event.file().endsWith(BackupNotes.NEW_NAME) && event.kind() == IoEvent.Kind.WRITE) {
        throw new IOException("a bad block");
      }
    });
    db = Database.open(faulty.wrap(directory), SMALL);
    assertNull(db.backup(base).id(), "it could not be noted");
    assertFalse(Files.exists(directory.resolve(BackupNotes.NEW_NAME)));
    faulty.hook(event -> {});
    assertNotNull(db.backup(target()).id());
  }

  @Test
  @EnabledOnOs({OS.LINUX, OS.MAC})
  void a_pipe_is_refused_and_not_waited_for() throws Exception {
    db.backup(base);
    Path pipe = temporary.resolve("pipe");
    assertEquals(0, new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor());
    unapplied(StorageException.Reason.BACKUP_STREAM, base, pipe);
    refused(StorageException.Reason.BACKUP_STREAM, () -> Database.backupId(pipe));
  }

  @Test
  void a_base_that_was_opened_is_refused() throws IOException {
    BackupReport whole = db.backup(base);
    put(db, "rows", 0, 10, 2, 200);
    Path target = increment(whole);
    Path copy = temporary.resolve("kept");
    LiveCopy.copy(base, copy);
    try (Database looked = Database.open(base, SMALL.withReadOnly(true))) {
      assertEquals(5_000, contents(looked).get("rows").size());
    }
    assertEquals(contents(db), applied(base, target), "it was only read");
    Database.open(base, SMALL).close();
    StorageException told = unapplied(StorageException.Reason.BACKUP_BASE, base, target);
    assertTrue(told.getMessage().contains("opened for writing"), told::getMessage);
    refused(StorageException.Reason.BACKUP_BASE, () -> Database.backupId(base));
    refused(StorageException.Reason.BACKUP_BASE, () -> Database.backupId(directory));
    assertEquals(contents(db), applied(copy, target));
  }

  @Test
  void parts_in_another_order_or_of_another_chain_are_refused() {
    BackupReport whole = db.backup(base);
    put(db, "rows", 0, 10, 2, 200);
    BackupReport first = db.backup(target(), since(whole));
    put(db, "rows", 10, 20, 3, 200);
    BackupReport second = db.backup(target(), since(first));
    BackupReport beside = db.backup(target(), since(whole));
    BackupReport other = db.backup(target());
    Path a = first.target();
    Path b = second.target();
    StorageException.Reason wrong = StorageException.Reason.BACKUP_BASE;
    assertTrue(unapplied(wrong, base, b).getMessage().contains(first.id()));
    unapplied(wrong, base, b, a);
    unapplied(wrong, base, a, a);
    unapplied(wrong, base, a, beside.target());
    unapplied(wrong, other.target(), a);
    unapplied(wrong, base, other.target());
    unapplied(wrong, base, a, base);
    unapplied(StorageException.Reason.BACKUP_STREAM, a, b);
    unapplied(StorageException.Reason.NOT_A_DATABASE, temporary.resolve("none"), a);
    unapplied(StorageException.Reason.NOT_A_DATABASE, temporary, a);
    assertThrows(
        IllegalArgumentException.class, () -> Database.applyBackups(List.of(base), target()));
    assertEquals(contents(db), applied(base, a, b));
    assertEquals(contents(db), applied(base, beside.target()));
  }

  @Test
  void a_result_is_the_base_of_later_increments() {
    BackupReport whole = db.backup(base);
    put(db, "rows", 0, 10, 2, 200);
    BackupReport first = db.backup(target(), since(whole));
    Path collapsed = target();
    Database.applyBackups(List.of(base, first.target()), collapsed);
    put(db, "rows", 5, 20, 3, 200);
    assertEquals(contents(db), applied(collapsed, increment(first)));
  }

  @Test
  void the_progress_of_applied_backups_ends_with_all_of_their_bytes() throws IOException {
    BackupReport whole = db.backup(base);
    put(db, "rows", 0, 10, 2, 200);
    Path increment = increment(whole);
    List<RestoreProgress> told = new ArrayList<>();
    Path result = target();
    Database.applyBackups(List.of(base, increment), result, told::add);
    long all =
        Files.size(base.resolve("revenant.data"))
            + Files.size(increment.resolve(BackupTarget.INCREMENT));
    assertEquals(new RestoreProgress(all, all), told.getLast());
    long before = 0;
    for (RestoreProgress progress : told) {
      assertEquals(all, progress.bytesToWrite());
      assertTrue(before <= progress.bytes() && progress.bytes() <= all, told::toString);
      before = progress.bytes();
    }
    assertEquals(contents(db), opened(result));
  }

  /** The first call comes behind the first pages, the last one before the rename. */
  @Test
  void a_listener_ends_the_applying_of_backups_and_nothing_is_left() {
    BackupReport whole = db.backup(base);
    put(db, "rows", 0, 10, 2, 200);
    Path increment = increment(whole);
    for (int part = 0; part < 2; part++) {
      boolean isFirst = part == 0;
      Path result = target();
      assertThrows(
          CancellationException.class,
          () ->
              Database.applyBackups(
                  List.of(base, increment),
                  result,
                  progress -> !isFirst && progress.bytes() < progress.bytesToWrite()));
      assertFalse(Files.exists(result), "something is left");
    }
    Path result = target();
    IllegalStateException thrown = new IllegalStateException("no more");
    CancellationException told =
        assertThrows(
            CancellationException.class,
            () ->
                Database.applyBackups(
                    List.of(base, increment),
                    result,
                    progress -> {
                      throw thrown;
                    }));
    assertEquals(thrown, told.getCause());
    assertFalse(Files.exists(result), "something is left");
    assertEquals(contents(db), applied(base, increment));
  }

  @Test
  void an_increment_is_no_database() {
    BackupReport whole = db.backup(base);
    Path target = increment(whole);
    Map<String, byte[]> before = files(target);
    for (boolean readOnly : new boolean[] {true, false}) {
      StorageException told =
          refused(
              StorageException.Reason.NOT_A_DATABASE,
              () -> Database.open(target, SMALL.withReadOnly(readOnly)));
      assertTrue(told.getMessage().contains("increment"), told::getMessage);
      assertTrue(told.getMessage().contains("apply"), told::getMessage);
    }
    assertSame(before, files(target));
    refused(StorageException.Reason.BACKUP_TARGET, () -> db.backup(target));
    refused(
        StorageException.Reason.BACKUP_TARGET,
        () -> Database.applyBackups(List.of(base, target), target.resolve("inner")));
    refused(
        StorageException.Reason.BACKUP_TARGET,
        () -> Database.applyBackups(List.of(base, target), base.resolve("inner")));
    assertSame(before, files(target));
    assertFalse(Files.exists(base.resolve("inner")));
  }

  @Test
  void a_damaged_base_is_refused_with_the_page() throws IOException {
    BackupReport whole = db.backup(base);
    Path target = increment(whole);
    Path data = base.resolve("revenant.data");
    byte[] good = Files.readAllBytes(data);
    byte[] bad = good.clone();
    bad[40 * PAGE + 5_000] ^= 1;
    Files.write(data, bad);
    StorageException told = unapplied(StorageException.Reason.DAMAGED, base, target);
    assertEquals(data, told.file());
    assertEquals(40L * PAGE, told.offset());
    Files.write(data, Arrays.copyOf(good, good.length / 2));
    unapplied(StorageException.Reason.DAMAGED, base, target);
  }

  @Test
  void a_list_that_is_damaged_refuses_increments_until_the_next_whole_backup() throws IOException {
    BackupReport whole = db.backup(base);
    Path list = directory.resolve(BackupNotes.NAME);
    byte[] bytes = Files.readAllBytes(list);
    for (int at = 0; at < bytes.length; at++) {
      byte[] bad = bytes.clone();
      bad[at] ^= 4;
      Files.write(list, bad);
      Path target = target();
      StorageException told =
          refused(StorageException.Reason.BACKUP_BASE, () -> db.backup(target, since(whole)));
      assertEquals(list, told.file());
      assertFalse(Files.exists(target));
    }
    Files.write(list, Arrays.copyOf(bytes, bytes.length - 1));
    refused(StorageException.Reason.BACKUP_BASE, () -> db.backup(target(), since(whole)));
    reopen();
    assertFalse(Files.exists(list), "an open deletes it");
    BackupReport next = db.backup(target());
    put(db, "rows", 0, 10, 2, 200);
    assertEquals(contents(db), applied(next.target(), increment(next)));
  }

  @Test
  void the_list_has_the_last_backups() {
    BackupNotes notes = notes();
    List<byte[]> ids = new ArrayList<>();
    for (int i = 0; i < BackupNotes.MOST + 3; i++) {
      byte[] id = new byte[16];
      id[0] = (byte) i;
      id[1] = (byte) (i >> 8);
      ids.add(id);
      notes.add(new BackupNotes.Note(id, 4_096 + 8L * i, 8_192 + 8L * i, 1, 8, i));
    }
    List<BackupNotes.Note> read = notes.read(1);
    assertEquals(BackupNotes.MOST, read.size());
    for (int i = 0; i < read.size(); i++) {
      assertArrayEquals(ids.get(i + 3), read.get(i).id());
      assertEquals(4_096 + 8L * (i + 3), read.get(i).redoPoint());
      assertEquals(8_192 + 8L * (i + 3), read.get(i).endOfLog());
    }
    long last = 8_192 + 8L * (BackupNotes.MOST + 2);
    notes.beginLife(last, 1, 2);
    assertEquals(List.of(), notes.read(1));
    assertEquals(BackupNotes.MOST, notes.read(2).size());
    notes.add(new BackupNotes.Note(new byte[16], 4_096, last, 2, 8, 1));
    assertEquals(BackupNotes.MOST, notes.read(2).size());
    notes.beginLife(last - 8, 2, 3);
    assertFalse(Files.exists(temporary.resolve(BackupNotes.NAME)), "the log ends before one");
    assertEquals(List.of(), notes.read(3));
  }

  @Test
  void a_list_that_is_not_of_the_last_life_of_the_files_is_deleted() {
    BackupNotes notes = notes();
    for (int life : new int[] {1, 3}) {
      notes.add(new BackupNotes.Note(new byte[16], 4_096, 8_192, 2, 8, 1));
      notes.beginLife(1 << 20, life, life + 1);
      assertEquals(List.of(), notes.read(life + 1));
      assertFalse(Files.exists(temporary.resolve(BackupNotes.NAME)));
    }
    notes.add(new BackupNotes.Note(new byte[16], 4_096, 8_192, 2, 8, 1));
    notes.add(new BackupNotes.Note(new byte[16], 4_096, 8_192, 4, 8, 1));
    assertEquals(1, notes.read(4).size(), "that of another life does not count");
  }

  private BackupNotes notes() {
    return new BackupNotes(
        temporary,
        new byte[] {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16},
        Ownership.none(),
        new IoStatistics());
  }

  @Test
  void an_increment_of_nothing() {
    BackupReport whole = db.backup(base);
    reopen();
    BackupReport first = db.backup(target(), since(whole));
    BackupReport second = db.backup(target(), since(first));
    assertEquals(contents(db), applied(base, first.target(), second.target()));
  }
}

package org.revenantdb.suite.copies;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.revenantdb.chaos.crash.FileTrees;
import org.revenantdb.chaos.history.HistoryStore;
import org.revenantdb.engine.BackupOptions;
import org.revenantdb.engine.BackupReport;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.StorageException;
import org.revenantdb.history.History;
import org.revenantdb.history.HistoryRecorder;
import org.revenantdb.history.IsolationLevel;

/**
 * Whole backups and increments. One that had returned before a crash is a prefix of the commits,
 * with all that were made before it began. Any other is refused, or is one, too. The database goes
 * on after the crash, and its next increment continues the chain.
 */
class BackupLives extends CopyLives {

  /**
   * A backup.
   *
   * @param chain the targets, the whole backup first
   * @param id for increments; null if it is not finished, or has none
   * @param least the place of the call
   * @param most the place of the return, or {@link History#NEVER}
   */
  private record Backup(List<String> chain, @Nullable String id, long least, long most) {}

  /** An open of the database. */
  private record Opening(long from, long to) {}

  private final List<Opening> openings = new ArrayList<>();
  private final List<Backup> backups = new CopyOnWriteArrayList<>();
  private @Nullable Backup last;
  private int results;

  BackupLives(Machines machines, IsolationLevel level, long seed, RandomGenerator random) {
    super(machines, level, seed, random);
  }

  @Override
  Database open() {
    long from = now();
    Database db = Database.open(machines.path(Machine.SOURCE, DATABASE), small());
    openings.add(new Opening(from, now()));
    return db;
  }

  private boolean isOpening(long place) {
    return openings.stream().anyMatch(one -> one.from < place && place <= one.to);
  }

  @Override
  void beside(Database db) {
    Backup base = last != null && last.id != null && random.nextInt(4) > 0 ? last : null;
    List<String> chain = new ArrayList<>(base == null ? List.of() : base.chain);
    String name = "backup" + backups.size();
    chain.add(name);
    long least = now();
    int index = backups.size();
    backups.add(new Backup(chain, null, least, History.NEVER));
    try {
      BackupReport report = db.backup(machines.path(Machine.ARCHIVE, name), since(base));
      last = new Backup(chain, report.id(), least, now());
      backups.set(index, last);
    } catch (StorageException tooSlow) {
      if (tooSlow.reason() != StorageException.Reason.BACKUP_TOO_SLOW) {
        throw tooSlow;
      }
    }
  }

  private static BackupOptions since(@Nullable Backup base) {
    BackupOptions options = BackupOptions.defaults();
    return base == null || base.id == null ? options : options.withSince(base.id);
  }

  @Override
  List<Long> places() {
    return backups.stream().map(Backup::most).filter(place -> place != History.NEVER).toList();
  }

  @Override
  void check(Crashed crashed) throws Exception {
    List<Backup> whole = backups.stream().filter(one -> one.most < crashed.place()).toList();
    if (!whole.isEmpty()) {
      Backup one = whole.get(random.nextInt(whole.size()));
      copy(
          "backup " + one.chain + " from " + one.least + " to " + one.most,
          history().cutBetween(one.least, one.most),
          made(crashed, one.chain));
    }
    for (Backup one : backups) {
      if (one.least < crashed.place() && one.most >= crashed.place()) {
        unfinished(crashed, one);
      }
    }
    proceed(crashed, whole.isEmpty() ? null : whole.getLast());
  }

  private void unfinished(Crashed crashed, Backup one) throws Exception {
    Database copy;
    try {
      copy = made(crashed, one.chain);
    } catch (StorageException told) {
      refused(
          told, // but MISSING_FILE never: a copy gets its name when all its files have theirs
          StorageException.Reason.NOT_A_DATABASE,
          StorageException.Reason.BACKUP_BASE); // of an increment nothing is left
      return;
    }
    copy("unfinished backup " + one.chain, history().cutBetween(one.least, crashed.place()), copy);
  }

  /** Recovers the database, works, and makes the next backup. */
  private void proceed(Crashed crashed, @Nullable Backup base) throws Exception {
    History before = history().cutAt(crashed.place());
    HistoryRecorder recorder = HistoryRecorder.after(before);
    int life = before.lives() - 1;
    List<String> chain;
    Database db = Database.open(crashed.path(Machine.SOURCE, DATABASE), small());
    try (HistoryStore store = on(db)) {
      live(recorder, life, store);
      chain = next(crashed, db, base);
    }
    recorder.closed();
    live(recorder, life + 1, made(crashed, chain));
    judge(recorder.history(), "backup after the crash, " + chain);
  }

  /** An increment since a base that is still known; else a whole backup. */
  private List<String> next(Crashed crashed, Database db, @Nullable Backup base) {
    Path target = crashed.path(Machine.ARCHIVE, "next");
    List<String> chain = new ArrayList<>();
    if (base != null && base.id != null) {
      chain.addAll(base.chain);
    }
    try {
      db.backup(target, since(base));
    } catch (StorageException told) {
      if (base == null || !isOpening(crashed.place())) {
        throw told;
      }
      // A crash between the begin of a life and the new list of backups costs the list.
      refused(told, StorageException.Reason.BACKUP_BASE);
      db.backup(target);
      chain.clear();
    }
    chain.add("next");
    return chain;
  }

  /** Opens what a chain makes. */
  Database made(Crashed crashed, List<String> chain) {
    List<Path> parts = chain.stream().map(name -> crashed.path(Machine.ARCHIVE, name)).toList();
    Path result = crashed.path(Machine.ARCHIVE, "result" + results++);
    if (parts.size() > 1) {
      Database.applyBackups(parts, result);
    } else {
      FileTrees.copy(parts.getFirst(), result);
    }
    return Database.open(result, small().withCreate(false));
  }
}

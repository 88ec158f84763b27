package org.revenantdb.collections;

import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Tag;
import org.revenantdb.chaos.junit.CrashTest;
import org.revenantdb.chaos.subject.Crash;
import org.revenantdb.chaos.subject.CrashSubject;
import org.revenantdb.chaos.subject.Promises;
import org.revenantdb.chaos.subject.Recovered;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseOptions;

/**
 * A feed whose commits go by their age, after power cuts and kills: what is left is a whole end of
 * what was committed, nothing young is gone, and the next life removes what gets old.
 *
 * <p>The time is behind the last row that was committed, over all lives, so no life sees it go
 * back.
 */
@Tag("slow")
@CrashTest(crash = Crash.POWER_CUT, states = 12, seed = 20_261_130)
class ChangeFeedRetentionCrashTest implements CrashSubject<ChangeFeedRetentionCrashTest.Journal> {
  private static final int COMMITS = 80;
  private static final long AGE = 20;

  /** A watched table with a row for each moment, and the time to which a check has gone on. */
  record Journal(
      Database db,
      TypedTable<Long, String> rows,
      TypedTable<Long, Long> checked,
      ChangeFeed feed,
      AtomicLong now)
      implements AutoCloseable {
    @Override
    public void close() {
      db.close();
    }
  }

  @Override
  public Journal open(Path dir) {
    Database db =
        Database.open(
            dir.resolve("db"),
            DatabaseOptions.defaults().withPoolBytes(4 << 20).withLogSegmentBytes(1 << 20));
    TypedTable<Long, String> rows = TypedTable.open(db, "rows", Keys.longs(), Codecs.strings());
    TypedTable<Long, Long> checked = TypedTable.open(db, "checked", Keys.longs(), Codecs.longs());
    AtomicLong now = new AtomicLong();
    db.read(tx -> {
      rows.scan(tx).stream().forEach(row -> now.set(row.key() + 1));
      checked.scan(tx).stream().forEach(row -> now.accumulateAndGet(row.value(), Math::max));
      return null;
    });
    ChangeFeed feed = ChangeFeed.open(db, "feed");
    long _ = feed.watch(rows);
    feed.retain(
        FeedRetention.of(Duration.ofMillis(AGE))
            .withClock(() -> Instant.ofEpochMilli(now.get()))
            .withTrimmer(false));
    return new Journal(db, rows, checked, feed, now);
  }

  @Override
  public void work(Journal journal, Promises promises) {
    for (int i = 0; i < COMMITS; i++) {
      long moment = journal.now.get();
      String text = promises.seed() + "/" + i;
      promises.attempt(text, text);
      journal.db.run(tx -> journal.rows.put(tx, moment, text));
      promises.durable(text, text);
      journal.now.set(moment + 1);
      if (i % 3 == 0) {
        long _ = journal.feed.trimOld();
      }
    }
  }

  @Override
  public void check(Journal journal, Recovered recovered) {
    Map<String, String> content = new HashMap<>();
    List<Long> inTable = new ArrayList<>();
    journal.db.read(tx -> {
      journal.rows.scan(tx).stream()
          .forEach(row -> {
            inTable.add(row.key());
            content.put(row.value(), row.value());
          });
      return null;
    });
    recovered.verifyAll(content);
    List<Long> inFeed = new ArrayList<>();
    try {
      long _ =
          journal.feed.read(
              journal.feed.first(),
              Long.MAX_VALUE,
              commit -> commit.forEach(journal.rows, (key, _) -> inFeed.add(key)));
    } catch (Exception failure) {
      recovered.demand(false, "the feed cannot be read: " + failure);
    }
    int gone = inTable.size() - inFeed.size();
    recovered.demand(
        gone >= 0 && inTable.subList(gone, inTable.size()).equals(inFeed),
        "the feed has " + inFeed + ", the table " + inTable);
    recovered.demand(
        gone == 0 || inTable.get(gone - 1) + AGE <= journal.now.get(),
        gone + " commits are gone at " + journal.now);
    // What the crash has left of the marks is enough for the rest to go.
    journal.db.run(tx -> journal.checked.put(tx, 0L, journal.now.get() + 2 * AGE));
    long _ = journal.feed.trimOld();
    journal.now.addAndGet(AGE);
    long _ = journal.feed.trimOld();
    journal.now.addAndGet(AGE);
    long _ = journal.feed.trimOld();
    recovered.demand(
        journal.feed.first() == journal.feed.position(),
        "commits behind " + journal.feed.first() + " do not go");
  }
}

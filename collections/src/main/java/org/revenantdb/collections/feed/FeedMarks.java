package org.revenantdb.collections.feed;

import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.Cursor;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.Transaction;

/**
 * How old the commits of a feed are: marks, each of a position and a time. Thread-safe.
 *
 * <pre>
 * marks     key     position (8 bytes)
 *           value   time in milliseconds (8 bytes)
 * </pre>
 */
public final class FeedMarks {
  /*
   * Protocol    §53, with the crash table.
   *
   * Invariants  I1 What a mark says is true by the clock that was read last: each commit up to its position is not
   *             younger than its time. The time is read behind the position, and lowered only to one that is read later.
   *             I2 A commit that was made before a pass has a mark behind it a 64th of the age later, or is trimmed.
   *             I3 There are about 64 marks: a new one is a 64th of the age younger than the one before, one whose age
   *             has come goes with its commits, and those of the future become one. (ChangeFeedRetentionTest)
   */

  /** Marks within one age. */
  private static final int PARTS = 64;

  private final Table table;
  private final long age;
  private final InstantSource clock;

  private record Mark(long position, long time) {}

  /**
   * What a pass has found.
   *
   * @param old all commits up to this position have reached the age; 0 if there is none
   * @param next in how many milliseconds another pass has something to do; {@link Long#MAX_VALUE}
   *     if only a commit can give it something
   */
  public record Pass(long old, long next) {}

  FeedMarks(Table table, long age, InstantSource clock) {
    this.table = table;
    this.age = age;
    this.clock = clock;
  }

  /** Brings the marks up to date, in a transaction that may be repeated. */
  Pass pass(Transaction tx, long trimmed, long last) {
    List<Mark> marks = read(tx);
    long now = clock.millis(); // behind the position, or a later commit could get the time
    Mark newest = lower(tx, marks, trimmed, now);
    if (last > (newest == null ? trimmed : newest.position)
        && (newest == null || newest.time <= before(now, Math.max(1, age / PARTS)))) {
      newest = new Mark(last, now);
      store(tx, newest);
    }
    long old = 0;
    long next = Long.MAX_VALUE;
    long limit = before(now, age);
    for (Mark mark : read(tx)) {
      if (mark.time <= limit) {
        old = mark.position;
      } else {
        next = Math.min(next, mark.time - limit);
      }
    }
    if (newest != null && last > newest.position) {
      next = Math.min(next, newest.time - before(now, Math.max(1, age / PARTS)));
    }
    return new Pass(old, next);
  }

  private List<Mark> read(Transaction tx) {
    List<Mark> marks = new ArrayList<>();
    try (Cursor rows = tx.scan(table, null, null)) {
      while (rows.next()) {
        marks.add(new Mark(FeedRecord.number(rows.key()), FeedRecord.number(rows.value())));
      }
    }
    return marks;
  }

  /**
   * Deletes marks of what is trimmed. Those whose time is still to come, because the clock was set
   * back, become one of now.
   *
   * @return the last mark, if there is one
   */
  private @Nullable Mark lower(Transaction tx, List<Mark> marks, long trimmed, long now) {
    Mark newest = null;
    long early = 0;
    for (Mark mark : marks) {
      boolean isEarly = mark.time > now;
      if (isEarly || mark.position <= trimmed) {
        boolean _ = tx.delete(table, FeedRecord.number(mark.position));
      }
      if (mark.position > trimmed) {
        newest = mark;
        early = isEarly ? mark.position : early;
      }
    }
    if (early == 0) {
      return newest;
    }
    Mark lowered = new Mark(early, now);
    store(tx, lowered);
    return newest == null || newest.position == early ? lowered : newest;
  }

  private void store(Transaction tx, Mark mark) {
    tx.put(table, FeedRecord.number(mark.position), FeedRecord.number(mark.time));
  }

  /** A time that is earlier by a number of milliseconds, or the first one that there is. */
  private static long before(long time, long millis) {
    return Math.max(time, Long.MIN_VALUE + millis) - millis;
  }
}

package org.example.events;

import java.util.stream.Stream;
import org.revenantdb.collections.ChangeFeed;
import org.revenantdb.collections.Codecs;
import org.revenantdb.collections.FeedSubscription;
import org.revenantdb.collections.Keys;
import org.revenantdb.collections.Row;
import org.revenantdb.collections.Tuple2;
import org.revenantdb.collections.TypedTable;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.Transaction;

/**
 * Accounts as the sequences of their events. The state of an account is its last snapshot and the
 * events behind that. A projection has the total of all accounts, by a change feed.
 */
public final class EventStore {
  private static final int EVENTS_A_SNAPSHOT = 10;

  private final Database db;
  private final Tuple2.Codec<String, Long> keys = Keys.tuple(Keys.strings(), Keys.longs());
  private final TypedTable<Tuple2<String, Long>, Event> events;
  private final TypedTable<String, Snapshot> snapshots;
  private final TypedTable<String, Long> totals;
  private final ChangeFeed feed;

  public EventStore(Database db) {
    this.db = db;
    events = TypedTable.open(db, "events", keys, Codecs.records(Event.class));
    snapshots = TypedTable.open(db, "snapshots", Keys.strings(), Codecs.records(Snapshot.class));
    totals = TypedTable.open(db, "totals", Keys.strings(), Codecs.longs());
    feed = ChangeFeed.open(db, "events");
    feed.watch(events);
  }

  /**
   * Appends an event. Two that append to the same account at once are in conflict, and one is
   * repeated by {@code run}.
   *
   * @return the number of the event
   */
  public long append(String account, Event event) {
    return db.call(tx -> {
      Snapshot now = state(tx, account);
      long balance = now.balance() + event.change();
      if (balance < 0) {
        throw new IllegalArgumentException(
            "account " + account + " has " + now.balance() + ", too little for " + event);
      }
      long number = now.number() + 1;
      Event before = events.putIfAbsent(tx, Tuple2.of(account, number), event);
      if (before != null) {
        throw new IllegalStateException("event " + number + " of " + account + " is there");
      }
      if (number % EVENTS_A_SNAPSHOT == 0) {
        snapshots.put(tx, account, new Snapshot(number, balance));
      }
      return number;
    });
  }

  public Snapshot state(String account) {
    return db.read(tx -> state(tx, account));
  }

  private Snapshot state(Transaction tx, String account) {
    Snapshot stored = snapshots.get(tx, account);
    long number = stored == null ? 0 : stored.number();
    long balance = stored == null ? 0 : stored.balance();
    try (Stream<Row<Tuple2<String, Long>, Event>> rows =
        events.scan(tx).in(keys.prefix(account).greaterThan(number)).stream()) {
      for (var row : rows.toList()) {
        number = row.key().second();
        balance += row.value().change();
      }
    }
    return new Snapshot(number, balance);
  }

  /** Starts the projection where it has ended: its position is stored with what it has made. */
  public FeedSubscription startProjection() {
    Long position = db.read(tx -> totals.get(tx, "position"));
    return feed.follow(
        position == null ? 0 : position,
        commit ->
            db.run(tx -> {
              commit.forEach(
                  events,
                  (key, event) -> {
                    if (event != null) { // events are never deleted
                      totals.merge(tx, "total", event.change(), Long::sum);
                    }
                  });
              totals.put(tx, "position", commit.position());
            }));
  }

  /** The total as the projection has it. */
  public long total() {
    Long total = db.read(tx -> totals.get(tx, "total"));
    return total == null ? 0 : total;
  }

  /** The position of the last event; the projection is as far when its position is the same. */
  public long position() {
    return feed.position();
  }

  TypedTable<Tuple2<String, Long>, Event> events() {
    return events;
  }
}

package org.example.orders;

import java.time.InstantSource;
import java.util.List;
import org.revenantdb.collections.ChangeFeed;
import org.revenantdb.collections.Codecs;
import org.revenantdb.collections.Delivery;
import org.revenantdb.collections.Expiry;
import org.revenantdb.collections.FeedSubscription;
import org.revenantdb.collections.Index;
import org.revenantdb.collections.Keys;
import org.revenantdb.collections.TypedTable;
import org.revenantdb.collections.WorkQueue;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.Sequence;
import org.revenantdb.engine.Transaction;

/**
 * Orders. Placing one adds it to the queue of what has to be shipped, in the same transaction. Each
 * change is published by an outbox. Shipped orders are removed after thirty days.
 */
public final class OrderService implements AutoCloseable {
  private final Database db;
  private final InstantSource clock;
  private final Sequence ids;
  private final TypedTable<Long, Order> orders;
  private final Index<String, Long, Order> byCustomer;
  private final WorkQueue<Long> toShip;
  private final ChangeFeed changes;
  private final TypedTable<String, Long> published;

  /** Where the outbox publishes. It may receive the last message again after a crash. */
  public interface Publisher {
    void publish(long id, long order, String state);
  }

  public OrderService(Database db, InstantSource clock) {
    this.db = db;
    this.clock = clock;
    ids = db.getOrCreateSequence("order ids");
    orders =
        TypedTable.open(db, "orders", Keys.longs(), Codecs.records(Order.class))
            .expire(Expiry.at(Order::expires).withClock(clock));
    byCustomer = orders.index("by customer", Index.of(Keys.strings(), Order::customer));
    changes = ChangeFeed.open(db, "outbox");
    changes.watch(orders);
    published = TypedTable.open(db, "published", Keys.strings(), Codecs.longs());
    toShip = WorkQueue.open(db, "to ship", Codecs.longs());
  }

  /** Places an order: the order and the work are there together, or neither is. */
  public long place(String customer, long cents) {
    long id = ids.next();
    db.run(tx -> {
      orders.put(tx, id, new Order(customer, "placed", cents, null));
      toShip.offer(tx, id);
    });
    return id;
  }

  /** Starts workers that ship: work and acknowledgement are one transaction. */
  public void startShipping(int workers) {
    toShip.consume(workers, (tx, delivery) -> ship(tx, delivery));
  }

  private void ship(Transaction tx, Delivery<Long> delivery) {
    orders.compute(
        tx, delivery.item(), (id, order) -> order == null ? null : order.shipped(clock.instant()));
  }

  /** Starts the outbox behind the last message that was published. */
  public FeedSubscription startPublishing(Publisher publisher) {
    Long last = db.read(tx -> published.get(tx, "last"));
    return changes.follow(
        last == null ? 0 : last,
        commit -> {
          commit.forEach(
              orders,
              (order, now) ->
                  publisher.publish(
                      commit.position(), order, now == null ? "removed" : now.state()));
          db.run(tx -> published.put(tx, "last", commit.position()));
          changes.trim(commit.position()); // there is one consumer
        });
  }

  public List<Order> ofCustomer(String customer) {
    return db.read(tx ->
        byCustomer.scan(tx).equalTo(customer).stream().map(row -> row.value()).toList());
  }

  public long waitingToShip() {
    return db.read(toShip::size);
  }

  TypedTable<Long, Order> orders() {
    return orders;
  }

  /** Waits for work that has begun. Close the subscription of the outbox before. */
  @Override
  public void close() {
    toShip.close();
  }
}

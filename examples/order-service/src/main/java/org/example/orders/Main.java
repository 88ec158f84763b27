package org.example.orders;

import java.nio.file.Path;
import java.time.InstantSource;
import java.util.concurrent.CountDownLatch;
import org.revenantdb.collections.FeedSubscription;
import org.revenantdb.engine.Database;

/** Places some orders, ships them, and prints what the outbox publishes. */
public final class Main {
  private static final int ORDERS = 5;

  private Main() {}

  public static void main(String[] arguments) throws Exception {
    CountDownLatch shipped = new CountDownLatch(ORDERS);
    try (Database db = Database.open(Path.of(arguments.length > 0 ? arguments[0] : "orders.db"));
        OrderService service = new OrderService(db, InstantSource.system());
        FeedSubscription outbox =
            service.startPublishing(
                (id, order, state) -> {
                  System.out.println("message " + id + ": order " + order + " is " + state);
                  if (state.equals("shipped")) {
                    shipped.countDown();
                  }
                })) {
      service.startShipping(2);
      for (int i = 0; i < ORDERS; i++) {
        service.place("Ada", 100 + i);
      }
      shipped.await();
      System.out.println("outbox at " + outbox.position() + ": " + service.ofCustomer("Ada"));
    }
  }
}

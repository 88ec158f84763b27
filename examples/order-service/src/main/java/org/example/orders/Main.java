package org.example.orders;

import java.nio.file.Path;
import java.time.InstantSource;
import java.util.concurrent.CountDownLatch;
import org.revenantdb.collections.FeedSubscription;
import org.revenantdb.engine.Database;

/**
 * Places some orders, ships them, and prints what the outbox publishes. Arguments: the directory of
 * the database, and the port of the meters; with a port it goes on until it is stopped.
 */
public final class Main {
  private static final int ORDERS = 5;

  private Main() {}

  public static void main(String[] arguments) throws Exception {
    CountDownLatch shipped = new CountDownLatch(ORDERS);
    try (Database db = Database.open(Path.of(arguments.length > 0 ? arguments[0] : "orders.db"));
        OrderService service = new OrderService(db, InstantSource.system());
        Metrics metrics = new Metrics(db, service);
        FeedSubscription outbox =
            service.startPublishing(
                metrics.counting(
                    (id, order, state) -> {
                      System.out.println("message " + id + ": order " + order + " is " + state);
                      if (state.equals("shipped")) {
                        shipped.countDown();
                      }
                    }))) {
      if (arguments.length > 1) {
        int port = metrics.serve(Integer.parseInt(arguments[1]));
        System.out.println("http://localhost:" + port + "/metrics");
      }
      service.startShipping(2);
      for (int i = 0; i < ORDERS; i++) {
        service.place("Ada", 100 + i);
        metrics.placed();
      }
      shipped.await();
      System.out.println("outbox at " + outbox.position() + ": " + service.ofCustomer("Ada"));
      if (arguments.length > 1) {
        Thread.currentThread().join();
      }
    }
  }
}

package org.example.orders;

import java.nio.file.Path;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import org.revenantdb.chaos.junit.CrashTest;
import org.revenantdb.chaos.subject.CrashSubject;
import org.revenantdb.chaos.subject.Promises;
import org.revenantdb.chaos.subject.Recovered;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseOptions;

/** After a power cut an order that was placed is there, and is shipped or waits to be. */
@CrashTest(states = 40)
class OrderServiceCrashTest implements CrashSubject<OrderServiceCrashTest.Shop> {
  private static final int ORDERS = 30;

  record Shop(Database db, OrderService service) implements AutoCloseable {
    @Override
    public void close() {
      service.close();
      db.close();
    }
  }

  @Override
  public Shop open(Path dir) {
    Database db =
        Database.open(
            dir.resolve("db"),
            DatabaseOptions.defaults().withPoolBytes(4 << 20).withLogSegmentBytes(1 << 20));
    return new Shop(db, new OrderService(db, () -> Instant.EPOCH));
  }

  @Override
  public void work(Shop shop, Promises promises) {
    shop.service.startShipping(2);
    for (int i = 0; i < ORDERS; i++) {
      String customer = promises.seed() + "/" + i;
      promises.attempt(customer, "100");
      shop.service.place(customer, 100);
      promises.durable(customer, "100");
    }
  }

  @Override
  public void check(Shop shop, Recovered recovered) {
    Map<String, String> content = new HashMap<>();
    long[] placed = {0};
    shop.db.read(tx -> {
      try (var rows = shop.service.orders().scan(tx).stream()) {
        rows.forEach(row -> {
          content.put(row.value().customer(), String.valueOf(row.value().cents()));
          placed[0] += row.value().state().equals("placed") ? 1 : 0;
        });
      }
      return null;
    });
    recovered.verifyAll(content);
    long waiting = shop.service.waitingToShip();
    recovered.demand(
        waiting == placed[0], waiting + " wait to be shipped, " + placed[0] + " are not shipped");
  }
}

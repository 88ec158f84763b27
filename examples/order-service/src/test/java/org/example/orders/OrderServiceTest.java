package org.example.orders;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.collections.FeedSubscription;
import org.revenantdb.engine.Database;

class OrderServiceTest {
  @Test
  void an_order_is_shipped_published_and_removed_after_a_month(@TempDir Path folder)
      throws Exception {
    AtomicReference<Instant> now = new AtomicReference<>(Instant.parse("2026-11-01T00:00:00Z"));
    List<String> messages = Collections.synchronizedList(new ArrayList<>());
    CountDownLatch shipped = new CountDownLatch(1);
    try (Database db = Database.open(folder.resolve("db"));
        OrderService service = new OrderService(db, now::get)) {
      try (FeedSubscription outbox =
          service.startPublishing(
              (id, order, state) -> {
                messages.add(state);
                if (state.equals("shipped")) {
                  shipped.countDown();
                }
              })) {
        service.place("Ada", 100);
        assertEquals(1, service.ofCustomer("Ada").size());
        service.startShipping(1);
        shipped.await();
        assertNull(outbox.failure());
      }
      assertEquals(List.of("placed", "shipped"), messages);
      assertEquals(0, service.waitingToShip());
      now.set(now.get().plus(Order.KEPT));
      assertEquals(List.of(), service.ofCustomer("Ada"));
    }
  }
}

package org.revenantdb.collections;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseClosedException;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.Durability;
import org.revenantdb.engine.Transaction;
import org.revenantdb.engine.TransactionCall;

/** Offers, deliveries, failures and the end of a queue. */
class WorkQueueTest {
  /** A clock that a test moves. */
  private static final class TestClock implements InstantSource {
    private volatile Instant now = Instant.parse("2026-05-01T00:00:00Z");

    @Override
    public Instant instant() {
      return now;
    }
  }

  private final TestClock clock = new TestClock();
  private Path folder;
  private Database db;

  @BeforeEach
  void open(@TempDir Path directory) {
    folder = directory;
    reopen();
  }

  private void reopen() {
    db =
        Database.open(
            folder.resolve("db"),
            DatabaseOptions.defaults().withPoolBytes(8L << 20).withDurability(Durability.LAZY));
  }

  @AfterEach
  void close() {
    db.close();
  }

  private WorkQueueOptions options() {
    return WorkQueueOptions.defaults()
        .withClock(clock)
        .withVisibility(Duration.ofSeconds(10))
        .withRetryDelay(Duration.ofSeconds(2))
        .withMaxAttempts(2);
  }

  private WorkQueue<String> queue() {
    return WorkQueue.open(db, "jobs", Codecs.strings(), options());
  }

  private void later(WorkQueue<?> queue, int seconds) {
    clock.now = clock.now.plusSeconds(seconds);
    queue.clockMoved();
  }

  private static Delivery<String> demand(WorkQueue<String> queue) throws InterruptedException {
    Delivery<String> delivery = queue.poll(Duration.ZERO);
    assertNotNull(delivery);
    return delivery;
  }

  private static @Nullable String text(@Nullable Delivery<String> delivery) {
    return delivery == null ? null : delivery.item();
  }

  private static void awaitWaiting(WorkQueue<?> queue, int threads) {
    while (queue.waiting() < threads) {
      LockSupport.parkNanos(1_000_000);
    }
  }

  private long size(WorkQueue<String> queue) {
    return count(queue::size);
  }

  private long count(TransactionCall<Long> counted) {
    return db.read(counted);
  }

  private boolean did(TransactionCall<Boolean> statement) {
    return db.call(statement);
  }

  @Test
  void items_come_in_the_order_of_the_offers_and_only_those_that_were_committed() throws Exception {
    try (WorkQueue<String> queue = queue()) {
      queue.offer("a");
      try (Transaction tx = db.begin()) {
        queue.offer(tx, "never");
      }
      db.run(tx -> {
        queue.offer(tx, "b");
        queue.offer(tx, "c");
      });
      assertEquals(3, size(queue));
      Delivery<String> first = demand(queue);
      assertEquals("a", first.item());
      assertEquals(1, first.attempt());
      first.acknowledge();
      Delivery<String> second = demand(queue);
      assertEquals("b", second.item());
      assertEquals("c", text(queue.take()));
      assertNull(queue.poll(Duration.ZERO));
      assertEquals(2, size(queue));
      try (Transaction tx = db.begin()) {
        second.acknowledge(tx); // rolled back
      }
      second.acknowledge();
      assertThrows(DeliveryLostException.class, second::acknowledge);
      assertEquals(1, size(queue));
    }
  }

  @Test
  void items_with_a_priority_come_first() throws Exception {
    try (WorkQueue<String> queue =
        WorkQueue.ordered(
            db, "jobs", Codecs.strings(), Keys.ints().descending(), String::length, options())) {
      for (String item : List.of("1", "333", "22", "444", "5")) {
        queue.offer(item);
      }
      List<@Nullable String> taken = new ArrayList<>();
      for (int i = 0; i < 5; i++) {
        taken.add(text(queue.take()));
      }
      assertEquals(List.of("333", "444", "22", "1", "5"), taken);
    }
  }

  @Test
  void an_offer_that_is_refused_leaves_nothing() throws Exception {
    try (WorkQueue<String> queue =
        WorkQueue.ordered(db, "jobs", Codecs.strings(), Keys.strings(), x -> x, options())) {
      db.run(tx -> {
        assertThrows(RuntimeException.class, () -> queue.offer(tx, "x".repeat(2_000)));
        queue.offer(tx, "short");
      });
      assertEquals("short", demand(queue).item());
      TypedTable<Long, String> items = TypedTable.open(db, "jobs", Keys.longs(), Codecs.strings());
      assertEquals(1, count(tx -> items.scan(tx).count()));
    }
  }

  @Test
  void a_thread_that_waits_is_woken_by_the_commit_and_not_by_the_offer() throws Exception {
    try (WorkQueue<String> queue = queue();
        WorkQueue<String> same = queue()) {
      BlockingQueue<String> taken = new LinkedBlockingQueue<>();
      Thread consumer =
          Thread.ofVirtual()
              .start(() -> {
                try {
                  taken.add(String.valueOf(text(queue.take())));
                } catch (InterruptedException e) {
                  throw new AssertionError(e);
                }
              });
      awaitWaiting(queue, 1);
      try (Transaction tx = db.begin()) {
        same.offer(tx, "a");
        queue.clockMoved(); // wakes it, and there is nothing
        assertTrue(taken.isEmpty());
        tx.commit();
      }
      assertEquals("a", taken.take());
      consumer.join();
      assertEquals(0, queue.waiting());
    }
  }

  @Test
  void each_of_many_waiting_threads_gets_one_of_the_items_of_a_commit() throws Exception {
    int threads = 200;
    try (WorkQueue<String> queue = queue()) {
      BlockingQueue<String> taken = new LinkedBlockingQueue<>();
      List<Thread> consumers = new ArrayList<>();
      for (int i = 0; i < threads; i++) {
        consumers.add(
            Thread.ofVirtual()
                .start(() -> {
                  try {
                    taken.add(String.valueOf(text(queue.take())));
                  } catch (InterruptedException e) {
                    throw new AssertionError(e);
                  }
                }));
      }
      awaitWaiting(queue, threads);
      db.run(tx -> {
        for (int i = 0; i < threads; i++) {
          queue.offer(tx, "item " + i);
        }
      });
      for (Thread consumer : consumers) {
        consumer.join();
      }
      assertEquals(threads, taken.stream().distinct().count());
    }
  }

  @Test
  void an_item_with_a_delay_comes_when_it_is_due_also_to_a_thread_that_waits() throws Exception {
    try (WorkQueue<String> queue = queue()) {
      db.run(tx -> queue.offer(tx, "late", Duration.ofSeconds(60)));
      assertNull(queue.poll(Duration.ZERO));
      BlockingQueue<String> taken = new LinkedBlockingQueue<>();
      Thread consumer =
          Thread.ofPlatform()
              .start(() -> {
                try {
                  for (int i = 0; i < 2; i++) {
                    Delivery<String> delivery = Objects.requireNonNull(queue.take());
                    delivery.acknowledge();
                    taken.add(delivery.item());
                  }
                } catch (InterruptedException e) {
                  throw new AssertionError(e);
                }
              });
      awaitWaiting(queue, 1);
      later(queue, 59);
      db.run(tx -> queue.offer(tx, "later", Duration.ofSeconds(60)));
      assertTrue(taken.isEmpty());
      later(queue, 1);
      assertEquals("late", taken.take());
      later(queue, 60);
      assertEquals("later", taken.take());
      consumer.join();
    }
  }

  /** The time is real here: a delay ends though nobody commits anything. */
  @Test
  void a_thread_that_waits_wakes_up_when_an_item_is_due() throws Exception {
    try (WorkQueue<String> queue = WorkQueue.open(db, "jobs", Codecs.strings())) {
      db.run(tx -> queue.offer(tx, "soon", Duration.ofMillis(50)));
      assertEquals("soon", text(queue.take()));
    }
  }

  @Test
  void an_item_that_is_not_acknowledged_in_time_is_delivered_again_and_then_given_up()
      throws Exception {
    try (WorkQueue<String> queue = queue()) {
      queue.offer("a");
      Delivery<String> first = demand(queue);
      later(queue, 9);
      assertNull(queue.poll(Duration.ZERO));
      first.extend(Duration.ofSeconds(10));
      later(queue, 9);
      assertNull(queue.poll(Duration.ZERO));
      later(queue, 1);
      Delivery<String> second = demand(queue);
      assertEquals(2, second.attempt());
      assertThrows(DeliveryLostException.class, first::acknowledge);
      assertThrows(DeliveryLostException.class, () -> first.extend(Duration.ofSeconds(1)));
      first.retry("too late"); // does nothing
      later(queue, 10);
      assertNull(queue.poll(Duration.ZERO));
      assertThrows(DeliveryLostException.class, second::acknowledge);
      List<DeadLetter<String>> dead = db.read(tx -> queue.deadLetters(tx).toList());
      assertEquals(1, dead.size());
      assertEquals("a", dead.getFirst().item());
      assertEquals(2, dead.getFirst().attempts());
      assertEquals(0, size(queue));
      long id = dead.getFirst().id();
      assertTrue(did(tx -> queue.revive(tx, id)));
      assertFalse(did(tx -> queue.revive(tx, id)));
      assertEquals(1, demand(queue).attempt());
    }
  }

  @Test
  void an_acknowledgement_on_its_way_is_not_overtaken_by_the_end_of_the_visibility()
      throws Exception {
    try (WorkQueue<String> queue = queue()) {
      queue.offer("a");
      queue.offer("b");
      Delivery<String> delivery = demand(queue);
      try (Transaction tx = db.begin()) {
        delivery.acknowledge(tx);
        later(queue, 11);
        assertEquals("b", demand(queue).item());
        assertNull(queue.poll(Duration.ZERO));
        tx.commit();
      }
      assertEquals(1, size(queue));
    }
  }

  /** A delivery is a lazy commit, whose row the acknowledgement reads. */
  @Test
  void an_acknowledgement_of_its_own_waits_for_one_force_and_not_for_that_of_the_delivery(
      @TempDir Path directory) throws Exception {
    DatabaseOptions durable =
        DatabaseOptions.defaults()
            .withPoolBytes(8L << 20)
            .withDurability(Durability.DURABLE)
            .withMaxLazyDelay(Duration.ofHours(1)); // so nothing else forces the delivery
    try (Database other = Database.open(directory.resolve("durable"), durable);
        WorkQueue<String> queue = WorkQueue.open(other, "jobs", Codecs.strings(), options())) {
      queue.offer("a");
      Delivery<String> delivery = demand(queue);
      long waits = other.statistics().commits().durableReadWaits();
      delivery.acknowledge();
      assertEquals(waits, other.statistics().commits().durableReadWaits());
    }
  }

  @Test
  void work_that_throws_is_done_again_after_a_delay_and_then_given_up() throws Exception {
    try (WorkQueue<String> queue = queue()) {
      TypedTable<String, String> done =
          TypedTable.open(db, "done", Keys.strings(), Codecs.strings());
      queue.offer("a");
      WorkQueue.Work<String> fails =
          (tx, delivery) -> {
            done.put(tx, delivery.item(), "half");
            throw new IllegalStateException("no paper");
          };
      assertTrue(queue.process(fails));
      assertNull(queue.poll(Duration.ZERO));
      later(queue, 2);
      assertTrue(queue.process(fails));
      assertNull(db.read(tx -> done.get(tx, "a")));
      DeadLetter<String> dead = db.read(tx -> queue.deadLetters(tx).findFirst().orElseThrow());
      assertTrue(dead.reason().contains("no paper"), dead.reason());
      assertTrue(did(tx -> queue.discard(tx, dead.id())));
      assertFalse(did(tx -> queue.discard(tx, dead.id())));
      assertEquals(0, count(tx -> queue.deadLetters(tx).count()));
    }
  }

  @Test
  void an_item_that_cannot_be_read_does_not_stop_the_queue() throws Exception {
    Codec<String> picky =
        Codec.of(
            String::getBytes,
            bytes -> {
              if (bytes.length == 3) {
                throw new IllegalArgumentException("three bytes");
              }
              return new String(bytes, java.nio.charset.StandardCharsets.US_ASCII);
            });
    try (WorkQueue<String> queue = WorkQueue.open(db, "jobs", picky, options())) {
      queue.offer("bad");
      queue.offer("good");
      assertEquals("good", demand(queue).item());
      DeadLetter<String> dead = db.read(tx -> queue.deadLetters(tx).findFirst().orElseThrow());
      assertNull(dead.item());
      assertTrue(dead.reason().contains("three bytes"), dead.reason());
    }
  }

  @Test
  void what_a_former_life_had_delivered_is_delivered_again_at_once() throws Exception {
    queue().offer("a");
    assertEquals("a", demand(queue()).item());
    assertNull(queue().poll(Duration.ZERO));
    db.close();
    reopen();
    try (WorkQueue<String> queue = queue()) {
      assertEquals(2, demand(queue).attempt());
    }
    try (WorkQueue<String> queue = queue()) { // the second one in this life takes nothing back
      assertNull(queue.poll(Duration.ZERO));
    }
  }

  @Test
  void close_wakes_all_that_wait_and_ends_the_consumers() throws Exception {
    WorkQueue<String> queue = queue();
    AtomicInteger ended = new AtomicInteger();
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < 1_000; i++) {
      threads.add(
          Thread.ofVirtual()
              .start(() -> {
                try {
                  assertNull(queue.take());
                  ended.incrementAndGet();
                } catch (InterruptedException e) {
                  throw new AssertionError(e);
                }
              }));
    }
    queue.consume(8, (tx, delivery) -> {});
    awaitWaiting(queue, 1_008);
    queue.close();
    for (Thread thread : threads) {
      thread.join();
    }
    assertEquals(1_000, ended.get());
    assertEquals(0, queue.waiting());
    assertNull(queue.take());
    assertThrows(IllegalStateException.class, () -> queue.consume(1, (tx, delivery) -> {}));
  }

  @Test
  void a_thread_that_is_interrupted_stops_waiting_and_another_one_leads() throws Exception {
    try (WorkQueue<String> queue = queue()) {
      AtomicInteger interrupted = new AtomicInteger();
      Thread first =
          Thread.ofPlatform()
              .start(() -> {
                try {
                  queue.take();
                } catch (InterruptedException e) {
                  interrupted.incrementAndGet();
                }
              });
      awaitWaiting(queue, 1);
      BlockingQueue<String> taken = new LinkedBlockingQueue<>();
      Thread second =
          Thread.ofPlatform()
              .start(() -> {
                try {
                  taken.add(String.valueOf(text(queue.take())));
                } catch (InterruptedException e) {
                  throw new AssertionError(e);
                }
              });
      awaitWaiting(queue, 2);
      first.interrupt();
      first.join();
      assertEquals(1, interrupted.get());
      queue.offer("a");
      assertEquals("a", taken.take());
      second.join();
    }
  }

  @Test
  void a_closed_database_ends_the_wait() throws Exception {
    WorkQueue<String> queue = queue();
    AtomicInteger ended = new AtomicInteger();
    Thread waiter =
        Thread.ofPlatform()
            .start(() -> {
              assertThrows(DatabaseClosedException.class, queue::take);
              ended.incrementAndGet();
            });
    awaitWaiting(queue, 1);
    db.close();
    queue.clockMoved();
    waiter.join();
    assertEquals(1, ended.get());
    queue.close();
    reopen();
  }

  // ------------------------------------------------------------------- what work may do

  @Test
  void work_may_extend_its_own_delivery_while_it_runs() throws Exception {
    try (WorkQueue<String> queue = queue()) {
      queue.offer("long");
      int[] calls = new int[1];
      assertTrue(
          queue.process((tx, delivery) -> {
            calls[0]++;
            later(queue, 9);
            delivery.extend(Duration.ofSeconds(10));
            later(queue, 9);
            assertNull(queue.poll(Duration.ZERO));
          }));
      assertEquals(1, calls[0]);
      assertEquals(0, size(queue));
    }
  }

  @Test
  void an_item_that_is_due_before_those_that_were_known_is_delivered_in_time() throws Exception {
    try (WorkQueue<String> queue = queue()) {
      db.run(tx -> {
        queue.offer(tx, "late", Duration.ofSeconds(60));
      });
      assertNull(queue.poll(Duration.ZERO)); // it knows when that is due
      db.run(tx -> {
        queue.offer(tx, "early", Duration.ofSeconds(5));
      });
      assertNull(queue.poll(Duration.ZERO));
      later(queue, 5);
      Delivery<String> early = demand(queue);
      assertEquals("early", early.item());
      early.retry("another time");
      assertNull(queue.poll(Duration.ZERO));
      later(queue, 2);
      assertEquals("early", demand(queue).item());
    }
  }

  @Test
  void an_extension_that_is_made_shorter_ends_in_time() throws Exception {
    try (WorkQueue<String> queue = queue()) {
      queue.offer("a");
      Delivery<String> first = demand(queue);
      first.extend(Duration.ofSeconds(100));
      later(queue, 20);
      assertNull(queue.poll(Duration.ZERO)); // it knows how long that is
      first.extend(Duration.ofSeconds(10));
      later(queue, 9);
      assertNull(queue.poll(Duration.ZERO));
      later(queue, 1);
      assertEquals(2, demand(queue).attempt());
    }
  }

  @Test
  void an_extension_is_over_with_the_delivery() throws Exception {
    try (WorkQueue<String> queue = queue()) {
      queue.offer("a");
      Delivery<String> first = demand(queue);
      first.extend(Duration.ofDays(1));
      first.retry("another time");
      later(queue, 2);
      Delivery<String> second = demand(queue);
      later(queue, 10);
      assertNull(queue.poll(Duration.ZERO)); // it has become a dead letter
      assertThrows(DeliveryLostException.class, second::acknowledge);
      assertThrows(IllegalArgumentException.class, () -> first.extend(Duration.ofSeconds(-1)));
    }
  }

  @Test
  void work_may_acknowledge_its_item_itself() throws Exception {
    try (WorkQueue<String> queue = queue()) {
      queue.offer("a");
      assertTrue(queue.process((tx, delivery) -> delivery.acknowledge(tx)));
      assertEquals(0, size(queue));
    }
  }

  @Test
  void a_lost_delivery_of_another_queue_is_a_failure_of_the_work() throws Exception {
    try (WorkQueue<String> queue = queue();
        WorkQueue<String> other = WorkQueue.open(db, "others", Codecs.strings(), options())) {
      other.offer("b");
      Delivery<String> lost = demand(other);
      later(other, 11);
      assertNotNull(other.poll(Duration.ZERO));
      queue.offer("a");
      assertTrue(queue.process((tx, delivery) -> lost.acknowledge(tx)));
      later(queue, 2);
      assertEquals(2, demand(queue).attempt());
    }
  }

  @Test
  void consumers_go_on_after_an_error_of_the_work() throws Exception {
    WorkQueueOptions once = options().withMaxAttempts(1);
    try (WorkQueue<String> queue = WorkQueue.open(db, "jobs", Codecs.strings(), once)) {
      CountDownLatch done = new CountDownLatch(1);
      queue.consume(
          1,
          (tx, delivery) -> {
            if (delivery.item().equals("poison")) {
              throw new StackOverflowError("half a character: \uD800");
            }
            tx.afterCommit(done::countDown);
          });
      queue.offer("poison");
      queue.offer("good");
      done.await();
      List<DeadLetter<String>> dead = db.read(tx -> queue.deadLetters(tx).toList());
      assertEquals("poison", dead.getFirst().item());
      assertTrue(dead.getFirst().reason().contains("half a character: ?"));
    }
  }

  @Test
  void a_reason_of_any_kind_is_stored() throws Exception {
    try (WorkQueue<String> queue =
        WorkQueue.open(db, "jobs", Codecs.strings(), options().withMaxAttempts(1))) {
      queue.offer("a");
      demand(queue).retry("\uDC00".repeat(5_000));
      assertEquals(
          "?".repeat(1_000), db.read(tx -> queue.deadLetters(tx).toList()).getFirst().reason());
      queue.offer("b");
      Delivery<String> delivery = demand(queue);
      assertThrows(NullPointerException.class, () -> delivery.retry(null));
    }
  }

  @Test
  void times_without_end_do_not_overflow() throws Exception {
    Duration forEver = Duration.ofSeconds(Long.MAX_VALUE);
    try (WorkQueue<String> queue =
        WorkQueue.open(db, "jobs", Codecs.strings(), options().withVisibility(forEver))) {
      db.run(tx -> queue.offer(tx, "never", forEver));
      queue.offer("a");
      Delivery<String> delivery = Objects.requireNonNull(queue.poll(forEver));
      assertNull(queue.poll(Duration.ZERO));
      delivery.extend(forEver);
      assertNull(queue.poll(Duration.ZERO));
      delivery.acknowledge();
      assertEquals(1, size(queue));
    }
  }

  /** Each item adds one to a row of its own, in the transaction that acknowledges it. */
  @Test
  void many_consumers_do_each_item_exactly_once_though_some_work_fails() throws Exception {
    long seed = Long.getLong("revenant.seed", new Random().nextLong());
    System.out.println("WorkQueueTest: -Drevenant.seed=" + seed);
    int items = 600;
    TypedTable<String, Integer> done = TypedTable.open(db, "done", Keys.strings(), Codecs.ints());
    CountDownLatch all = new CountDownLatch(items);
    WorkQueueOptions fast =
        WorkQueueOptions.defaults().withRetryDelay(Duration.ofMillis(1)).withMaxAttempts(100);
    try (WorkQueue<String> queue = WorkQueue.open(db, "jobs", Codecs.strings(), fast)) {
      Random failures = new Random(seed);
      queue.consume(
          8,
          (tx, delivery) -> {
            int now = done.merge(tx, delivery.item(), 1, Integer::sum);
            assertEquals(1, now);
            boolean fails;
            synchronized (failures) {
              fails = failures.nextInt(5) == 0;
            }
            if (fails) {
              throw new IllegalStateException("by chance");
            }
            tx.afterCommit(all::countDown);
          });
      List<Thread> producers = new ArrayList<>();
      for (int producer = 0; producer < 3; producer++) {
        int own = producer;
        Random random = new Random(seed + producer);
        producers.add(
            Thread.ofVirtual()
                .start(() -> {
                  for (int i = 0; i < items / 3; i++) {
                    String item = own + "/" + i;
                    Duration delay = Duration.ofMillis(random.nextInt(4) == 0 ? 3 : 0);
                    db.run(tx -> queue.offer(tx, item, delay));
                  }
                }));
      }
      for (Thread producer : producers) {
        producer.join();
      }
      all.await();
      assertEquals(0, size(queue));
      assertEquals(0, count(tx -> queue.deadLetters(tx).count()));
    }
    db.read(tx -> {
      assertEquals(items, done.scan(tx).count());
      done.scan(tx).stream().forEach(row -> assertEquals(1, row.value(), row.key()));
      return null;
    });
  }
}

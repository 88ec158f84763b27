package org.revenantdb.collections;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseClosedException;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.Durability;
import org.revenantdb.engine.Transaction;

/** Values that many threads merge into the same rows. */
class MergerTest {
  private Database db;
  private TypedTable<String, Long> counters;

  @BeforeEach
  void open(@TempDir Path directory) {
    db =
        Database.open(
            directory.resolve("db"),
            DatabaseOptions.defaults().withPoolBytes(8L << 20).withDurability(Durability.LAZY));
    counters = TypedTable.open(db, "counters", Keys.strings(), Codecs.longs());
  }

  @AfterEach
  void close() {
    db.close();
  }

  private long counter(String key) {
    Long found = db.read(tx -> counters.get(tx, key));
    return found == null ? 0 : found;
  }

  private static void join(List<Thread> threads) throws InterruptedException {
    for (Thread thread : threads) {
      thread.join();
    }
  }

  @Test
  void a_value_is_stored_merged_and_deleted() {
    Merger<String, Long> merger =
        counters.merger((one, other) -> one + other == 0 ? null : one + other);
    assertEquals(2, merger.merge("a", 2L));
    assertEquals(5, merger.merge("a", 3L));
    assertNull(merger.merge("a", -5L));
    assertNull(db.read(tx -> counters.get(tx, "a")));
    assertEquals(1, merger.merge("a", 1L));
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void each_of_many_threads_gets_what_its_own_call_has_stored(boolean isVirtual) throws Exception {
    int threads = 32;
    int each = 200;
    Merger<String, Long> merger = counters.merger(Long::sum);
    Set<Long> results = ConcurrentHashMap.newKeySet();
    List<Thread> all = new ArrayList<>();
    for (int i = 0; i < threads; i++) {
      int own = i;
      Thread.Builder builder = isVirtual ? Thread.ofVirtual() : Thread.ofPlatform();
      all.add(
          builder.start(() -> {
            for (int n = 0; n < each; n++) {
              results.add(merger.merge("hot", 1L));
              if (n % 10 == 0) {
                merger.merge("of " + own, 1L);
              }
            }
          }));
    }
    for (int n = 0; n < each; n++) { // writes that are not combined
      db.run(tx -> counters.merge(tx, "hot", 1_000_000L, Long::sum));
    }
    join(all);
    assertEquals(threads * each + each * 1_000_000L, counter("hot"));
    assertEquals(threads * each, results.size());
    for (int i = 0; i < threads; i++) {
      assertEquals(each / 10, counter("of " + i));
    }
  }

  /** The first call is held in its function, so the others wait and are combined. */
  @Test
  void a_call_whose_function_or_codec_throws_does_not_disturb_those_it_is_combined_with()
      throws Exception {
    Codec<Long> picky =
        new Codec<>() {
          @Override
          public void encode(Long value, ByteWriter out) {
            if (value % 100 != 0) {
              throw new IllegalArgumentException("thirteen");
            }
            out.writeLong(value);
          }

          @Override
          public Long decode(ByteReader in) {
            return in.readLong();
          }
        };
    TypedTable<String, Long> table = TypedTable.open(db, "picky", Keys.strings(), picky);
    CountDownLatch holds = new CountDownLatch(1);
    AtomicInteger calls = new AtomicInteger();
    Merger<String, Long> merger =
        table.merger((one, other) -> {
          calls.incrementAndGet();
          if (other == 1_000) {
            await(holds);
          }
          if (other == 7) {
            throw new IllegalStateException("seven");
          }
          return one + other;
        });
    merger.merge("k", 0L);
    Thread holder = Thread.ofPlatform().start(() -> merger.merge("k", 1_000L));
    while (calls.get() == 0) {
      LockSupport.parkNanos(1_000_000);
    }
    AtomicInteger sevens = new AtomicInteger();
    AtomicInteger thirteens = new AtomicInteger();
    List<Thread> others = new ArrayList<>();
    for (int i = 0; i < 12; i++) {
      long value = List.of(100L, 7L, 13L).get(i % 3);
      others.add(
          Thread.ofPlatform()
              .start(() -> {
                try {
                  merger.merge("k", value);
                } catch (IllegalStateException seven) {
                  sevens.incrementAndGet();
                } catch (CodecException thirteen) {
                  thirteens.incrementAndGet();
                }
              }));
    }
    for (Thread other : others) {
      while (other.getState() != Thread.State.WAITING) {
        LockSupport.parkNanos(1_000_000);
      }
    }
    holds.countDown();
    join(others);
    holder.join();
    assertEquals(4, sevens.get());
    assertEquals(4, thirteens.get());
    assertEquals(1_400, db.read(tx -> table.get(tx, "k")).longValue());
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void indexes_are_kept() {
    Index<Long, String, Long> byCount =
        counters.index("by count", Index.of(Keys.longs(), (Long count) -> count));
    Merger<String, Long> merger = counters.merger(Long::sum);
    merger.merge("a", 2L);
    merger.merge("a", 3L);
    db.read(tx -> {
      assertEquals(1, byCount.scan(tx).equalTo(5L).count());
      assertEquals(1, byCount.scan(tx).count());
      return null;
    });
  }

  @Test
  void a_thread_that_is_interrupted_gets_its_result_and_stays_interrupted() throws Exception {
    Merger<String, Long> merger = counters.merger(Long::sum);
    AtomicBoolean stays = new AtomicBoolean();
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      threads.add(
          Thread.ofPlatform()
              .start(() -> {
                Thread.currentThread().interrupt();
                for (int n = 0; n < 100; n++) {
                  merger.merge("a", 1L);
                }
                stays.set(Thread.currentThread().isInterrupted());
              }));
    }
    join(threads);
    assertEquals(400, counter("a"));
    assertTrue(stays.get());
  }

  @Test
  void all_calls_fail_if_their_transaction_does() throws Exception {
    Merger<String, Long> merger = counters.merger(Long::sum);
    List<Thread> threads = new ArrayList<>();
    AtomicInteger refused = new AtomicInteger();
    try (Transaction _ = db.begin()) {
      db.close();
    }
    for (int i = 0; i < 8; i++) {
      threads.add(
          Thread.ofPlatform()
              .start(() -> {
                assertThrows(DatabaseClosedException.class, () -> merger.merge("a", 1L));
                refused.incrementAndGet();
              }));
    }
    join(threads);
    assertEquals(8, refused.get());
  }
}

package org.revenantdb.jmh.baseline;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.revenantdb.engine.Cursor;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.Transaction;
import org.revenantdb.engine.TransactionOptions;
import org.revenantdb.jmh.baseline.EngineOfOtherGarbage.Strategy;
import org.revenantdb.jmh.fork.ShortForks;
import org.revenantdb.jmh.gc.ChFork;

/**
 * The strategies that ours is compared with are right, and are the described ones: snapshots are
 * right while there are writers, unneeded versions are removed in the end, and versions in between
 * only with strategies that promise it. Each runs in a separate JVM.
 */
@EnabledIfSystemProperty(named = "revenant.long", matches = "true") // peers and baselines
class EngineOfOtherGarbageTest {
  private static final TransactionOptions LAZY = TransactionOptions.lazy();

  @TempDir private Path folder;

  /** Accounts between which money is moved, and threads that add it all up. */
  public static final class Bank {
    private static final int ACCOUNTS = 20;
    private static final long EACH = 1_000;
    private static final int WRITERS = 2;
    private static final int READERS = 2;
    private static final long TRANSFERS = Boolean.getBoolean("revenant.long") ? 10_000 : 1_000;

    /** Transfers between the two looks of a reader. */
    private static final long MEANWHILE = 20;

    private final Database database;
    private final Table accounts;
    private final AtomicLong done = new AtomicLong();
    private final AtomicLong looks = new AtomicLong();

    private Bank(Database database) {
      this.database = database;
      this.accounts = database.getOrCreateTable("accounts");
    }

    /** Arguments: directory, strategy, seed. */
    public static void main(String[] arguments) throws Exception {
      try (Database database = Database.open(Path.of(arguments[0]))) {
        new Bank(database).run(Strategy.valueOf(arguments[1]), Long.parseLong(arguments[2]));
      }
    }

    private void run(Strategy strategy, long seed) throws Exception {
      database.run(
          LAZY,
          transaction -> {
            for (int account = 0; account < ACCOUNTS; account++) {
              transaction.put(accounts, key(account), value(EACH));
            }
          });
      transfer(new SplittableRandom(seed)); // a version before that of the snapshot
      try (Transaction held = database.begin(LAZY)) {
        List<Long> before = balances(held);
        work(seed);
        assertEquals(before, balances(held));
        database.cleanNow();
        long versions = database.statistics().versions().memoryBytes() / value(0).length;
        if (strategy == Strategy.INTERVAL) {
          // 20 rows of a hundred bytes and a little more each
          assertTrue(versions < 100L * ACCOUNTS, () -> versions + " in between");
        } else {
          assertTrue(versions > TRANSFERS, () -> "only " + versions);
        }
        assertEquals(before, balances(held));
      }
      database.cleanNow();
      assertEquals(0, database.statistics().versions().memoryBytes());
      try (Transaction now = database.begin(LAZY)) {
        balances(now);
      }
    }

    private void work(long seed) throws Exception {
      List<Future<?>> all = new ArrayList<>();
      try (ExecutorService threads = Executors.newCachedThreadPool()) {
        for (int i = 0; i < WRITERS; i++) {
          SplittableRandom random = new SplittableRandom(seed + i);
          all.add(
              threads.submit(() -> {
                while (done.get() < TRANSFERS) {
                  transfer(random);
                  done.incrementAndGet();
                }
                return null;
              }));
        }
        for (int i = 0; i < READERS; i++) {
          all.add(
              threads.submit(() -> {
                do {
                  look(); // also one that has its first turn when all transfers are done
                } while (done.get() < TRANSFERS);
                return null;
              }));
        }
        for (Future<?> one : all) {
          one.get();
        }
      }
    }

    private void transfer(SplittableRandom random) {
      int from = random.nextInt(ACCOUNTS);
      int to = (from + 1 + random.nextInt(ACCOUNTS - 1)) % ACCOUNTS;
      long amount = random.nextLong(100);
      database.run(
          LAZY,
          transaction -> {
            add(transaction, from, -amount);
            add(transaction, to, amount);
          });
    }

    private void add(Transaction transaction, int account, long amount) {
      byte[] row = Objects.requireNonNull(transaction.get(accounts, key(account)));
      transaction.put(accounts, key(account), value(ByteBuffer.wrap(row).getLong() + amount));
    }

    /** The content of a snapshot stays, while other threads move money. */
    private void look() {
      try (Transaction reader = database.begin(LAZY)) {
        List<Long> before = balances(reader);
        long from = done.get();
        while (done.get() < Math.min(TRANSFERS, from + MEANWHILE)) {
          Thread.yield(); // the writers need the processor
        }
        assertEquals(before, balances(reader));
        looks.incrementAndGet();
      }
    }

    private List<Long> balances(Transaction reader) {
      List<Long> balances = new ArrayList<>();
      try (Cursor cursor = reader.scan(accounts, null, null)) {
        while (cursor.next()) {
          balances.add(ByteBuffer.wrap(cursor.value()).getLong());
        }
      }
      assertEquals(ACCOUNTS, balances.size());
      assertEquals(ACCOUNTS * EACH, balances.stream().mapToLong(Long::longValue).sum());
      for (int account = 0; account < ACCOUNTS; account++) {
        byte[] row = Objects.requireNonNull(reader.get(accounts, key(account)));
        assertEquals(balances.get(account), ByteBuffer.wrap(row).getLong());
      }
      return balances;
    }

    private static byte[] key(int account) {
      return ByteBuffer.allocate(Integer.BYTES).putInt(account).array();
    }

    private static byte[] value(long balance) {
      return ByteBuffer.allocate(100).putLong(balance).array();
    }
  }

  @ParameterizedTest
  @EnumSource
  void snapshots_are_right_and_unneeded_versions_are_removed(Strategy strategy)
      throws IOException, InterruptedException {
    long seed = Long.getLong("revenant.seed", System.nanoTime());
    System.out.println("EngineOfOtherGarbageTest -Drevenant.seed=" + seed);
    assertEquals(
        0,
        run(
            strategy,
            Bank.class,
            folder.resolve("bank").toString(),
            strategy.name(),
            Long.toString(seed)));
  }

  @ParameterizedTest
  @EnumSource
  @Tag("slow")
  void analysis_during_order_entry_sees_one_moment(Strategy strategy)
      throws IOException, InterruptedException {
    for (String snapshots : List.of("held", "each")) {
      assertEquals(
          0,
          run(
              strategy,
              ChFork.class,
              folder.resolve(snapshots).toString(),
              "1",
              "0.01",
              "1",
              "1",
              snapshots,
              "0",
              "300",
              "3",
              "1",
              /* varies */ "",
              /* round */ "1"));
    }
  }

  @Test
  void an_engine_of_another_shape_is_refused() throws IOException {
    assertTrue(
        EngineOfOtherGarbage.database().apply(bytesOf("engine/lifecycle/Opening")).length > 0);
    assertTrue(EngineOfOtherGarbage.snapshots().apply(bytesOf("gc/ActiveSnapshots")).length > 0);
    assertTrue(EngineOfOtherGarbage.writer().apply(bytesOf("engine/version/RowWriter")).length > 0);
    assertTrue(EngineOfOtherGarbage.store().apply(bytesOf("gc/version/VolatileStore")).length > 0);
    byte[] other = bytesOf("engine/Table");
    for (ClassPatch patch :
        List.of(
            EngineOfOtherGarbage.database(),
            EngineOfOtherGarbage.writer(),
            EngineOfOtherGarbage.snapshots())) {
      assertThrows(IllegalStateException.class, () -> patch.apply(other));
    }
  }

  private static byte[] bytesOf(String name) throws IOException {
    String resource = "org/revenantdb/" + name + ".class";
    try (InputStream original = Database.class.getClassLoader().getResourceAsStream(resource)) {
      return Objects.requireNonNull(original, resource).readAllBytes();
    }
  }

  private int run(Strategy strategy, Class<?> main, String... arguments)
      throws IOException, InterruptedException {
    Path classes = folder.resolve("classes");
    EngineOfOtherGarbage.write(classes, strategy);
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(ShortForks.with(List.of()));
    command.addAll(
        List.of(
            "-D" + EngineOfOtherGarbage.STRATEGY + '=' + strategy,
            "-Drevenant.long=" + Boolean.getBoolean("revenant.long"),
            "-cp",
            classes + File.pathSeparator + System.getProperty("java.class.path"),
            main.getName()));
    command.addAll(List.of(arguments));
    return new ProcessBuilder(command).inheritIO().start().waitFor();
  }
}

package org.revenantdb.jmh;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.revenantdb.chaos.crash.FileTrees;
import org.revenantdb.collections.Codecs;
import org.revenantdb.collections.Keys;
import org.revenantdb.collections.TypedTable;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.Durability;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.Transaction;

/**
 * What does the typed layer cost, compared with the byte API and the code that an application would
 * write for it? And what does {@code getAll} save?
 *
 * <p>Keys are numbers, values texts of 100 characters; 100,000 rows in memory. The byte API gets
 * keys of eight bytes from a {@code ByteBuffer} and texts by the JDK's own codec. An operation is
 * 100 rows: in one transaction, which a put commits lazily. The 100 keys of {@code getAll} are
 * drawn from ten places with ten neighbours each, so they lie in about ten leaves; {@code gets}
 * looks up the same ones.
 *
 * <p>We would drop the pool of buffers if a typed get without it allocated no more.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class CollectionsBenchmark {
  private static final int ROWS = 100_000;
  private static final int BATCH = 100;
  private static final String VALUE = "0123456789".repeat(10);

  private final SplittableRandom random = new SplittableRandom(1);
  private final Path directory;
  private final Database database;
  private final Table bytes;
  private final TypedTable<Long, String> typed;

  /**
   * JMH makes one, with a database of its own.
   *
   * @throws UncheckedIOException if there is no place for it
   */
  public CollectionsBenchmark() {
    try {
      directory = Files.createTempDirectory("collections");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    database =
        Database.open(
            directory,
            DatabaseOptions.defaults().withPoolBytes(256L << 20).withDurability(Durability.LAZY));
    bytes = database.getOrCreateTable("bytes");
    typed = TypedTable.open(database, "typed", Keys.longs(), Codecs.strings());
    database.run(tx -> {
      for (long i = 0; i < ROWS; i++) {
        tx.put(bytes, key(i), VALUE.getBytes(StandardCharsets.UTF_8));
        typed.put(tx, i, VALUE);
      }
    });
  }

  private static byte[] key(long number) {
    return ByteBuffer.allocate(Long.BYTES).putLong(number ^ Long.MIN_VALUE).array();
  }

  /** Takes the database away. */
  @TearDown
  public void close() {
    database.close();
    FileTrees.delete(directory);
  }

  /**
   * Reads by the byte API.
   *
   * @return the length of all texts
   */
  @Benchmark
  public int getBytes() {
    return database.read(tx -> {
      int length = 0;
      for (int i = 0; i < BATCH; i++) {
        byte[] value = tx.get(bytes, key(random.nextLong(ROWS)));
        length += new String(value, StandardCharsets.UTF_8).length();
      }
      return length;
    });
  }

  /**
   * The same, typed.
   *
   * @return the length of all texts
   */
  @Benchmark
  public int getTyped() {
    return database.read(tx -> {
      int length = 0;
      for (int i = 0; i < BATCH; i++) {
        length += Objects.requireNonNull(typed.get(tx, random.nextLong(ROWS))).length();
      }
      return length;
    });
  }

  /** Writes by the byte API. */
  @Benchmark
  public void putBytes() {
    try (Transaction tx = database.begin()) {
      for (int i = 0; i < BATCH; i++) {
        tx.put(bytes, key(random.nextLong(ROWS)), VALUE.getBytes(StandardCharsets.UTF_8));
      }
      tx.commit();
    }
  }

  /** The same, typed. */
  @Benchmark
  public void putTyped() {
    try (Transaction tx = database.begin()) {
      for (int i = 0; i < BATCH; i++) {
        typed.put(tx, random.nextLong(ROWS), VALUE);
      }
      tx.commit();
    }
  }

  private List<Long> wanted() {
    List<Long> keys = new ArrayList<>(BATCH);
    for (int place = 0; place < 10; place++) {
      long first = random.nextLong(ROWS - 10);
      for (int i = 0; i < 10; i++) {
        keys.add(first + i);
      }
    }
    return keys;
  }

  /**
   * Neighbours, one by one.
   *
   * @return the length of all texts
   */
  @Benchmark
  public int gets() {
    return database.read(tx -> {
      int length = 0;
      for (Long key : wanted()) {
        length += Objects.requireNonNull(typed.get(tx, key)).length();
      }
      return length;
    });
  }

  /**
   * Neighbours, together.
   *
   * @return the rows
   */
  @Benchmark
  public Map<Long, String> getAll() {
    return database.read(tx -> typed.getAll(tx, wanted()));
  }

  /**
   * Neighbours, together, without a map: as {@link #gets} uses them.
   *
   * @return the length of all texts
   */
  @Benchmark
  public int getAllEach() {
    int[] length = {0};
    database.read(tx -> {
      typed.getAll(tx, wanted(), (_, text) -> length[0] += text.length());
      return length;
    });
    return length[0];
  }
}

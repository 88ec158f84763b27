package org.revenantdb.jmh;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.revenantdb.chaos.crash.FileTrees;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.Transaction;

/**
 * What do the begin and the commit of a read-only transaction cost, by themselves and around one
 * read of a row that is in memory?
 *
 * <p>With {@code -prof gc} it also reports the bytes that each allocates: one object is 40. We
 * would pool the objects of a first read if the read took less than that.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class BeginCommitBenchmark {
  private static final byte[] KEY = {1};
  private static final byte[] VALUE = new byte[100];

  private final byte[] into = new byte[VALUE.length];
  private final Path directory;
  private final Database database;
  private final Table table;

  /**
   * JMH makes one, with a database of one row; its subclasses know no checked exceptions.
   *
   * @throws UncheckedIOException if there is no place for it
   */
  public BeginCommitBenchmark() {
    try {
      directory = Files.createTempDirectory("begin-commit");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    database = Database.open(directory);
    table = database.getOrCreateTable("t");
    database.run(transaction -> transaction.put(table, KEY, VALUE));
  }

  /** Takes the database away. */
  @TearDown
  public void close() {
    database.close();
    FileTrees.delete(directory);
  }

  /**
   * Nothing in between.
   *
   * @return the transaction
   */
  @Benchmark
  public Transaction beginCommit() {
    Transaction transaction = database.begin();
    transaction.commit();
    return transaction;
  }

  /**
   * One read in between.
   *
   * @return the length of the value
   */
  @Benchmark
  public int beginReadCommit() {
    Transaction transaction = database.begin();
    int length = transaction.get(table, KEY, into, 0);
    transaction.commit();
    return length;
  }
}

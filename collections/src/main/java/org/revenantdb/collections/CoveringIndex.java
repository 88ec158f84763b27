package org.revenantdb.collections;

import java.util.Objects;
import java.util.stream.Stream;
import org.revenantdb.engine.Transaction;

/**
 * A secondary index whose entries have part of the row, so that queries which need only that part
 * read no rows. {@link TypedTable#index(String, CoveringDefinition)} returns it. Thread-safe.
 *
 * {@snippet :
 * CoveringIndex<String, Long, Customer, String> byCity =
 *     customers.index(
 *         "by city", Index.of(Keys.strings(), Customer::city).covering(Codecs.strings(), Customer::name));
 * try (Stream<Row<Long, String>> names = byCity.parts(byCity.scan(tx).equalTo("London"))) { ... }
 * }
 *
 * @param <I> type of what is indexed
 * @param <K> type of the keys
 * @param <V> type of the rows
 * @param <C> type of the part of the row that each entry has
 */
public final class CoveringIndex<I, K, V, C> {
  private final Index<I, K, V> index;
  private final Codec<C> codec;

  CoveringIndex(Index<I, K, V> index, Codec<C> codec) {
    this.index = index;
    this.codec = codec;
  }

  /**
   * The index without the parts.
   *
   * @return the index
   */
  public Index<I, K, V> index() {
    return index;
  }

  /**
   * All entries, as {@link Index#scan}.
   *
   * @param transaction which reads
   * @return a scan
   */
  public IndexScan<I, K, V> scan(Transaction transaction) {
    return index.scan(transaction);
  }

  /**
   * The keys of the rows with their parts, in the order of the index. Reads no rows, unless rows of
   * the table expire.
   *
   * @param scan a scan of this index
   * @return a sequential stream, as {@link IndexScan#stream}; the value of each row is the part
   */
  public Stream<Row<K, C>> parts(IndexScan<I, K, V> scan) {
    if (!scan.index().equals(index)) {
      throw new IllegalArgumentException(scan + " is one of another index; use " + index + ".scan");
    }
    return scan.parts(
        in -> Objects.requireNonNull(codec.decode(in), "the codec has returned null"));
  }

  @Override
  public String toString() {
    return "Covering" + index;
  }
}

package org.revenantdb.collections;

import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.revenantdb.collections.index.IndexShape;

/**
 * What a secondary index contains for a row. It is made by {@link Index#of}, {@link Index#unique}
 * and {@link Index#multi}. Immutable.
 *
 * <p>The functions have no side effects and always return the same for the same row. When a row is
 * replaced or deleted, the index removes the entries that they return for it. If a function
 * changes, drop the index and declare it again, or give it another version, which is refused until
 * then.
 *
 * @param <I> type of what is indexed
 * @param <V> type of the rows
 */
public final class IndexDefinition<I, V> {
  private final IndexShape<I, V> shape;
  private final long version;

  IndexDefinition(IndexShape<I, V> shape, long version) {
    this.shape = shape;
    this.version = version;
  }

  static <I, V> IndexDefinition<I, V> of(
      KeyCodec<I> codec,
      boolean isUnique,
      Function<? super V, ? extends @Nullable Collection<I>> values) {
    Objects.requireNonNull(values, "values must not be null");
    KeyCodec<I> _ = codec.asPart(); // which refuses those that do not say where they end
    return new IndexDefinition<>(
        new IndexShape<>(
            codec,
            isUnique,
            row -> {
              Collection<I> found = values.apply(row);
              return found == null ? List.of() : found;
            },
            /* part= */ null),
        1);
  }

  /**
   * The same index of some rows only.
   *
   * @param rows which rows have entries
   * @return another definition
   */
  public IndexDefinition<I, V> where(Predicate<? super V> rows) {
    Objects.requireNonNull(rows, "rows must not be null");
    return new IndexDefinition<>(
        new IndexShape<>(
            shape.codec(),
            shape.isUnique(),
            row -> rows.test(row) ? shape.values().apply(row) : List.of(),
            shape.part()),
        version);
  }

  /**
   * The same index with a version of its functions, which is stored with it.
   *
   * @param number 1, the default, or more
   * @return another definition
   */
  public IndexDefinition<I, V> withVersion(int number) {
    if (number < 1) {
      throw new IllegalArgumentException("a version is 1 or more, not " + number);
    }
    return new IndexDefinition<>(shape, number);
  }

  /**
   * The same index with a part of the row in each entry. So queries that need only that part read
   * no rows. The function follows the same rules as that of the index.
   *
   * @param codec codec of the part
   * @param part the part of a row
   * @param <C> type of the part
   * @return a definition for {@link TypedTable#index(String, CoveringDefinition)}
   */
  public <C> CoveringDefinition<I, V, C> covering(
      Codec<C> codec, Function<? super V, ? extends C> part) {
    Objects.requireNonNull(codec, "codec must not be null");
    Objects.requireNonNull(part, "part must not be null");
    IndexShape<I, V> covering =
        new IndexShape<>(
            shape.codec(),
            shape.isUnique(),
            shape.values(),
            row -> {
              ByteWriter out = new ByteWriter();
              codec.encode(part.apply(row), out);
              return out.toByteArray();
            });
    return new CoveringDefinition<>(new IndexDefinition<>(covering, version), codec);
  }

  IndexShape<I, V> shape() {
    return shape;
  }

  long version() {
    return version;
  }
}

package org.revenantdb.collections;

/**
 * What a covering index has of a row: made by {@link IndexDefinition#covering}. Immutable.
 *
 * @param <I> type of what is indexed
 * @param <V> type of the rows
 * @param <C> type of the part of the row that each entry has
 */
public final class CoveringDefinition<I, V, C> {
  private final IndexDefinition<I, V> definition;
  private final Codec<C> codec;

  CoveringDefinition(IndexDefinition<I, V> definition, Codec<C> codec) {
    this.definition = definition;
    this.codec = codec;
  }

  IndexDefinition<I, V> definition() {
    return definition;
  }

  Codec<C> codec() {
    return codec;
  }
}

package org.revenantdb.collections.index;

import java.util.Arrays;
import java.util.Collection;
import java.util.TreeSet;
import java.util.function.Function;
import org.revenantdb.collections.KeyCodec;

/**
 * What an index has of a row. An entry of a unique index has the indexed value as its key, and the
 * key of the row as its value; other entries have both, one after the other, as their key.
 *
 * @param codec of what is indexed
 * @param isUnique whether two rows may have the same
 * @param values what is indexed of a row, none or several
 * @param <I> type of what is indexed
 * @param <V> type of the rows
 */
public record IndexShape<I, V>(
    KeyCodec<I> codec, boolean isUnique, Function<? super V, ? extends Collection<I>> values) {

  /** The bytes of what is indexed of a row, each once. */
  TreeSet<byte[]> of(V row) {
    TreeSet<byte[]> found = new TreeSet<>(Arrays::compareUnsigned);
    for (I value : values.apply(row)) {
      found.add(codec.toBytes(value));
    }
    return found;
  }
}

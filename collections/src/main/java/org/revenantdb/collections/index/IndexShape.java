package org.revenantdb.collections.index;

import java.util.Arrays;
import java.util.Collection;
import java.util.TreeSet;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.revenantdb.collections.KeyCodec;

/**
 * What an index has of a row. An entry of a unique index has the indexed value as its key, and the
 * key of the row as its value; other entries have both, one after the other, as their key. A
 * covering index has part of the row besides:
 *
 * <pre>
 * entry                 key                  value
 * not unique            value, key of row    nothing, or the part
 * unique                value                key of row
 * unique and covering   value                length of the key of the row (1 to 2 bytes), key, part
 * </pre>
 *
 * @param codec of what is indexed
 * @param isUnique whether two rows may have the same
 * @param values what is indexed of a row, none or several
 * @param part the bytes that a covering index has besides; null if it is not one
 * @param <I> type of what is indexed
 * @param <V> type of the rows
 */
public record IndexShape<I, V>(
    KeyCodec<I> codec,
    boolean isUnique,
    Function<? super V, ? extends Collection<I>> values,
    @Nullable Function<? super V, byte[]> part) {
  /** Whether it has part of the row. */
  boolean isCovering() {
    return part != null;
  }

  /** The part that it has of a row; null for no row, and if it is not covering. */
  byte @Nullable [] partOf(@Nullable V row) {
    Function<? super V, byte[]> function = part;
    return row == null || function == null ? null : function.apply(row);
  }

  /** The bytes of what is indexed of a row, each once. */
  TreeSet<byte[]> of(V row) {
    TreeSet<byte[]> found = new TreeSet<>(Arrays::compareUnsigned);
    for (I value : values.apply(row)) {
      found.add(codec.toBytes(value));
    }
    return found;
  }
}

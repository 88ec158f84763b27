package org.revenantdb.engine.version;

import org.revenantdb.engine.page.LeafCell;
import org.revenantdb.engine.page.ValueReference;

/**
 * A value as it is stored in a leaf: its bytes, or a reference to overflow pages.
 *
 * @param flags {@link LeafCell#OVERFLOW} or 0
 * @param bytes the value, or the reference; only the holder of this record has the array
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
public record StoredValue(int flags, byte[] bytes) {
  /** Whether the value is in overflow pages. */
  public boolean isOverflow() {
    return (flags & LeafCell.OVERFLOW) != 0;
  }

  /** The reference to a value in overflow pages. */
  public ValueReference reference() {
    return ValueReference.of(bytes);
  }

  /** Length of the value. */
  public long length() {
    return isOverflow() ? ValueReference.length(bytes) : bytes.length;
  }
}

/**
 * The layout of the bytes on disk: drawings, offsets derived from each other and small accessors.
 * The only algorithm is the hash of keys. {@code docs/format.md} has the meaning of the bytes.
 *
 * <p>Reading order: {@link org.revenantdb.recovery.format.PageHeaderLayout}, {@link
 * org.revenantdb.recovery.format.FileHeaderLayout}, {@link
 * org.revenantdb.recovery.format.ControlSlotLayout}, {@link
 * org.revenantdb.recovery.format.DoubleWriteLayout}; then the layouts of the log; {@link
 * org.revenantdb.recovery.format.KeyHash}.
 */
package org.revenantdb.recovery.format;

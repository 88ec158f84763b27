/**
 * Where each byte stands on disk: drawings, offsets derived from each other and tiny accessors;
 * nothing that runs but the hash of keys. {@code docs/format.md} says what the bytes mean.
 *
 * <p>Reading order: {@link org.revenantdb.recovery.format.PageHeaderLayout}, {@link
 * org.revenantdb.recovery.format.FileHeaderLayout}, {@link
 * org.revenantdb.recovery.format.ControlSlotLayout}, {@link
 * org.revenantdb.recovery.format.DoubleWriteLayout}; then the layouts of the log; {@link
 * org.revenantdb.recovery.format.KeyHash}.
 */
package org.revenantdb.recovery.format;

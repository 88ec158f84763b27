/**
 * Where each byte stands on disk: drawings, offsets derived from each other and tiny accessors;
 * nothing that runs. {@code docs/format.md} says what the bytes mean.
 *
 * <p>Reading order: {@link org.revenantdb.recovery.format.PageHeaderLayout}, {@link
 * org.revenantdb.recovery.format.FileHeaderLayout}, {@link
 * org.revenantdb.recovery.format.ControlSlotLayout}, {@link
 * org.revenantdb.recovery.format.DoubleWriteLayout}; then the layouts of the log.
 */
package org.revenantdb.recovery.format;

/**
 * Values that are too large for a leaf: written page by page, each page entered in the value's head
 * by the record that fills it, so that a crash leaks none (R15).
 *
 * <p>Reading order: {@code OverflowWriter}, {@code OverflowInput}, {@code OverflowRemoval}.
 *
 * <p>The protocol is in {@code README.md} beside this file.
 */
package org.revenantdb.engine.overflow;

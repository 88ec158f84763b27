/**
 * Mini-transactions: the only way in which pages change.
 *
 * <p>Reading order: {@code MiniTransaction}, {@code FlushRecords}.
 *
 * <p>The protocol is in {@code README.md} beside this file.
 */
package org.revenantdb.engine.change;

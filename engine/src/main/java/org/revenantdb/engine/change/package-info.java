/**
 * Mini-transactions: the only way in which pages change.
 *
 * <p>Reading order: {@code MiniTransaction}, {@code FlushRecords}.
 */
package org.revenantdb.engine.change;

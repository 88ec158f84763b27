/**
 * Mini-transactions: the one way in which pages change.
 *
 * <p>Reading order: {@code MiniTransaction}.
 */
package org.revenantdb.engine.change;

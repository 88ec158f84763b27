/**
 * The promises of a forked JVM, in a memory-mapped file that survives its death.
 *
 * <p>Reading order: {@link org.revenantdb.chaos.ledger.LedgerLayout} (the bytes), {@link
 * org.revenantdb.chaos.ledger.Ledger} (the child's side), {@link
 * org.revenantdb.chaos.ledger.LedgerReader} (the parent's side).
 */
package org.revenantdb.chaos.ledger;

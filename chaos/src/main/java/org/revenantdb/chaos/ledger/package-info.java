/**
 * What a forked JVM promised, kept where its death cannot reach: in a memory-mapped file.
 *
 * <p>Reading order: {@link org.revenantdb.chaos.ledger.LedgerLayout} (the bytes), {@link
 * org.revenantdb.chaos.ledger.Ledger} (the child's side), {@link
 * org.revenantdb.chaos.ledger.LedgerReader} (the parent's side).
 */
package org.revenantdb.chaos.ledger;

/**
 * What may come back after a crash, and what a transaction may be shown.
 *
 * <p>Reading order: {@link org.revenantdb.chaos.oracle.Attempt} (a transaction as its client lived
 * it), {@link org.revenantdb.chaos.oracle.CrashOracle} (what of it may be there), {@link
 * org.revenantdb.chaos.oracle.Finding} (what can be wrong), {@link
 * org.revenantdb.chaos.oracle.SnapshotModel} (where one thread drives all sessions, each answer can
 * be foretold).
 */
package org.revenantdb.chaos.oracle;

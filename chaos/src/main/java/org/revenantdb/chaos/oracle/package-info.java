/**
 * Which states are legal after a crash, and which reads a transaction may make.
 *
 * <p>There are two oracles. {@link org.revenantdb.chaos.oracle.PromiseLog} is for any store. The
 * subject reports attempts and promises to it, at places of the trace's clock. It supports lazy
 * commits and durable readers, requires no isolation, and checks any number of crash points of one
 * run. {@link org.revenantdb.chaos.oracle.CrashOracle} is for a store with snapshot isolation whose
 * client records everything that each transaction saw. It also checks the reads before the crash
 * and lost updates, but one crash at a time. Use the first for a crash test, the second for a model
 * test of such a store.
 *
 * <p>Reading order of the first: {@link org.revenantdb.chaos.oracle.PromiseEvent} (the reports),
 * {@link org.revenantdb.chaos.oracle.PromiseLog}, {@code PromiseIndex} (the transactions), {@code
 * PromiseOracle} (the rules), {@link org.revenantdb.chaos.oracle.RecoveredState}, {@link
 * org.revenantdb.chaos.oracle.Finding}.
 *
 * <p>Of the second: {@link org.revenantdb.chaos.oracle.Attempt} (a transaction as its client saw
 * it), {@link org.revenantdb.chaos.oracle.CrashOracle} (what may be there), {@link
 * org.revenantdb.chaos.oracle.SnapshotModel} (predicts each answer if one thread drives all
 * sessions).
 */
package org.revenantdb.chaos.oracle;

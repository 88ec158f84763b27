/**
 * What may come back after a crash, and what a transaction may be shown.
 *
 * <p>There are two oracles. {@link org.revenantdb.chaos.oracle.PromiseLog} is for any store: it is
 * told by the subject, at places of the trace's clock, what was tried and promised, knows lazy
 * commits and durable readers, asks for no isolation, and judges any number of crash points of one
 * run. {@link org.revenantdb.chaos.oracle.CrashOracle} is for a store with snapshot isolation whose
 * client notes everything that each transaction saw: it also judges the reads before the crash and
 * lost updates, and one crash at a time. For a crash test take the first; for a model test of such
 * a store the second.
 *
 * <p>Reading order of the first: {@link org.revenantdb.chaos.oracle.PromiseEvent} (what can be
 * said), {@link org.revenantdb.chaos.oracle.PromiseLog}, {@code PromiseIndex} (which transactions
 * that makes), {@code PromiseOracle} (the rules), {@link
 * org.revenantdb.chaos.oracle.RecoveredState}, {@link org.revenantdb.chaos.oracle.Finding}.
 *
 * <p>Of the second: {@link org.revenantdb.chaos.oracle.Attempt} (a transaction as its client lived
 * it), {@link org.revenantdb.chaos.oracle.CrashOracle} (what of it may be there), {@link
 * org.revenantdb.chaos.oracle.SnapshotModel} (where one thread drives all sessions, each answer can
 * be foretold).
 */
package org.revenantdb.chaos.oracle;

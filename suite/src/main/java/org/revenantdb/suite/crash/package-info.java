/**
 * RevenantDB's crash suite: which lives are crashed, how, and what a restart may cost.
 *
 * <p>Reading order: {@link org.revenantdb.suite.crash.RevenantSubject} (how the framework sees an
 * open database) and its variants {@link org.revenantdb.suite.crash.MixedSubject}, {@link
 * org.revenantdb.suite.crash.LargeValuesSubject}, {@link
 * org.revenantdb.suite.crash.EvictionSubject}, {@link org.revenantdb.suite.crash.LoadSubject},
 * {@link org.revenantdb.suite.crash.UnsortedLoadSubject}, {@link
 * org.revenantdb.suite.crash.ShortSubject}, {@link org.revenantdb.suite.crash.CompactSubject},
 * {@link org.revenantdb.suite.crash.SequenceSubject}, {@link
 * org.revenantdb.suite.crash.DropSubject}, {@link org.revenantdb.suite.crash.PreparedSubject},
 * {@link org.revenantdb.suite.crash.SchemaSubject} (with {@code SchemaSession}, {@code
 * SchemaTransaction} and {@code SchemaModel}), {@link org.revenantdb.suite.crash.LazySubject} (lazy
 * commits, and durable readers as their witnesses); {@code Worker} (the transactions that they are
 * made of), {@code DurableReader} and {@code Cell} (what a value is in a promise); {@link
 * org.revenantdb.suite.crash.ChaosSuite} (all parts, one after the other), {@code PowerCuts},
 * {@code FaultCases}, {@code FullDisk}, {@code RecoveryCost}.
 */
@NullMarked
package org.revenantdb.suite.crash;

import org.jspecify.annotations.NullMarked;

/**
 * RevenantDB's crash suite: what is crashed, how, and what it may cost to come back.
 *
 * <p>Reading order: {@link org.revenantdb.chaos.revenant.suite.RevenantSubject} (how the framework
 * sees an open database) and its variants {@link org.revenantdb.chaos.revenant.suite.MixedSubject},
 * {@link org.revenantdb.chaos.revenant.suite.LargeValuesSubject}, {@link
 * org.revenantdb.chaos.revenant.suite.EvictionSubject}, {@link
 * org.revenantdb.chaos.revenant.suite.LoadSubject}, {@link
 * org.revenantdb.chaos.revenant.suite.ShortSubject}, {@link
 * org.revenantdb.chaos.revenant.suite.CompactSubject}, {@link
 * org.revenantdb.chaos.revenant.suite.SequenceSubject}, {@link
 * org.revenantdb.chaos.revenant.suite.DropSubject}, {@link
 * org.revenantdb.chaos.revenant.suite.PreparedSubject}, {@link
 * org.revenantdb.chaos.revenant.suite.SchemaSubject} (with {@code SchemaSession}, {@code
 * SchemaTransaction} and {@code SchemaModel}), {@link
 * org.revenantdb.chaos.revenant.suite.LazySubject} (lazy commits, and durable readers as their
 * witnesses); {@code Worker} (the transactions that they are made of), {@code DurableReader} and
 * {@code Cell} (what a value is in a promise); {@link
 * org.revenantdb.chaos.revenant.suite.ChaosSuite} (all parts, one after the other), {@code
 * PowerCuts}, {@code FaultCases}, {@code FullDisk}, {@code RecoveryCost}.
 */
@NullMarked
package org.revenantdb.chaos.revenant.suite;

import org.jspecify.annotations.NullMarked;

/**
 * Histories of transactions, over crashes and restarts, and the isolation level that they show.
 *
 * <p>Clients append to lists or write registers, each value once, and record what they read,
 * including ranges of keys. From this follows an order of transactions, and each level forbids
 * certain cycles in it. The check includes the effects of crashes: a history may contain several
 * lives of a store, and commits that were never answered.
 *
 * <p>Reading order: {@link org.revenantdb.history.Access}, {@link
 * org.revenantdb.history.TransactionOutcome}, {@link org.revenantdb.history.History} (the data);
 * {@link org.revenantdb.history.HistoryRecorder} (how it is recorded); {@link
 * org.revenantdb.history.EdnReader}, {@link org.revenantdb.history.EdnWriter} (files); {@link
 * org.revenantdb.history.AnomalyKind} and {@link org.revenantdb.history.HistoryChecker} (what is
 * checked); {@code RangeReads}, {@code HistoryIndex}, {@code ReadCheck}, {@code ListOrders}, {@code
 * RegisterOrders}, {@code LostUpdates}, {@code SurvivalCheck}, {@code DependencyGraph}, {@code
 * SearchSpace}, {@code StrongComponents}, {@code CycleSearch} (the steps of a check).
 */
@NullMarked
package org.revenantdb.history;

import org.jspecify.annotations.NullMarked;

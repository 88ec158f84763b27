/**
 * Histories of transactions, over crashes and restarts, and which level of isolation they show.
 *
 * <p>Clients append to lists or write registers, each value once, and note what they read, ranges
 * of keys among it. From that follows which transaction came before which, and a level forbids
 * certain circles of them. What a crash left is judged with it, so a history may have several lives
 * of a store in it, and commits that were never answered.
 *
 * <p>Reading order: {@link org.revenantdb.chaos.history.Access}, {@link
 * org.revenantdb.chaos.history.TransactionOutcome}, {@link org.revenantdb.chaos.history.History}
 * (what is known); {@link org.revenantdb.chaos.history.HistoryRecorder} (how it is noted); {@link
 * org.revenantdb.chaos.history.AnomalyKind} and {@link org.revenantdb.chaos.history.HistoryChecker}
 * (what is looked for); {@code RangeReads}, {@code HistoryIndex}, {@code ReadCheck}, {@code
 * ListOrders}, {@code RegisterOrders}, {@code LostUpdates}, {@code SurvivalCheck}, {@code
 * DependencyGraph}, {@code SearchSpace}, {@code StrongComponents}, {@code CycleSearch} (how it is
 * found, one step each).
 */
@NullMarked
package org.revenantdb.chaos.history;

import org.jspecify.annotations.NullMarked;

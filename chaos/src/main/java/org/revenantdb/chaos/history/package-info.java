/**
 * Runs that record the histories of a store's transactions, over kills and power cuts, and have
 * them checked by {@link org.revenantdb.history.HistoryChecker}.
 *
 * <p>Reading order: {@link org.revenantdb.chaos.history.HistoryStore} (the store), {@link
 * org.revenantdb.chaos.history.HistoryWorkload} and {@link
 * org.revenantdb.chaos.history.HistoryDriver} (what its clients do), {@link
 * org.revenantdb.chaos.history.HistoryPowerCuts}; {@link org.revenantdb.chaos.history.HistoryKills}
 * with {@code HistoryMain}, {@code WireSession} and {@code WireReader}; {@code HistoryVerdicts}.
 */
@NullMarked
package org.revenantdb.chaos.history;

import org.jspecify.annotations.NullMarked;

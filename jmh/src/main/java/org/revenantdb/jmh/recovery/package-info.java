/**
 * The cost of a killed or rolled back transaction, whatever its size.
 *
 * <p>Reading order: {@link org.revenantdb.jmh.recovery.BigRows}, the rows of all of it; {@link
 * org.revenantdb.jmh.recovery.RestartFork}, our engine killed when a restart has most to do; {@link
 * org.revenantdb.jmh.recovery.RestartStore} and {@link
 * org.revenantdb.jmh.recovery.StoreRestartFork}, our engine and others killed after the same work.
 */
@NullMarked
package org.revenantdb.jmh.recovery;

import org.jspecify.annotations.NullMarked;

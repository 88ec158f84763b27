/**
 * What a killed or rolled back transaction costs, whatever its size.
 *
 * <p>Reading order: {@link org.revenantdb.jmh.recovery.BigRows}, the rows of all of it; {@link
 * org.revenantdb.jmh.recovery.RestartFork}, ours killed when a restart has most to do; {@link
 * org.revenantdb.jmh.recovery.RestartStore} and {@link
 * org.revenantdb.jmh.recovery.StoreRestartFork}, ours and others killed after the same work.
 */
@NullMarked
package org.revenantdb.jmh.recovery;

import org.jspecify.annotations.NullMarked;

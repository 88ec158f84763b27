/**
 * The JVMs of {@code bench collections}.
 *
 * <p>Reading order: {@link org.revenantdb.jmh.work.WorkQueueFork}, items through a queue; {@link
 * org.revenantdb.jmh.work.IdleFork}, consumers that wait; {@link
 * org.revenantdb.jmh.work.HotRowFork}, one row that all sessions count in; {@link
 * org.revenantdb.jmh.work.IndexedInsertFork}, rows into a table with two indexes.
 */
@NullMarked
package org.revenantdb.jmh.work;

import org.jspecify.annotations.NullMarked;

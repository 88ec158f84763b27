/**
 * Many sessions that insert rows with growing keys, as the article on page latch waits has it
 * ({@code bench heavy-insert}).
 *
 * <p>Reading order: {@code InsertStore}, {@code RevenantInserts}, {@code InsertFork}; {@code
 * DequeueFork} is the other end of such a table.
 */
@NullMarked
package org.revenantdb.jmh.insert;

import org.jspecify.annotations.NullMarked;

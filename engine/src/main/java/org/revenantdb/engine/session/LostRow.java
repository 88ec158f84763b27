package org.revenantdb.engine.session;

import org.revenantdb.engine.Table;
import org.revenantdb.engine.txn.RowWaiter.Row;

/**
 * A row that an attempt has lost to another transaction (protocols.md §40).
 *
 * @param table the table of the row
 * @param holder the id of the transaction that has it, whose end can be waited for; 0 if it has
 *     ended
 * @param seen how often rows had been given back before the row was read
 */
public record LostRow(Table table, Row row, long holder, long seen) {}

/**
 * What a user's call goes through: the gate, transactions from begin to end, reads, writes, waits
 * for rows, conflicts and retries, prepared and forgotten transactions, and the boundary that turns
 * failures into the exceptions of the API.
 */
@NullMarked
package org.revenantdb.engine.session;

import org.jspecify.annotations.NullMarked;

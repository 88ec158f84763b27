/**
 * How a database is opened, watched while it is open, and closed: its files and their comparison,
 * the first changes, the hand-over from redo to the running log, and its counters.
 */
@NullMarked
package org.revenantdb.engine.lifecycle;

import org.jspecify.annotations.NullMarked;

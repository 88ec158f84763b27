/**
 * How a database is opened, watched while it is open, and closed: its files and their comparison,
 * the first changes, the hand-over from redo to the running log, and its counters.
 *
 * <p>Reading order: {@code DatabaseFiles}, {@code Opening} (the steps), {@code FileSurvey}, {@code
 * OpeningLog}, {@code FirstChanges}, {@code PageRedo}; {@code OpenDatabase}, {@code OpenResources};
 * {@code RestartWatch}, {@code CounterValues}, {@code EngineWaits}.
 *
 * <p>The protocols are in {@code README.md} beside this file.
 */
@NullMarked
package org.revenantdb.engine.lifecycle;

import org.jspecify.annotations.NullMarked;

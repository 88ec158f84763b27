/**
 * How a database is opened, watched while it is open, and closed: its files and their comparison,
 * the first changes, redo on demand and in the background, and its counters.
 *
 * <p>Reading order: {@code DatabaseFiles}, {@code Opening} (the steps), {@code FileSurvey}, {@code
 * FirstChanges}, {@code LoggedChanges}, {@code BackgroundRedo}; {@code OpenDatabase}, {@code
 * OpenResources}; {@code RestartWatch}, {@code CounterValues}, {@code EngineWaits}.
 *
 * <p>The protocols are in {@code README.md} beside this file.
 */
@NullMarked
package org.revenantdb.engine.lifecycle;

import org.jspecify.annotations.NullMarked;

package org.revenantdb.engine;

/**
 * How far a restart is.
 *
 * @param phase what is being done
 * @param done how much of it: bytes of log that analysis has read, or pages that redo has brought
 *     up to date
 * @param total how much there is; 0 while that is not known: analysis finds the end of the log
 */
public record RestartStatus(RestartPhase phase, long done, long total) {}

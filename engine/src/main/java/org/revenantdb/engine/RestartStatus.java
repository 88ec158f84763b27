package org.revenantdb.engine;

/**
 * The progress of a restart.
 *
 * @param phase the current phase
 * @param done the finished part: bytes of log that analysis has read, or pages that redo has
 *     brought up to date
 * @param total the whole amount; 0 while it is not known, because analysis has to find the end of
 *     the log
 */
public record RestartStatus(RestartPhase phase, long done, long total) {}

package org.revenantdb.engine;

/**
 * How far a restart is.
 *
 * @param phase what is being done
 * @param logBytes bytes of log that the phase has gone through
 * @param logBytesTotal how many there are; 0 while that is not known: analysis finds out
 * @param pagesRead pages of the data file that were read
 * @param mostPages how many of them at most the options allow for; a life that was opened with a
 *     higher bound may have left more
 */
public record RestartStatus(
    RestartPhase phase, long logBytes, long logBytesTotal, long pagesRead, long mostPages) {}

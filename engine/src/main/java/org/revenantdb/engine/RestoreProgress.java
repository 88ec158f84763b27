package org.revenantdb.engine;

/**
 * How far a restore is.
 *
 * @param bytes bytes of pages and log that were written
 * @param bytesToWrite how many will be
 */
public record RestoreProgress(long bytes, long bytesToWrite) {}

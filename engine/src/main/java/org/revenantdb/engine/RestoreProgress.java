package org.revenantdb.engine;

/**
 * The progress of a restore.
 *
 * @param bytes bytes of pages and log that were written
 * @param bytesToWrite bytes that will be written in all
 */
public record RestoreProgress(long bytes, long bytesToWrite) {}

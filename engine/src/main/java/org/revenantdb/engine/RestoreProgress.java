package org.revenantdb.engine;

/**
 * The progress of a restore from an archive, or from backups that are applied.
 *
 * @param bytes bytes of pages and log that were taken from the archive or the backups, and written
 * @param bytesToWrite what that will be in all; of backups the size of their files, which is a
 *     little more
 */
public record RestoreProgress(long bytes, long bytesToWrite) {}

package org.revenantdb.engine;

/**
 * The progress of a backup.
 *
 * @param pages pages of the data file that were copied
 * @param pagesToCopy pages of the data file; it can grow meanwhile
 * @param logBytes bytes of log that were copied
 */
public record BackupProgress(long pages, long pagesToCopy, long logBytes) {}

package org.revenantdb.engine;

/**
 * What a call of {@link Database#compact} came to.
 *
 * @param pagesMoved pages that now lie further front, and values that have left one they shared
 * @param bytesGivenBack by how much the data file is smaller
 * @param fileBytes how large the data file is now
 */
public record CompactReport(long pagesMoved, long bytesGivenBack, long fileBytes) {}

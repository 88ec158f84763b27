package org.revenantdb.engine;

/**
 * The result of {@link Database#compact}.
 *
 * @param pagesMoved pages that were moved towards the front, and values that were moved from a
 *     shared page
 * @param bytesGivenBack by how many bytes the data file became smaller
 * @param fileBytes current size of the data file
 */
public record CompactReport(long pagesMoved, long bytesGivenBack, long fileBytes) {}

package org.revenantdb.recovery.checkpoint;

/**
 * A page that a reader was refused, because the data file has not what was written last; {@code
 * docs/protocols.md} §9.
 *
 * @param page its id
 * @param lsn which the page has at least if it is good
 */
public record RefusedPage(int page, long lsn) {}

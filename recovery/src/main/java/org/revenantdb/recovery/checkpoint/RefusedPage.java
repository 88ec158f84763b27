package org.revenantdb.recovery.checkpoint;

/**
 * A page that was refused to a reader, because the data file lacks its last write; {@code
 * docs/protocols.md} §9.
 *
 * @param page its id
 * @param lsn the LSN that a good page has at least
 */
public record RefusedPage(int page, long lsn) {}

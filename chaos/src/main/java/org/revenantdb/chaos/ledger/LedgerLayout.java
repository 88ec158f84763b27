package org.revenantdb.chaos.ledger;

/**
 * The bytes of a ledger's file, in the byte order of the machine, because the file stays on it.
 *
 * <pre>
 *      0        8         12                  8-aligned
 *      +--------+---------+-------------------+---------+---------------- ... zeros
 *      | MAGIC  | length  | bytes, then zeros | length  | bytes
 *      +--------+---------+-------------------+---------+----------------
 * </pre>
 *
 * A length of 0 means that there is no entry: the bytes after it were never published.
 */
final class LedgerLayout {

  /** "RVNLEDG1" read as a number. */
  static final long MAGIC = 0x52564E4C45444731L;

  static final long FIRST = Long.BYTES;

  static final int LENGTH = Integer.BYTES;

  private LedgerLayout() {}

  /** Where the entry after an entry of this length begins. */
  static long next(long entry, int length) {
    return (entry + LENGTH + length + 7) & -8L;
  }
}

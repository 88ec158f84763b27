package org.revenantdb.engine.admin;

import org.jspecify.annotations.Nullable;

/** What can be asked of a database through its socket. */
public sealed interface AdminRequest {
  /** The tables: {@link AdminReply.TableEntry} for each. */
  record Tables() implements AdminRequest {}

  /** The sequences: {@link AdminReply.SequenceEntry} for each. */
  record Sequences() implements AdminRequest {}

  /**
   * The number of rows: {@link AdminReply.Amount}.
   *
   * @param table name of the table
   * @param from first key, or null
   * @param end end of the keys, exclusive, or null
   */
  record Count(String table, byte @Nullable [] from, byte @Nullable [] end)
      implements AdminRequest {}

  /**
   * The value of a key: nothing, or {@link AdminReply.Row} without a length, and {@link
   * AdminReply.Bytes} until the end.
   *
   * @param table name of the table
   * @param key the key
   */
  record Get(String table, byte[] key) implements AdminRequest {}

  /**
   * The rows of a range: {@link AdminReply.Row} for each, with its {@link AdminReply.Bytes}.
   *
   * @param table name of the table
   * @param from first key, or null
   * @param end end of the keys, exclusive, or null
   * @param descending whether the last row comes first
   * @param keysOnly whether values are left out
   * @param limit most rows
   */
  record Scan(
      String table,
      byte @Nullable [] from,
      byte @Nullable [] end,
      boolean descending,
      boolean keysOnly,
      long limit)
      implements AdminRequest {
    /**
     * All rows of a table, in the order of their keys.
     *
     * @param table its name
     * @return the request
     */
    public static Scan all(String table) {
      return new Scan(
          table,
          null,
          null,
          /* descending= */ false,
          /* keysOnly= */ false,
          /* limit= */ Long.MAX_VALUE);
    }
  }

  /** A check: {@link AdminReply.Checked}. */
  record Check() implements AdminRequest {}

  /**
   * A backup: some {@link AdminReply.Progress}, then {@link AdminReply.BackedUp}. Without a target
   * its stream comes as {@link AdminReply.Bytes} among them. It is whole if and only if {@code
   * BackedUp} follows it.
   *
   * @param target an absolute path; null for a stream
   * @param bytesPerSecond limit of speed; 0 for none
   * @param since id of the base of an increment; null for a whole backup
   */
  record Backup(@Nullable String target, long bytesPerSecond, @Nullable String since)
      implements AdminRequest {}
}

package org.revenantdb.engine;

/**
 * What {@link Transaction#commit} waits for.
 *
 * <p>Both are atomic, and after a crash the commits that survive are a prefix in commit order, over
 * all tables: none is there of which an earlier one is missing.
 */
public enum Durability {
  /**
   * The commit returns when no crash can take it back. Nor can a crash take back anything that such
   * a transaction was given to read: a value, or the absence of one, that was committed lazily and
   * is not yet durable is given only after it has become so.
   */
  DURABLE,

  /**
   * The commit returns at once, and costs no wait for the disk: a crash may take it back, until it
   * becomes durable: within {@link DatabaseOptions#maxLazyDelay}, with {@link Database#sync}, with
   * a durable commit or a durable read of it, at the latest when the database is closed. Such a
   * transaction may read what is not durable; who acts on that outside of the database has to be
   * ready to see it undone.
   */
  LAZY
}

package org.revenantdb.suite.copies;

/** What is made of a database, beside its clients and after a crash. */
public enum CopyKind {
  /** Whole backups and increments. */
  BACKUP,
  /** Restores from the archive, to a moment and to its end. */
  RESTORE,
  /** Reads from a follower. */
  FOLLOW,
  /** A follower becomes the database, and the former writer goes on or comes back. */
  PROMOTE
}

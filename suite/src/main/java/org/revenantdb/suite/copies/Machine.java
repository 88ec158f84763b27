package org.revenantdb.suite.copies;

/** A machine with a disk of its own. */
enum Machine {
  /** The database. */
  SOURCE,
  /** The archive, or the targets of backups. */
  ARCHIVE,
  /** The follower. */
  FOLLOWER
}

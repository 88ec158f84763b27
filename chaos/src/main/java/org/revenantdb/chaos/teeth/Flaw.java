package org.revenantdb.chaos.teeth;

/** The one step in which a {@link TinyStore} is broken on purpose. */
public enum Flaw {
  /** None: the store is honest. */
  NONE,
  /** A record is written and never forced. */
  NO_FORCE,
  /** A switch of the log renames and never forces the directory. */
  NO_DIRECTORY_FORCE,
  /** Reading the log believes every record whose length fits. */
  RECORD_WITHOUT_CRC,
  /** A force that fails is taken for one that did not. */
  FORCE_ERROR_SWALLOWED,
  /** A put returns first, and its record is forced when the next one comes. */
  ACKNOWLEDGED_BEFORE_FORCE,
  /** A put returns while its record is in the heap; it is written when a few more have come. */
  ACKNOWLEDGED_FROM_HEAP,
  /** An opening goes on with what it reads, though a dead process may not have forced it. */
  CACHE_TRUSTED
}

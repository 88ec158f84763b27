package org.revenantdb.chaos.teeth;

/** The one step in which a {@link TinyStore} is broken on purpose. */
public enum Flaw {
  /** None: the store is honest. */
  NONE,
  /** A record is written and never forced. */
  NO_FORCE,
  /** A switch of the log renames and never forces the directory. */
  NO_DIRECTORY_FORCE,
  /** Reading the log accepts every record whose length fits. */
  RECORD_WITHOUT_CRC,
  /** A failed force is treated as successful. */
  FORCE_ERROR_SWALLOWED,
  /** A put returns first, and its record is forced by the next put. */
  ACKNOWLEDGED_BEFORE_FORCE,
  /** A put returns while its record is in the heap; a later put writes it. */
  ACKNOWLEDGED_FROM_HEAP,
  /** Opening continues the log that it reads, though a dead process may not have forced it. */
  CACHE_TRUSTED
}

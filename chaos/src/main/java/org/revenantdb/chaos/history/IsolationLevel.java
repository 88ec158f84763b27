package org.revenantdb.chaos.history;

/** What a history is held to, the weakest first; each forbids what the ones before it forbid. */
public enum IsolationLevel {
  /** Adya's PL-2: no dirty writes, and nobody reads what was not, or not in this way, committed. */
  READ_COMMITTED,
  /** Adya's PL-SI without its start order, which {@link Precedence#REAL_TIME} brings back. */
  SNAPSHOT,
  /** Adya's PL-3, for single items: no cycle of dependencies at all. */
  SERIALIZABLE
}

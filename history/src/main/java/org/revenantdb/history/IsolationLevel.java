package org.revenantdb.history;

/**
 * The isolation levels, the weakest first. Each also forbids everything that the ones before it
 * forbid.
 */
public enum IsolationLevel {
  /** Adya's PL-2: no dirty writes, and no reads of uncommitted or intermediate values. */
  READ_COMMITTED,
  /** Adya's PL-SI without its start order, which {@link Precedence#REAL_TIME} adds. */
  SNAPSHOT,
  /** Adya's PL-3, for single items: no cycle of dependencies at all. */
  SERIALIZABLE
}

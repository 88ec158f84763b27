package org.revenantdb.history;

/**
 * The kinds of anomalies, with their names in the literature: Adya's thesis for {@code G0} to
 * {@code G2}, Berenson and others for the older names, Elle for the rest.
 *
 * <p>In Adya's terms, each kind with <em>item</em> in its name is a special case of the kind
 * without. Here a kind without <em>item</em> has at least one anti-dependency through a predicate,
 * which is a range of keys.
 */
public enum AnomalyKind {
  /** G0, dirty write: transactions overwrote each other in a cycle. */
  DIRTY_WRITE("G0", IsolationLevel.READ_COMMITTED),
  /** G1a: a committed transaction read a value of a transaction that was rolled back. */
  ABORTED_READ("G1a", IsolationLevel.READ_COMMITTED),
  /** G1b: a transaction read a value that another one replaced by a later write of its own. */
  INTERMEDIATE_READ("G1b", IsolationLevel.READ_COMMITTED),
  /** G1c: transactions overwrote each other, or read from each other, in a cycle. */
  CIRCULAR_INFORMATION_FLOW("G1c", IsolationLevel.READ_COMMITTED),
  /** A committed version contains, or replaced, a version that was rolled back. */
  DIRTY_UPDATE("dirty-update", IsolationLevel.READ_COMMITTED),
  /** A read returned a value that was never written. */
  PHANTOM_VALUE("garbage-read", IsolationLevel.READ_COMMITTED),
  /** A value that was appended once is in a list more than once. */
  DUPLICATE("duplicate-elements", IsolationLevel.READ_COMMITTED),
  /** Two reads of one list of which neither is a prefix of the other. */
  INCOMPATIBLE_ORDER("incompatible-order", IsolationLevel.READ_COMMITTED),
  /** A transaction did not see its own write. */
  INTERNAL("internal", IsolationLevel.READ_COMMITTED),
  /** A write that was acknowledged as durable is missing in a later life. */
  LOST_WRITE("lost-write", IsolationLevel.READ_COMMITTED),
  /** A transaction is there in part in a later life. */
  TORN("torn", IsolationLevel.READ_COMMITTED),
  /** A transaction is lost and a later one is not. */
  NOT_A_PREFIX("not-a-prefix", IsolationLevel.READ_COMMITTED),
  /** P2, fuzzy read: a transaction read a key twice and saw another's write in between. */
  NON_REPEATABLE_READ("P2", IsolationLevel.SNAPSHOT),
  /** P3, phantom: a key was missing in one read of a range and present in another. */
  PHANTOM("P3", IsolationLevel.SNAPSHOT),
  /** P4: two committed transactions read one version of a key, and both replaced it. */
  LOST_UPDATE("P4", IsolationLevel.SNAPSHOT),
  /** G-single-item, read skew: a cycle with one anti-dependency, of a key that was read. */
  READ_SKEW("G-single-item", IsolationLevel.SNAPSHOT),
  /** G-single: the same, with an anti-dependency from a range in which the key was missing. */
  PREDICATE_READ_SKEW("G-single", IsolationLevel.SNAPSHOT),
  /** G-nonadjacent-item: a cycle with several anti-dependencies, no two of them in a row. */
  NONADJACENT("G-nonadjacent-item", IsolationLevel.SNAPSHOT),
  /** G-nonadjacent: the same, at least one of them from a range in which the key was missing. */
  PREDICATE_NONADJACENT("G-nonadjacent", IsolationLevel.SNAPSHOT),
  /** G2-item, write skew in its shortest form: a cycle with anti-dependencies in a row. */
  WRITE_SKEW("G2-item", IsolationLevel.SERIALIZABLE),
  /** G2: the same, at least one of them from a range in which the key was missing. */
  PREDICATE_WRITE_SKEW("G2", IsolationLevel.SERIALIZABLE);

  private final String literature;
  private final IsolationLevel forbiddenFrom;

  AnomalyKind(String literature, IsolationLevel forbiddenFrom) {
    this.literature = literature;
    this.forbiddenFrom = forbiddenFrom;
  }

  /**
   * Returns the name in papers and tools.
   *
   * @return the short name
   */
  public String literature() {
    return literature;
  }

  /**
   * Returns whether a level forbids it.
   *
   * @param level the level of the check
   * @return true if it does
   */
  public boolean forbiddenAt(IsolationLevel level) {
    return level.compareTo(forbiddenFrom) >= 0;
  }
}

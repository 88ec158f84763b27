package org.revenantdb.chaos.history;

/**
 * What can be wrong with a history, with the name it has in the literature: Adya's thesis for the
 * phenomena {@code G0} to {@code G2}, Berenson and others for the older names, Elle for the rest.
 *
 * <p>In Adya's terms what is called <em>item</em> is a special case of what is not: at least one
 * anti-dependency of the others came through a predicate, here a range of keys.
 */
public enum AnomalyKind {
  /** G0, dirty write: transactions overwrote each other in a circle. */
  DIRTY_WRITE("G0", IsolationLevel.READ_COMMITTED),
  /** G1a: a committed transaction read what one wrote that was rolled back. */
  ABORTED_READ("G1a", IsolationLevel.READ_COMMITTED),
  /** G1b: a transaction read what another one wrote before its last write of the key. */
  INTERMEDIATE_READ("G1b", IsolationLevel.READ_COMMITTED),
  /** G1c: transactions overwrote each other, or read from each other, in a circle. */
  CIRCULAR_INFORMATION_FLOW("G1c", IsolationLevel.READ_COMMITTED),
  /** A committed version contains, or replaced, one that was rolled back. */
  DIRTY_UPDATE("dirty-update", IsolationLevel.READ_COMMITTED),
  /** A value was read that nobody wrote. */
  PHANTOM_VALUE("garbage-read", IsolationLevel.READ_COMMITTED),
  /** A value that was appended once is in a list more than once. */
  DUPLICATE("duplicate-elements", IsolationLevel.READ_COMMITTED),
  /** Two reads of one list of which neither is a prefix of the other. */
  INCOMPATIBLE_ORDER("incompatible-order", IsolationLevel.READ_COMMITTED),
  /** A transaction did not see what it had written itself. */
  INTERNAL("internal", IsolationLevel.READ_COMMITTED),
  /** What was acknowledged as durable is not there in a later life. */
  LOST_WRITE("lost-write", IsolationLevel.READ_COMMITTED),
  /** A transaction is there in part in a later life. */
  TORN("torn", IsolationLevel.READ_COMMITTED),
  /** A transaction is lost and one that came after it is not. */
  NOT_A_PREFIX("not-a-prefix", IsolationLevel.READ_COMMITTED),
  /** P2, fuzzy read: a transaction read a key twice and was given others' writes in between. */
  NON_REPEATABLE_READ("P2", IsolationLevel.SNAPSHOT),
  /** P3, phantom: a key was not in a range that was read, and at another read it was there. */
  PHANTOM("P3", IsolationLevel.SNAPSHOT),
  /** P4: two committed transactions read one version of a key, and both replaced it. */
  LOST_UPDATE("P4", IsolationLevel.SNAPSHOT),
  /** G-single-item, read skew: a circle with one anti-dependency, of a key that was read. */
  READ_SKEW("G-single-item", IsolationLevel.SNAPSHOT),
  /** G-single: the same from a range in which the key was not. */
  PREDICATE_READ_SKEW("G-single", IsolationLevel.SNAPSHOT),
  /** G-nonadjacent-item: a circle with several anti-dependencies, no two of them in a row. */
  NONADJACENT("G-nonadjacent-item", IsolationLevel.SNAPSHOT),
  /** G-nonadjacent: the same, one of them or more from a range in which the key was not. */
  PREDICATE_NONADJACENT("G-nonadjacent", IsolationLevel.SNAPSHOT),
  /** G2-item, write skew in its shortest form: a circle with anti-dependencies in a row. */
  WRITE_SKEW("G2-item", IsolationLevel.SERIALIZABLE),
  /** G2: the same, one of them or more from a range in which the key was not. */
  PREDICATE_WRITE_SKEW("G2", IsolationLevel.SERIALIZABLE);

  private final String literature;
  private final IsolationLevel forbiddenFrom;

  AnomalyKind(String literature, IsolationLevel forbiddenFrom) {
    this.literature = literature;
    this.forbiddenFrom = forbiddenFrom;
  }

  /**
   * What papers and tools call it.
   *
   * @return the short name
   */
  public String literature() {
    return literature;
  }

  /**
   * Whether a level forbids it.
   *
   * @param level what a history is held to
   * @return true if so
   */
  public boolean forbiddenAt(IsolationLevel level) {
    return level.compareTo(forbiddenFrom) >= 0;
  }
}

package org.revenantdb.chaos.history;

/** Which transactions count as ordered without having touched the same key. */
public enum Precedence {
  /** None: a store may show an old state to whoever has not seen a newer one. */
  NONE,
  /** Those of one process, in its order: the <em>strong session</em> variant of a level. */
  SESSION,
  /** One that had ended before the other began: the <em>strong</em> or <em>strict</em> variant. */
  REAL_TIME
}

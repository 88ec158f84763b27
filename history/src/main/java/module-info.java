import org.jspecify.annotations.NullMarked;

/**
 * A checker of histories of transactions: which isolation level they show, over crashes as well.
 *
 * <p>It needs nothing but {@code java.base}, and knows no store.
 */
@NullMarked
module org.revenantdb.history {
  requires static org.jspecify;

  exports org.revenantdb.history;
}

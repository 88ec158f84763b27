import org.jspecify.annotations.NullMarked;

/**
 * A latch of one word with optimistic, shared and exclusive modes, and the place where threads wait
 * for it.
 */
@NullMarked
module org.revenantdb.latch {
  requires static org.jspecify;

  exports org.revenantdb.latch;
}

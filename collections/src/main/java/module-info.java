import org.jspecify.annotations.NullMarked;

/** Typed tables, order-preserving keys and maps over the public API of the engine. */
@NullMarked
module org.revenantdb.collections {
  requires transitive org.revenantdb.engine;
  requires static org.jspecify;

  exports org.revenantdb.collections;
}

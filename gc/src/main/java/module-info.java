import org.jspecify.annotations.NullMarked;

/** Who is active, which versions nobody needs, and when memory that a reader may hold can go. */
@NullMarked
module org.revenantdb.gc {
  requires org.revenantdb.latch;
  requires static org.jspecify;

  exports org.revenantdb.gc;
}

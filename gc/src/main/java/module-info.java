import org.jspecify.annotations.NullMarked;

/** Which snapshots are open, older versions of rows, and which of them nobody needs. */
@NullMarked
module org.revenantdb.gc {
  requires org.revenantdb.latch;
  requires org.revenantdb.recovery;
  requires static org.jspecify;

  exports org.revenantdb.gc;
  exports org.revenantdb.gc.spill;
  exports org.revenantdb.gc.version;
}

import org.jspecify.annotations.NullMarked;

/** The open snapshots, older versions of rows, and the decision which of them are still needed. */
@NullMarked
// The engine is compiled after this module, whose compiler does not know it yet.
@SuppressWarnings("module")
module org.revenantdb.gc {
  requires org.revenantdb.latch;
  requires org.revenantdb.recovery;
  requires static org.jspecify;

  exports org.revenantdb.gc;
  exports org.revenantdb.gc.spill to
      org.revenantdb.engine;
  exports org.revenantdb.gc.version to
      org.revenantdb.engine;
}

import org.jspecify.annotations.NullMarked;

/** The log, checkpoints and restart, over a file seam that can be replaced. */
@NullMarked
module org.revenantdb.recovery {
  requires transitive org.revenantdb.latch;
  requires static org.jspecify;

  exports org.revenantdb.recovery.checkpoint;
  exports org.revenantdb.recovery.file;
  exports org.revenantdb.recovery.format;
  exports org.revenantdb.recovery.log;
  exports org.revenantdb.recovery.restart;
}

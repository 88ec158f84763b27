import org.jspecify.annotations.NullMarked;

/** The embedded transactional storage engine. */
@NullMarked
module org.revenantdb.engine {
  requires org.revenantdb.latch;
  requires org.revenantdb.gc;
  requires transitive org.revenantdb.recovery;
  requires static info.picocli;
  requires static jdk.jfr;
  requires static org.jspecify;

  exports org.revenantdb.engine;

  opens org.revenantdb.engine.cli to
      info.picocli;
}

import org.jspecify.annotations.NullMarked;

/** The embedded transactional storage engine. */
@NullMarked
// The command and the crash suite are compiled after the engine, whose compiler does not
// know them yet.
@SuppressWarnings("module")
module org.revenantdb.engine {
  requires org.revenantdb.latch;
  requires org.revenantdb.gc;
  requires org.revenantdb.recovery;
  requires org.jctools.core.jdk11;
  requires static info.picocli;
  requires static jdk.jfr;
  requires static org.jspecify;

  exports org.revenantdb.engine;
  exports org.revenantdb.engine.admin to
      org.revenantdb.cli;
  exports org.revenantdb.engine.cli to
      org.revenantdb.cli;
  exports org.revenantdb.engine.measure to
      org.revenantdb.suite;

  opens org.revenantdb.engine.cli to
      info.picocli;
}

import org.jspecify.annotations.NullMarked;

/** A crash-testing framework for any storage code on the JVM. */
@NullMarked
module org.revenantdb.chaos {
  // Used by org.revenantdb.chaos.revenant alone: RevenantDB's own suite, demo and model test.
  requires static org.revenantdb.engine;
  requires static info.picocli;
  requires static org.jspecify;
  requires static org.junit.jupiter.api;

  exports org.revenantdb.chaos.crash;
  exports org.revenantdb.chaos.disk;
  exports org.revenantdb.chaos.fault;
  exports org.revenantdb.chaos.oracle;
  exports org.revenantdb.chaos.power;
  exports org.revenantdb.chaos.report;
  exports org.revenantdb.chaos.run;
  exports org.revenantdb.chaos.subject;
  exports org.revenantdb.chaos.trace;

  opens org.revenantdb.chaos.cli to
      info.picocli;
  opens org.revenantdb.chaos.revenant to
      info.picocli;
}

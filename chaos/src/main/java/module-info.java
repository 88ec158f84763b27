import org.jspecify.annotations.NullMarked;

/** A crash-testing framework for any storage code on the JVM. */
@NullMarked
// Agrona and Chronicle Bytes have automatic module names and no descriptors; nothing of them is in
// our API.
@SuppressWarnings("requires-automatic")
module org.revenantdb.chaos {
  // These two are used by org.revenantdb.chaos.revenant alone: RevenantDB's own suite, demo and
  // model test.
  requires static org.revenantdb.engine;
  requires static org.revenantdb.recovery;
  // Used by the ledger in forked JVMs alone, which run on the class path.
  requires static chronicle.bytes;
  requires org.agrona;
  requires static info.picocli;
  requires static org.jspecify;
  requires static org.junit.jupiter.api;

  exports org.revenantdb.chaos.coverage;
  exports org.revenantdb.chaos.crash;
  exports org.revenantdb.chaos.disk;
  exports org.revenantdb.chaos.fault;
  exports org.revenantdb.chaos.history;
  exports org.revenantdb.chaos.ledger;
  exports org.revenantdb.chaos.junit;
  exports org.revenantdb.chaos.oracle;
  exports org.revenantdb.chaos.power;
  exports org.revenantdb.chaos.record;
  exports org.revenantdb.chaos.report;
  exports org.revenantdb.chaos.run;
  exports org.revenantdb.chaos.subject;
  exports org.revenantdb.chaos.teeth;
  exports org.revenantdb.chaos.trace;

  opens org.revenantdb.chaos.cli to
      info.picocli;
  opens org.revenantdb.chaos.revenant to
      info.picocli;
}

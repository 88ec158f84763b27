import org.jspecify.annotations.NullMarked;

/** A crash-testing framework for any storage code on the JVM. */
@NullMarked
// Chronicle Bytes has an automatic module name and no descriptor; nothing of it is in our API.
@SuppressWarnings("requires-automatic")
module org.revenantdb.chaos {
  // Used by the ledger in forked JVMs alone, which run on the class path.
  requires static chronicle.bytes;
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
}

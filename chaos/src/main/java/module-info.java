import org.jspecify.annotations.NullMarked;

/**
 * A crash-testing framework for any storage code on the JVM.
 *
 * <p>A crash test is a class of JUnit with {@link org.revenantdb.chaos.junit.CrashTest}, which
 * implements {@link org.revenantdb.chaos.subject.CrashSubject}. Everything else is internal.
 */
@NullMarked
// Agrona and Chronicle Bytes have automatic module names and no descriptors; nothing of them is in
// our API.
// RevenantDB's suite is compiled after the framework, whose compiler does not know it yet.
@SuppressWarnings({"module", "requires-automatic"})
module org.revenantdb.chaos {
  // Used by the ledger in forked JVMs alone, which run on the class path.
  requires static chronicle.bytes;
  requires org.agrona;
  requires static org.jspecify;
  requires static org.junit.jupiter.api;

  exports org.revenantdb.chaos.junit;
  exports org.revenantdb.chaos.profile;
  exports org.revenantdb.chaos.subject;
  // Internal: RevenantDB's suite assembles the parts anew and may change together with them.
  exports org.revenantdb.chaos.crash to
      org.revenantdb.suite;
  exports org.revenantdb.chaos.disk to
      org.revenantdb.suite;
  exports org.revenantdb.chaos.fault to
      org.revenantdb.suite;
  exports org.revenantdb.chaos.history to
      org.revenantdb.suite;
  exports org.revenantdb.chaos.oracle to
      org.revenantdb.suite;
  exports org.revenantdb.chaos.power to
      org.revenantdb.suite;
  exports org.revenantdb.chaos.recording to
      org.revenantdb.suite;
  exports org.revenantdb.chaos.report to
      org.revenantdb.suite;
  exports org.revenantdb.chaos.run to
      org.revenantdb.suite;
  exports org.revenantdb.chaos.teeth to
      org.revenantdb.suite;
  exports org.revenantdb.chaos.trace to
      org.revenantdb.suite;
}

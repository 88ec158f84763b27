import org.jspecify.annotations.NullMarked;

/**
 * A crash-testing framework for any storage code on the JVM.
 *
 * <p>A crash test is a JUnit test class with the annotation {@link
 * org.revenantdb.chaos.junit.CrashTest} that implements {@link
 * org.revenantdb.chaos.subject.CrashSubject}. Everything else is internal.
 */
@NullMarked
// Agrona has an automatic module name and no descriptor. Our API exposes none of its types.
// The compiler does not know RevenantDB's suite yet: the suite is compiled after the framework.
@SuppressWarnings({"module", "requires-automatic"})
module org.revenantdb.chaos {
  // For agents of forked JVMs, which resolve it because they have an agent.
  requires static java.instrument;
  requires org.agrona;
  requires static org.jspecify;
  requires static org.junit.jupiter.api;
  requires org.revenantdb.history;

  exports org.revenantdb.chaos.junit;
  exports org.revenantdb.chaos.profile;
  exports org.revenantdb.chaos.subject;
  // Internal: RevenantDB's suite builds its own runs from these parts and may change
  // together with them.
  exports org.revenantdb.chaos.crash to
      org.revenantdb.suite;
  exports org.revenantdb.chaos.disk to
      org.revenantdb.suite;
  exports org.revenantdb.chaos.fault to
      org.revenantdb.suite;
  exports org.revenantdb.chaos.history to
      org.revenantdb.suite;
  exports org.revenantdb.chaos.inject to
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

package org.revenantdb.chaos.crash;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.revenantdb.chaos.ledger.Ledger;
import org.revenantdb.chaos.ledger.LedgerReader;

/**
 * The parent's side of one life: forks the child, reads its ledger while it lives, kills it when
 * its time has come, and reads on to the end.
 *
 * <p>Threads: one, and it alone may start another life on the same files.
 */
final class LifeWatch implements AutoCloseable {

  /** Between two looks into the ledger; how late the kill is, and no measure of anything else. */
  private static final long NAP = 100_000;

  /** Before the child has said its first word: its JVM is starting. */
  private static final long LONG_NAP = 1_000_000;

  private final ForkedJvm child;
  private final LedgerReader ledger;
  private final Thread drain;
  private final LifeReport report = new LifeReport();

  private LifeWatch(ForkedJvm child, LedgerReader ledger) {
    this.child = child;
    this.ledger = ledger;
    this.drain = Thread.ofPlatform().daemon().name("output of " + child.pid()).start(child::drain);
  }

  /**
   * Forks a child.
   *
   * @param order what it does
   * @param subject the class named in the order
   * @param arena where relative paths begin
   * @param temporary for files that the code under test takes to be somewhere else
   * @param flags of its JVM beyond those of the ledger
   * @param stallLimit how long it may say nothing
   */
  static LifeWatch fork(
      LifeOrder order,
      Class<?> subject,
      Path arena,
      Path temporary,
      List<String> flags,
      Duration stallLimit) {
    ForkedJvm.Builder builder =
        ForkedJvm.of(SubjectMain.class)
            .withCodeOf(subject)
            .shortLived()
            .flags(Ledger.flags())
            .flags("-XX:-UsePerfData", "-Djava.io.tmpdir=" + temporary)
            .flags("-XX:ErrorFile=" + temporary.resolve("hs_err.log"))
            .flags(flags.toArray(String[]::new))
            .directory(arena)
            .stallLimit(stallLimit);
    order.arguments().forEach(builder::argument);
    return new LifeWatch(builder.fork(), LedgerReader.of(order.ledger()));
  }

  /** Follows the child until it has ended or the rule says that it must. */
  LifeReport run(KillRule rule) {
    follow(rule);
    return finish();
  }

  /**
   * Follows the child until the rule says that its time has come.
   *
   * @return false if it ended before
   */
  boolean reaches(KillRule rule) {
    while (child.isAlive()) {
      read();
      if (due(rule)) {
        return true;
      }
      LockSupport.parkNanos(ledger.count() == 0 ? LONG_NAP : NAP);
    }
    read();
    return false;
  }

  private void follow(KillRule rule) {
    if (reaches(rule)) {
      if (rule instanceof KillRule.Inside(Phase p, int times, long delay)) {
        child.killAfter(Duration.ofNanos(delay));
      } else {
        child.kill();
      }
    }
  }

  private boolean due(KillRule rule) {
    return switch (rule) {
      case KillRule.Never() -> false;
      case KillRule.AtPromise(KillPoint point) -> point.reached(report.events().size());
      case KillRule.Inside(Phase phase, int times, long delay) -> report.begun(phase) >= times;
    };
  }

  private void read() {
    List<byte[]> entries = ledger.read();
    if (!entries.isEmpty()) {
      child.seenAtWork();
      entries.forEach(entry -> report.add(LifeEntry.decode(entry)));
    }
  }

  /** Reads what was said so far; the child may be stopped or gone. */
  void look() {
    read();
  }

  /** Says whether the child is stopped by us. */
  void rest(boolean now) {
    child.rest(now);
  }

  /** What is known so far. */
  LifeReport report() {
    return report;
  }

  long pid() {
    return child.pid();
  }

  boolean isAlive() {
    return child.isAlive();
  }

  /** Kills the child now. */
  LifeReport kill() {
    child.kill();
    return finish();
  }

  /** Waits for the end and reads what is left. */
  private LifeReport finish() {
    int code = child.awaitEnd();
    read();
    report.ended(child, code);
    return report;
  }

  @Override
  public void close() {
    if (child.isAlive()) {
      child.kill();
    }
    boolean interrupted = Thread.interrupted();
    try {
      drain.join();
    } catch (InterruptedException e) {
      interrupted = true;
    }
    child.close();
    ledger.close();
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}

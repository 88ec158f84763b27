package org.revenantdb.chaos.crash;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.revenantdb.chaos.ledger.LedgerReader;

/**
 * The parent's side of one life: forks the child, reads its ledger during its life, kills it when
 * the rule says so, and reads the rest.
 *
 * <p>Threads: one. Only that thread may start another life on the same files.
 */
final class LifeWatch implements AutoCloseable {

  /** The pause between two reads of the ledger. It only determines how late the kill is. */
  private static final long NAP = 100_000;

  /** The same before the child's first report, while its JVM starts, and if there is no kill. */
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
   * @param order the order for the child
   * @param subject the class in the order
   * @param arena the working directory of the child
   * @param temporary the child's directory for temporary files
   * @param flags of its JVM, in addition to those of the ledger
   * @param stallLimit how long it may give no sign of life
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
            .passProperties()
            .shortLived()
            .flags("-XX:-UsePerfData", "-Djava.io.tmpdir=" + temporary)
            .flags("-XX:ErrorFile=" + temporary.resolve("hs_err.log"))
            .flags(flags.toArray(String[]::new))
            .directory(arena)
            .stallLimit(stallLimit);
    order.arguments().forEach(builder::argument);
    return new LifeWatch(builder.fork(), LedgerReader.of(order.ledger()));
  }

  /** Follows the child until it has ended or the rule says so. */
  LifeReport run(KillRule rule) {
    follow(rule);
    return finish();
  }

  /**
   * Follows the child until the rule says so.
   *
   * @return false if it ended before
   */
  boolean reaches(KillRule rule) {
    while (child.isAlive()) {
      read();
      if (due(rule)) {
        return true;
      }
      boolean isDistant = ledger.count() == 0 || rule instanceof KillRule.Never;
      LockSupport.parkNanos(isDistant ? LONG_NAP : NAP);
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

  /** Reads the entries so far; the child may be stopped or dead. */
  void look() {
    read();
  }

  /** Notes whether we have stopped the child. */
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

  /** Waits for the end and reads the remaining entries. */
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

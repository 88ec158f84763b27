package org.revenantdb.chaos.crash;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.revenantdb.chaos.crash.LifeReport.End;
import org.revenantdb.chaos.oracle.PromiseEvent;
import org.revenantdb.chaos.oracle.PromiseEvent.AllDurable;
import org.revenantdb.chaos.oracle.PromiseEvent.By;
import org.revenantdb.chaos.oracle.PromiseEvent.Crash;
import org.revenantdb.chaos.oracle.PromiseEvent.OfGroup;
import org.revenantdb.chaos.oracle.PromiseEvent.OfWrite;
import org.revenantdb.chaos.oracle.PromiseEvent.Put;
import org.revenantdb.chaos.subject.Verdict;

/**
 * A writer that another process takes for dead although it lives: it is stopped in the middle of
 * its work while another process tries to open the store, and then continues.
 *
 * <pre>
 *   zombie     works ... SIGSTOP                           SIGCONT, works on ... SIGKILL
 *   successor                    open, work, close (or refused)
 *   afterwards                                                                   open, check
 * </pre>
 *
 * <p>The store may refuse the successor or let it wait. If it is let in, everything that was
 * promised to either process must be there at the end. The zombie may then be refused.
 */
final class ZombieRound {

  /** A successor without a sign of life for this long is waiting for the zombie's lock. */
  private static final Duration PATIENCE = Duration.ofSeconds(10);

  private static final long NAP = 1_000_000;

  /** Separates the successor's numbers of threads and groups from the zombie's. */
  private static final long APART = 1L << 32;

  private final StoreLine store;
  private final Options options;
  private final SplittableRandom random;
  private final long promisesOfAWork;

  ZombieRound(StoreLine store, Options options, SplittableRandom random, long promisesOfAWork) {
    this.store = store;
    this.options = options;
    this.random = random;
    this.promisesOfAWork = promisesOfAWork;
  }

  /**
   * Runs the round. Afterwards the store has to be checked.
   *
   * @throws BrokenHarnessException if this system cannot stop a process
   */
  void play() throws IOException, BrokenHarnessException {
    Duration patience =
        PATIENCE.compareTo(options.stallLimit()) < 0 ? PATIENCE : options.stallLimit();
    LifeOrder order =
        store.order(random.nextLong(), Integer.MAX_VALUE, Integer.MAX_VALUE, false, false);
    List<PromiseEvent> said = new ArrayList<>();
    String death;
    try (LifeWatch zombie = store.fork(order, options.stallLimit())) {
      KillPoint stop = KillPoint.uniform(random, 1, 2 * promisesOfAWork);
      if (!zombie.reaches(new KillRule.AtPromise(stop))) {
        throw new BrokenHarnessException(
            Verdict.HARNESS_BROKEN,
            "in its first life on an intact disk the subject " + zombie.kill().summary());
      }
      zombie.rest(true);
      signal("STOP", zombie.pid());
      awaitStopped(zombie);
      zombie.look();
      LifeReport report = zombie.report();
      int before = report.events().size();
      said.addAll(report.events());
      LifeReport successor;
      store.keepImage();
      LifeOrder beside = store.orderBeside(said, random.nextLong());
      try (LifeWatch watch = store.fork(beside, patience)) {
        successor = watch.run(new KillRule.Never());
      }
      if (!successor.findings().isEmpty()) {
        store.failBeside(successor, said);
      }
      said.addAll(apart(successor.events()));
      signal("CONT", zombie.pid());
      zombie.rest(false);
      KillPoint last = new KillPoint(before + 1 + random.nextLong(promisesOfAWork));
      zombie.reaches(new KillRule.AtPromise(last));
      zombie.kill();
      said.addAll(report.events().subList(before, report.events().size()));
      death =
          "was stopped while another one "
              + (successor.end() == End.DONE ? "had the store" : successor.summary())
              + ", and then "
              + report.summary();
    }
    store.together(inTurn(said), order.seed(), death);
  }

  private static List<PromiseEvent> apart(List<PromiseEvent> events) {
    List<PromiseEvent> result = new ArrayList<>();
    for (PromiseEvent event : events) {
      result.add(
          switch (event) {
            case OfWrite e -> new OfWrite(apart(e.by()), e.what(), e.key(), e.value());
            case OfGroup e -> new OfGroup(apart(e.by()), APART + e.group(), e.step());
            case Put e -> new Put(apart(e.by()), APART + e.group(), e.key(), e.value());
            case AllDurable e -> new AllDurable(apart(e.by()));
            case Crash e -> e;
          });
    }
    return result;
  }

  private static By apart(By by) {
    return new By(by.place(), APART + by.thread(), by.name() + " of the successor");
  }

  /** The two processes had separate clocks; this assigns places in the order of events. */
  private static List<PromiseEvent> inTurn(List<PromiseEvent> events) {
    List<PromiseEvent> result = new ArrayList<>();
    for (PromiseEvent event : events) {
      long place = result.size() + 1L;
      result.add(
          switch (event) {
            case OfWrite e -> new OfWrite(at(place, e.by()), e.what(), e.key(), e.value());
            case OfGroup e -> new OfGroup(at(place, e.by()), e.group(), e.step());
            case Put e -> new Put(at(place, e.by()), e.group(), e.key(), e.value());
            case AllDurable e -> new AllDurable(at(place, e.by()));
            case Crash e -> e;
          });
    }
    return result;
  }

  private static By at(long place, By by) {
    return new By(place, by.thread(), by.name());
  }

  private static void signal(String name, long pid) throws BrokenHarnessException {
    try {
      Process kill = new ProcessBuilder("kill", "-" + name, Long.toString(pid)).start();
      if (kill.waitFor() == 0) {
        return;
      }
    } catch (IOException e) {
      // The same as a command that fails.
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    throw new BrokenHarnessException(
        Verdict.NOT_MEASURED, "zombies: this system has no kill -" + name + " for a process");
  }

  /** The signal is sent, but each thread stops only when it next checks for signals. */
  private static void awaitStopped(LifeWatch zombie) throws IOException {
    while (zombie.isAlive() && !isStopped(zombie.pid())) {
      LockSupport.parkNanos(NAP);
    }
  }

  private static boolean isStopped(long pid) throws IOException {
    Path tasks = Path.of("/proc", Long.toString(pid), "task");
    if (Files.isDirectory(tasks)) {
      try (Stream<Path> list = Files.list(tasks)) {
        return list.mapToInt(TaskState::of)
            .allMatch(state -> state == TaskState.STOPPED || state == TaskState.GONE);
      }
    }
    Process ps = new ProcessBuilder("ps", "-o", "state=", "-p", Long.toString(pid)).start();
    try (var output = ps.inputReader()) {
      String state = output.readLine();
      return state != null && state.strip().startsWith("T");
    }
  }
}

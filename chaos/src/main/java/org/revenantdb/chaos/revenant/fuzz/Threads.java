package org.revenantdb.chaos.revenant.fuzz;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.LockSupport;

/**
 * The threads of an engine: which die, which are missing, which stay behind.
 *
 * <p>Threads: one, beside those that are watched.
 */
final class Threads {

  /** They wait for the next database, for a while. */
  private static final Set<String> SHARED = Set.of("revenant-idle", "revenant-forgotten");

  /** Names of calls that end, perhaps a moment after the caller has its answer. */
  private static final Set<String> CALLS =
      Set.of("revenant-open", "revenant-close", "revenant-check");

  private static final int LOOKS = 3_000;

  private final String prefix;
  private final ConcurrentLinkedQueue<Finding> deaths = new ConcurrentLinkedQueue<>();

  /** Those that a sound database has from the open to the close. */
  private Set<String> always = Set.of();

  Threads(String prefix) {
    this.prefix = prefix;
  }

  /** Hears of every thread of this JVM that dies. */
  void listen() {
    Thread.setDefaultUncaughtExceptionHandler((thread, thrown) ->
        deaths.add(
            Finding.of(
                thrown instanceof OutOfMemoryError || thrown instanceof StackOverflowError
                    ? Outcome.OUT_OF_MEMORY
                    : Outcome.DEAD_THREADS,
                "thread " + name(thread.getName()),
                thrown)));
  }

  private static String name(String thread) {
    return thread.replaceAll("[0-9]+", "N");
  }

  /** Notes who is there while a sound database is open. */
  void learn(boolean first) {
    Set<String> now = new TreeSet<>(running());
    now.removeAll(CALLS);
    if (!first) {
      now.retainAll(always);
    }
    always = now;
  }

  /** Who should be there and is not; one that was started may not have begun yet. */
  List<String> missing() {
    Set<String> missing = new TreeSet<>(always);
    missing.removeAll(running());
    for (int look = 0; !missing.isEmpty() && look < LOOKS; look++) {
      LockSupport.parkNanos(1_000_000);
      missing.removeAll(running());
    }
    return List.copyOf(missing);
  }

  /** Who died, and who is still there although nothing is open. */
  List<Finding> left() {
    List<String> running = running();
    for (int look = 0; !running.isEmpty() && look < LOOKS; look++) {
      LockSupport.parkNanos(1_000_000); // they are about to end, after what they did has ended
      running = running();
    }
    List<Finding> findings = new ArrayList<>();
    if (!running.isEmpty()) {
      StringBuilder stacks = new StringBuilder();
      Thread.getAllStackTraces()
          .forEach((thread, frames) -> {
            if (isOurs(thread)) {
              stacks.append(thread).append('\n');
              for (StackTraceElement frame : frames) {
                stacks.append("    at ").append(frame).append('\n');
              }
            }
          });
      List<String> names = running.stream().map(Threads::name).distinct().sorted().toList();
      findings.add(
          new Finding(Outcome.LEAKS, "closed", "leaks: threads " + names, stacks.toString()));
    }
    for (Finding death; (death = deaths.poll()) != null; ) {
      findings.add(death);
    }
    return findings;
  }

  private List<String> running() {
    ThreadGroup group = Thread.currentThread().getThreadGroup();
    while (group.getParent() != null) {
      group = group.getParent();
    }
    Thread[] all = new Thread[group.activeCount() + 32];
    int count = group.enumerate(all);
    List<String> names = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      if (isOurs(all[i])) {
        names.add(all[i].getName());
      }
    }
    return names;
  }

  private boolean isOurs(Thread thread) {
    return thread.getName().startsWith(prefix) && !SHARED.contains(thread.getName());
  }
}

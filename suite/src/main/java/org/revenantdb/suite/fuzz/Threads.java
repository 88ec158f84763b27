package org.revenantdb.suite.fuzz;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.BooleanSupplier;
import org.revenantdb.chaos.crash.StallWatch;

/**
 * The threads of an engine: those that died, are missing, or stay behind.
 *
 * <p>Threads: one, apart from those that are watched.
 */
final class Threads {

  /** They wait for the next database for a while. */
  private static final Set<String> SHARED = Set.of("revenant-idle", "revenant-forgotten");

  /**
   * Work that ends while the database is open: calls, perhaps a moment after the caller has its
   * answer, and the redo after a crash.
   */
  private static final Set<String> PASSING =
      Set.of(
          "revenant-classes", "revenant-open", "revenant-close", "revenant-check", "revenant-redo");

  /** How long a thread may take to begin or to end. */
  private static final Duration PATIENCE = Duration.ofSeconds(3);

  private final String prefix;
  private final Duration patience;
  private final ConcurrentLinkedQueue<Finding> deaths = new ConcurrentLinkedQueue<>();

  /** The threads of a sound database from the open to the close. */
  private Set<String> always = Set.of();

  Threads(String prefix) {
    this(prefix, PATIENCE);
  }

  /** For tests whose threads will never begin or end. */
  Threads(String prefix, Duration patience) {
    this.prefix = prefix;
    this.patience = patience;
  }

  /** Records every uncaught exception in a thread of this JVM. */
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

  /** Records the threads that exist while a sound database is open. */
  void learn(boolean first) {
    Set<String> now = new TreeSet<>(running());
    now.removeAll(PASSING);
    if (!first) {
      now.retainAll(always);
    }
    always = now;
  }

  /** The threads that are missing; one that was started may not have begun yet. */
  List<String> missing() {
    Set<String> missing = new TreeSet<>(always);
    await(() -> {
      missing.removeAll(running());
      return missing.isEmpty();
    });
    return List.copyOf(missing);
  }

  /** The threads that died, and those that still exist although no database is open. */
  List<Finding> left() {
    await(() -> running().isEmpty()); // they may still be about to end
    List<String> running = running();
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

  /** Waits for a state; the caller checks whether it was reached. */
  private void await(BooleanSupplier reached) {
    try {
      var _ = new StallWatch(patience).awaitState(reached);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
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

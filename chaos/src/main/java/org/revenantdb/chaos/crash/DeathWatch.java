package org.revenantdb.chaos.crash;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.revenantdb.chaos.fault.Fault;
import org.revenantdb.chaos.fault.FaultInjector;
import org.revenantdb.chaos.fault.FileOperation;
import org.revenantdb.chaos.subject.CrashSubject;
import org.revenantdb.chaos.trace.Site;

/**
 * The child's own eye on the places where it may die: counts how often each is passed, and ends the
 * process at the one pass that was ordered.
 *
 * <p>Threads: any.
 */
final class DeathWatch implements FaultInjector {

  /** As of a process that was killed by signal 9, seen by a shell. */
  private static final int KILLED = 128 + 9;

  private final CrashSubject<?> subject;
  private final @Nullable DeathPoint point;
  private final Consumer<LifeEntry> ledger;
  private final Map<String, Long> passes = new LinkedHashMap<>();

  DeathWatch(CrashSubject<?> subject, @Nullable DeathPoint point, Consumer<LifeEntry> ledger) {
    this.subject = subject;
    this.point = point;
    this.ledger = ledger;
  }

  @Override
  public Fault before(FileOperation operation) {
    if (operation.kind() == FileOperation.Kind.READ) {
      return Fault.NONE; // The files are the same before and after it.
    }
    String kind = subject.kindOf(operation.path());
    Site site = Site.of(operation.stack(), subject.seam(), kind);
    boolean last = pass(operation.kind() + " " + site);
    return last && point != null ? new Fault.Die(point.after()) : Fault.NONE;
  }

  /** What {@link org.revenantdb.chaos.subject.Failpoint#reach} comes to. */
  void reached(String name) {
    if (pass("failpoint " + name)) {
      Runtime.getRuntime().halt(KILLED);
    }
  }

  /** Counts a pass, and says whether it is the last one. */
  private boolean pass(String place) {
    long pass;
    synchronized (passes) {
      pass = passes.merge(place, 1L, Long::sum);
    }
    if (pass == 1) {
      ledger.accept(new LifeEntry.Passed(place, 1));
    }
    if (point == null || pass != point.pass() || !place.equals(point.place())) {
      return false;
    }
    ledger.accept(new LifeEntry.Dies(point.toString()));
    return true;
  }

  /** Tells how often each place was passed beyond the once that was told of. */
  void tell() {
    synchronized (passes) {
      passes.forEach((place, times) -> {
        if (times > 1) {
          ledger.accept(new LifeEntry.Passed(place, times - 1));
        }
      });
    }
  }
}

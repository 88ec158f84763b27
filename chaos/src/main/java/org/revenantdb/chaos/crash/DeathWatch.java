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
 * The child's counter of the places where it may die: counts the passes of each, and ends the
 * process at the ordered pass.
 *
 * <p>Threads: any.
 */
final class DeathWatch implements FaultInjector {

  /** The exit code that a shell reports for a process killed by signal 9. */
  private static final int KILLED = 128 + 9;

  private static final String NAMED = "failpoint ";

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

  /** Called by {@link org.revenantdb.chaos.subject.Failpoint#reach}. */
  void reached(String name) {
    if (pass(NAMED + name)) {
      Runtime.getRuntime().halt(KILLED);
    }
  }

  /** Whether a place is a failpoint that the subject named, and no operation on a file. */
  static boolean isNamed(String place) {
    return place.startsWith(NAMED);
  }

  /** Whether a place changes a file or a name: no failpoint, no opening and no force. */
  static boolean isChange(String place) {
    return !isNamed(place) && !isForce(place) && !place.startsWith(FileOperation.Kind.OPEN + " ");
  }

  /** Whether a place forces a file or a directory. */
  static boolean isForce(String place) {
    return place.startsWith(FileOperation.Kind.FORCE + " ");
  }

  /** Counts a pass. Returns whether it is the last one. */
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

  /** Reports how often each place was passed beyond the first pass, which was reported already. */
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

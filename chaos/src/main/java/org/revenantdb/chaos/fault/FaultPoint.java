package org.revenantdb.chaos.fault;

import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicLong;
import org.revenantdb.chaos.subject.FaultKind;

/**
 * A fault of the catalogue, and the operation that it strikes.
 *
 * @param kind the fault
 * @param nth at which of the operations where the fault is possible, from 1
 */
public record FaultPoint(FaultKind kind, long nth) {

  private static final String NO_REASON = "Input/output error";

  /**
   * Returns whether an operation can have such a fault.
   *
   * @param kind the fault
   * @param operation about to be carried out
   * @return true if it can
   */
  public static boolean isPossible(FaultKind kind, FileOperation operation) {
    return switch (kind) {
      case WRITE_FAILS -> operation.kind() == FileOperation.Kind.WRITE;
      case DISK_FULL ->
          operation.kind() == FileOperation.Kind.CREATE
              || (operation.kind() == FileOperation.Kind.WRITE && operation.growth() > 0);
      case SHORT_WRITE -> operation.kind() == FileOperation.Kind.WRITE && operation.length() > 1;
      case FORCE_FAILS, FORCE_FAILS_CLEAN -> operation.kind() == FileOperation.Kind.FORCE;
      case OPEN_FAILS -> operation.kind() == FileOperation.Kind.OPEN;
      case CREATE_FAILS -> operation.kind() == FileOperation.Kind.CREATE;
      case TRUNCATE_FAILS -> operation.kind() == FileOperation.Kind.TRUNCATE;
      case RENAME_FAILS -> operation.kind() == FileOperation.Kind.RENAME;
      case DELETE_FAILS -> operation.kind() == FileOperation.Kind.DELETE;
      case READ_FAILS -> operation.kind() == FileOperation.Kind.READ;
      case OUT_OF_MEMORY, STACK_OVERFLOW ->
          operation.kind() == FileOperation.Kind.READ || isChange(operation.kind());
      case INTERRUPT -> isChange(operation.kind());
      case ALLOCATION_FAILS, HEAP_FULL, CALL_OVERFLOWS -> false;
    };
  }

  private static boolean isChange(FileOperation.Kind kind) {
    return kind == FileOperation.Kind.WRITE || kind == FileOperation.Kind.FORCE;
  }

  private static Fault fault(FaultKind kind, FileOperation operation) {
    return switch (kind) {
      case DISK_FULL -> new Fault.DiskFull();
      case SHORT_WRITE -> new Fault.ShortWrite(operation.length() / 2);
      case FORCE_FAILS -> new Fault.FailForce(/* clean= */ false);
      case FORCE_FAILS_CLEAN -> new Fault.FailForce(/* clean= */ true);
      case OUT_OF_MEMORY -> new Fault.Throw(/* outOfMemory= */ true);
      case STACK_OVERFLOW -> new Fault.Throw(/* outOfMemory= */ false);
      case INTERRUPT -> new Fault.Interrupt();
      default -> new Fault.Fail(NO_REASON);
    };
  }

  /**
   * Returns an injector that has counted nothing yet.
   *
   * @return for one life
   */
  public Injector injector() {
    return new Injector(this);
  }

  /** Injects the fault of a point. */
  public static final class Injector implements FaultInjector {

    private final FaultPoint point;
    private final AtomicLong possible = new AtomicLong();

    private Injector(FaultPoint point) {
      this.point = point;
    }

    /**
     * Returns what it injects.
     *
     * @return the point
     */
    public FaultPoint point() {
      return point;
    }

    @Override
    public Fault before(FileOperation operation) {
      if (!isPossible(point.kind, operation)) {
        return Fault.NONE;
      }
      long now = possible.incrementAndGet();
      // A disk that is full stays full.
      boolean strikes = point.kind == FaultKind.DISK_FULL ? now >= point.nth : now == point.nth;
      return strikes ? fault(point.kind, operation) : Fault.NONE;
    }
  }

  /** Injects nothing and counts where faults are possible. */
  public static final class Counter implements FaultInjector {

    private final Map<FaultKind, AtomicLong> possible = new EnumMap<>(FaultKind.class);

    /** Creates a counter. */
    public Counter() {
      for (FaultKind kind : FaultKind.values()) {
        possible.put(kind, new AtomicLong());
      }
    }

    @Override
    public Fault before(FileOperation operation) {
      possible.forEach((kind, count) -> {
        if (isPossible(kind, operation)) {
          count.incrementAndGet();
        }
      });
      return Fault.NONE;
    }

    /**
     * Returns how many operations so far could have had a fault.
     *
     * @param kind the fault
     * @return a count
     */
    public long of(FaultKind kind) {
      return Objects.requireNonNull(possible.get(kind)).get();
    }
  }
}

package org.revenantdb.chaos.fault;

/**
 * Asked before every operation whether it goes wrong.
 *
 * <p>Threads: any, also several at once. It must not touch the file system that asks it.
 */
@FunctionalInterface
public interface FaultInjector {

  /** Never anything wrong. */
  FaultInjector NOTHING = operation -> Fault.NONE;

  /**
   * Decides about one operation.
   *
   * @param operation about to be carried out
   * @return what goes wrong with it; a fault that makes no sense for the operation is ignored
   */
  Fault before(FileOperation operation);

  /**
   * Has another one decide where this one has nothing to object.
   *
   * @param other asked if this one says {@link Fault#NONE}
   * @return both of them
   */
  default FaultInjector or(FaultInjector other) {
    return operation -> {
      Fault fault = before(operation);
      return fault instanceof Fault.None ? other.before(operation) : fault;
    };
  }
}

package org.revenantdb.chaos.fault;

/**
 * Decides before every operation whether it fails, and how.
 *
 * <p>Threads: any, also several at once. It must not use the file system that calls it.
 */
@FunctionalInterface
public interface FaultInjector {

  /** Never injects a fault. */
  FaultInjector NOTHING = operation -> Fault.NONE;

  /**
   * Decides about one operation.
   *
   * @param operation about to be carried out
   * @return the fault; one that makes no sense for the operation is ignored
   */
  Fault before(FileOperation operation);

  /**
   * Combines two injectors: the other one decides where this one returns no fault.
   *
   * @param other asked if this one returns {@link Fault#NONE}
   * @return the combination
   */
  default FaultInjector or(FaultInjector other) {
    return operation -> {
      Fault fault = before(operation);
      return fault instanceof Fault.None ? other.before(operation) : fault;
    };
  }
}

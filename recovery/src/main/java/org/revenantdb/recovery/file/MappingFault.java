package org.revenantdb.recovery.file;

/**
 * Faults of memory that is a mapped file: the file was cut, its device fails or has no room.
 *
 * <p>Threads: any.
 */
public final class MappingFault {
  private static final Object LOCK = new Object();

  private MappingFault() {}

  /**
   * Has the JVM throw the fault that an access of this thread has met, if it has not thrown it yet.
   * It may throw the error later than the access, at the next call into the system at the latest.
   * The call neither parks nor yields, because the stack of a virtual thread may be too deep for
   * that.
   *
   * @throws InternalError if an access has met a fault
   */
  public static void await() {
    boolean _ = Thread.holdsLock(LOCK); // a call into the system that does nothing
  }
}

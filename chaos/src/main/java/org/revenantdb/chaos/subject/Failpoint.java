package org.revenantdb.chaos.subject;

import org.revenantdb.chaos.fault.FailpointListener;

/**
 * A place where a process-death run with failpoints may kill the process, named by the code under
 * test.
 *
 * <p>It is seldom needed: every call site of a file operation is such a place without a line in the
 * code, and between two operations on files a death changes nothing that a recovery could see. It
 * is for code whose state lives elsewhere, in another process for instance.
 *
 * <p>Threads: any. Outside of such a run a call does nothing.
 */
public final class Failpoint {

  private Failpoint() {}

  /**
   * Says that the place is reached. Does not return if this is where the process is to die.
   *
   * @param name of the place
   */
  public static void reach(String name) {
    FailpointListener.reached(name);
  }
}

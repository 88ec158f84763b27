package org.revenantdb.chaos.subject;

import org.revenantdb.chaos.fault.FailpointListener;

/**
 * A named place in the code under test where a process-death run with failpoints may kill the
 * process.
 *
 * <p>It is seldom needed. Every call site of a file operation is such a place without any code, and
 * between two file operations a death changes nothing that recovery could see. Use it for code with
 * state elsewhere, for instance in another process.
 *
 * <p>Threads: any. Outside such a run a call does nothing.
 */
public final class Failpoint {

  private Failpoint() {}

  /**
   * Reports that the code reached the place. Does not return if the process is to die here.
   *
   * @param name of the place
   */
  public static void reach(String name) {
    FailpointListener.reached(name);
  }
}

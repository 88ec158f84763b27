package org.revenantdb.chaos.crash;

/** What a {@link StallWatch} reads from the machine. Tests use a machine of their own. */
interface Machine {

  /**
   * Returns the time.
   *
   * @return nanoseconds since an arbitrary moment
   */
  long nanoTime();

  /**
   * Measures the share of one processor that a thread gets at present. The call takes about 20 ms
   * of processor time.
   *
   * @return above 0 and at most 1; 1 if nothing else uses the processor
   */
  double pace();

  /**
   * Returns whether a thread of the process is in a system call that waits for a device.
   *
   * @param process its id
   * @return false if the system does not report it
   */
  boolean waitsForDevice(long process);
}

package org.revenantdb.chaos.crash;

/** What a {@link StallWatch} reads from the machine; tests have a machine of their own. */
interface Machine {

  /**
   * The clock.
   *
   * @return nanoseconds since an arbitrary moment
   */
  long nanoTime();

  /**
   * Measures the share of one processor that a thread gets at present. The call takes about 20 ms
   * of processor time.
   *
   * @return above 0 and at most 1; 1 where nobody else needs the processor
   */
  double pace();

  /**
   * Whether a thread of the process is in a system call that waits for a device.
   *
   * @param process its id
   * @return false where the system does not tell
   */
  boolean waitsForDevice(long process);
}

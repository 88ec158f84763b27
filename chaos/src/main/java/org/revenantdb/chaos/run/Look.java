package org.revenantdb.chaos.run;

import org.revenantdb.chaos.disk.DiskImage;
import org.revenantdb.chaos.oracle.PromiseLog;

/** Opens an image and tells what came of it. */
@FunctionalInterface
interface Look {

  /**
   * Looks.
   *
   * @param image is used up
   * @param log what was promised
   * @param seq the crash point
   * @return what came of it
   */
  StateResult at(DiskImage image, PromiseLog log, long seq);
}

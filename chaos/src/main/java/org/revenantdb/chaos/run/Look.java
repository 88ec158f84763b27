package org.revenantdb.chaos.run;

import org.revenantdb.chaos.disk.DiskImage;
import org.revenantdb.chaos.oracle.PromiseLog;

/** Opens an image and returns the result. */
@FunctionalInterface
interface Look {

  /**
   * Opens and checks an image.
   *
   * @param image is changed
   * @param log the promises
   * @param seq the crash point
   * @return the result
   */
  StateResult at(DiskImage image, PromiseLog log, long seq);
}

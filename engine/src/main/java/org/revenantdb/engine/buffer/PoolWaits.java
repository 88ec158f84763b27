package org.revenantdb.engine.buffer;

import org.revenantdb.latch.WaitMeter;

/** Where the waits for a buffer pool are told, by class. The methods throw nothing. */
public interface PoolWaits {
  /** Tells nobody. */
  PoolWaits NONE =
      new PoolWaits() {
        @Override
        public WaitMeter latch(int pageType, boolean shared) {
          return WaitMeter.NONE;
        }

        @Override
        public WaitMeter read() {
          return WaitMeter.NONE;
        }

        @Override
        public WaitMeter frame() {
          return WaitMeter.NONE;
        }
      };

  /**
   * For the latch of a page that is there, and that somebody else has latched.
   *
   * @param pageType the page's type as it was a moment ago, any number: the page may be changing
   * @param shared whether it is wanted shared, not exclusively
   * @return where the wait is told
   */
  WaitMeter latch(int pageType, boolean shared);

  /**
   * For a page that is being read from the file, by the waiting thread itself, or by or for others.
   *
   * @return where the wait is told
   */
  WaitMeter read();

  /**
   * For a frame to become free.
   *
   * @return where the wait is told
   */
  WaitMeter frame();
}

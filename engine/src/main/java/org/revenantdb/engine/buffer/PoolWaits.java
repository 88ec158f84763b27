package org.revenantdb.engine.buffer;

import org.revenantdb.latch.WaitMeter;

/** Receives the waits for a buffer pool, by class. The methods throw nothing. */
public interface PoolWaits {
  /** Records nothing. */
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
   * Returns the meter for the latch of a page that is there and latched by another thread.
   *
   * @param pageType the page's type as it was a moment ago, any number: the page may be changing
   * @param shared true if it is requested shared, false if exclusively
   * @return the meter
   */
  WaitMeter latch(int pageType, boolean shared);

  /**
   * Returns the meter for a page that is being read from the file, by the waiting thread or another
   * one.
   *
   * @return the meter
   */
  WaitMeter read();

  /**
   * Returns the meter for a free frame.
   *
   * @return the meter
   */
  WaitMeter frame();
}

package org.revenantdb.engine.buffer;

/**
 * Overwrites a frame that has lost its page, if a test requests it. A thread that still reads the
 * frame without checking its page then finds meaningless bytes.
 *
 * <p>Threads: any. A frame is overwritten under its last page's exclusive latch, when that page's
 * stay is already obsolete.
 */
final class FramePoison {
  private static final byte POISON = (byte) 0xDE;

  private static volatile boolean on;

  private FramePoison() {}

  /** For tests: whether frames are poisoned from now on, in all pools of the process. */
  static void set(boolean newOn) {
    on = newOn;
  }

  /** The page was evicted; its latch is still held. */
  static void pageLeft(Stay stay) {
    if (on) {
      stay.page().fill(POISON);
    }
  }
}

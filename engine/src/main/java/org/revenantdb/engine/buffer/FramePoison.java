package org.revenantdb.engine.buffer;

/**
 * Overwrites a frame that has lost its page, where a test wants that: whoever goes on reading it
 * without looking whether it still holds the page finds nothing that makes sense.
 *
 * <p>Threads: any. A frame is overwritten under its last page's exclusive latch, when that page's
 * stay is obsolete already.
 */
final class FramePoison {
  private static final byte POISON = (byte) 0xDE;

  private static volatile boolean on;

  private FramePoison() {}

  /** For tests: whether frames are poisoned from now on, in all pools of the process. */
  static void set(boolean newOn) {
    on = newOn;
  }

  /** The page has left; its latch is still held. */
  static void pageLeft(Stay stay) {
    if (on) {
      stay.page().fill(POISON);
    }
  }
}

package org.revenantdb.engine.buffer;

/** While it is open, each frame that loses its page is overwritten, in all pools of the process. */
public final class PoisonedFrames implements AutoCloseable {
  /** From now on. */
  public PoisonedFrames() {
    FramePoison.set(true);
  }

  @Override
  public void close() {
    FramePoison.set(false);
  }
}

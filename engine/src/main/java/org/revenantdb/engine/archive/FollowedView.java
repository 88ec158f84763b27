package org.revenantdb.engine.archive;

import java.lang.foreign.MemorySegment;
import org.revenantdb.recovery.restart.AnalysisResult;

/**
 * A read-only engine at the end of the log of a follower.
 *
 * <p>Threads: that of the follower, but for {@link #close}, which any thread calls that may access
 * files.
 */
public interface FollowedView extends AutoCloseable {
  /** What analysis has found; its end of the log is the position of the view. */
  AnalysisResult found();

  /** The pages that lacked something in the data file when the view was opened. */
  int[] lacking();

  /** Copies a page, with all changes up to the position of the view. */
  void copy(int pageId, MemorySegment to);

  /** Ends calls in it, and releases its memory and files. */
  @Override
  void close();
}

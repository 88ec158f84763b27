package org.revenantdb.engine.buffer;

import java.lang.foreign.MemorySegment;

/**
 * Receives each change of a page before it is made.
 *
 * <p>Threads: any, several at once, each with the page latched exclusively. For a space map several
 * threads have the same page latched shared; each returns before it makes its own change. The watch
 * takes no latch and waits for nothing.
 */
@FunctionalInterface
public interface ChangeWatch {
  /**
   * A page is about to be changed; its record is not reserved yet.
   *
   * @param page its present 8192 bytes
   */
  void beforeChange(int pageId, MemorySegment page);
}

package org.revenantdb.engine.buffer;

import java.lang.foreign.MemorySegment;

/**
 * Is told of each change of a page before it is made.
 *
 * <p>Threads: any, several at once, each with the page latched exclusively; of a space map several
 * with the same page, latched shared, of whom each is back before its own change. It takes no latch
 * and waits for nothing.
 */
@FunctionalInterface
public interface ChangeWatch {
  /**
   * A page is about to be changed; its record is not reserved yet.
   *
   * @param page its 8192 bytes as they still are
   */
  void beforeChange(int pageId, MemorySegment page);
}

package org.revenantdb.engine.buffer;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * A check of a page that has just been read, beyond its checksum and its page id.
 *
 * <p>The engine asks here whether the page's LSN can be: a page that is ahead of the durable log is
 * damage (rule R6); and whether it has the structure of its type.
 *
 * <p>Threads: called by whoever reads, several at once; it must not touch the pool.
 */
@FunctionalInterface
public interface PageReadCheck {
  /** Finds nothing wrong with any page. */
  PageReadCheck NONE = (pageId, page) -> null;

  /**
   * Looks at a page.
   *
   * @param page its 8192 bytes
   * @return what is wrong, a clause without a full stop, or null
   */
  @Nullable String problemOf(int pageId, MemorySegment page);

  /**
   * Whether a page has an LSN that lies between two lives. A later life, whose redo point has
   * passed them, does not know their bounds, and would read the page as sound.
   *
   * @param page its 8192 bytes, with which something is wrong
   */
  default boolean isBetweenLives(MemorySegment page) {
    return false;
  }

  /**
   * A page was refused that a later life may take for sound: a checkpoint has to say so. The page
   * is latched; this waits for nothing.
   */
  default void refused() {}

  /**
   * Looks at a page that was read and found good, before it is changed for the first time since:
   * what a reader need not know. The caller has the page latched exclusively, and no record is
   * reserved yet.
   *
   * @param page its 8192 bytes
   * @return what is wrong, a clause without a full stop, or null
   */
  default @Nullable String problemBeforeChange(int pageId, MemorySegment page) {
    return null;
  }
}

package org.revenantdb.engine.buffer;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * A check of a page that has just been read, beyond its checksum and its page id.
 *
 * <p>The engine checks here whether the page's LSN is possible, because a page ahead of the durable
 * log is damage (rule R6), and whether the page has the structure of its type.
 *
 * <p>Threads: called by every reading thread, several at once; it must not use the pool.
 */
@FunctionalInterface
public interface PageReadCheck {
  /** Accepts every page. */
  PageReadCheck NONE = (pageId, page) -> null;

  /**
   * Checks a page.
   *
   * @param page its 8192 bytes
   * @return what is wrong, a clause without a full stop, or null
   */
  @Nullable String problemOf(int pageId, MemorySegment page);

  /**
   * Returns whether a page has an LSN that lies between two lives. A later life whose redo point
   * has passed them does not know their bounds, and would read the page as sound.
   *
   * @param page its 8192 bytes, in which a problem was found
   */
  default boolean isBetweenLives(MemorySegment page) {
    return false;
  }

  /**
   * A page was refused that a later life may take for sound, so a checkpoint has to contain it. The
   * page is latched; this waits for nothing.
   */
  default void refused() {}

  /**
   * Checks a page that was read and is good, before its first change since: conditions that do not
   * matter to a reader. The caller has the page latched exclusively, and no record is reserved yet.
   *
   * @param page its 8192 bytes
   * @return what is wrong, a clause without a full stop, or null
   */
  default @Nullable String problemBeforeChange(int pageId, MemorySegment page) {
    return null;
  }
}

package org.revenantdb.engine.buffer;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.revenantdb.recovery.file.DamagedFileException;
import org.revenantdb.recovery.format.PageChecksum;
import org.revenantdb.recovery.format.PageHeaderLayout;

/**
 * Judges bytes that were read from the data file: whether they are the requested page, complete,
 * and its last written version.
 *
 * <p>It owns nothing. It uses {@link FlushedLsns} for the last writes, and {@link PageReadCheck}
 * for further conditions.
 *
 * <p>Threads: any, several at once, including the reading threads. Latches: none are acquired. Only
 * the caller accesses the bytes: the page is latched exclusively, or they are in scratch memory.
 */
final class PageJudge {
  private final FlushedLsns flushedLsns;
  private final PageReadCheck check;
  private final Path dataPath;

  /**
   * Creates a judge for the pages of one file.
   *
   * @param dataPath for messages
   */
  PageJudge(FlushedLsns flushedLsns, PageReadCheck check, Path dataPath) {
    this.flushedLsns = flushedLsns;
    this.check = check;
    this.dataPath = dataPath;
  }

  Path dataPath() {
    return dataPath;
  }

  /** The condition of a page according to its checksum. */
  static PageCondition conditionOf(MemorySegment page, int bytes) {
    if (bytes < BufferPool.PAGE_SIZE) {
      return PageCondition.BEYOND_END;
    }
    if (PageHeaderLayout.crc(page) == PageChecksum.compute(page)) {
      return PageCondition.GOOD;
    }
    return isBlank(page) ? PageCondition.NEVER_WRITTEN : PageCondition.DAMAGED;
  }

  private static boolean isBlank(MemorySegment page) {
    for (long at = 0; at < BufferPool.PAGE_SIZE; at += Long.BYTES) {
      if (page.get(ValueLayout.JAVA_LONG_UNALIGNED, at) != 0) {
        return false;
      }
    }
    return true;
  }

  /** What is wrong with a page of this condition, or null. */
  @Nullable String problemOf(PageCondition condition, MemorySegment page, int pageId) {
    String problem = problemOfBytes(condition, page, pageId);
    String notRedone = problem == null ? null : flushedLsns.whyNotRedone(pageId);
    return notRedone == null ? problem : notRedone; // bytes that redo has not replaced are no cause
  }

  private @Nullable String problemOfBytes(PageCondition condition, MemorySegment page, int pageId) {
    return switch (condition) {
      case BEYOND_END -> "page " + pageId + " lies beyond the end of the file";
      case NEVER_WRITTEN -> neverWritten(pageId, flushedLsns.of(pageId));
      case DAMAGED ->
          "page %d is damaged: its checksum is %08x, but its bytes have %08x"
              .formatted(pageId, PageHeaderLayout.crc(page), PageChecksum.compute(page));
      case GOOD -> {
        if (PageHeaderLayout.pageId(page) != pageId) {
          yield "page %d is damaged: the bytes at its place are those of page %s"
              .formatted(pageId, Integer.toUnsignedString(PageHeaderLayout.pageId(page)));
        }
        yield isOlderThanWritten(condition, page, pageId)
            ? "page %d is an old version of itself: its LSN is %d, but it was written with LSN %d, or a later one, and that write is lost"
                .formatted(pageId, PageHeaderLayout.pageLsn(page), flushedLsns.of(pageId))
            : check.problemOf(pageId, page);
      }
    };
  }

  private static String neverWritten(int pageId, long flushed) {
    return flushed == 0
        ? "page " + pageId + " was never written: its bytes are all zero"
        : "page %d was written with LSN %d, but its bytes are all zero, which is LSN 0: that write is lost"
            .formatted(pageId, flushed);
  }

  /**
   * Notes that a page was refused to a reader, if only the log of this life shows the reason
   * (protocols.md §9). Do not use it for a look at the file beside a frame, or for a caller that
   * may rebuild the page: then the page is not what the file contains.
   */
  void noteRefused(PageCondition condition, MemorySegment page, int pageId) {
    boolean isShown =
        isOlderThanWritten(condition, page, pageId) || isBetweenLives(condition, page, pageId);
    if (isShown && flushedLsns.refuse(pageId, leastGood(condition, page, pageId))) {
      check.refused();
    }
  }

  /**
   * Notes that a page could not be redone: the file has a version older than the LSN, which stays
   * so.
   *
   * @param why it could not
   * @return false if there are too many notes for this one
   */
  boolean refuseBelow(int pageId, long lsn, String why) {
    if (!flushedLsns.refuseBelow(pageId, lsn, why)) {
      return false;
    }
    check.refused();
    return true;
  }

  /** The LSN that a good page has at least, as far as the bytes read show it. */
  long leastGood(PageCondition condition, MemorySegment page, int pageId) {
    return Math.max(
        flushedLsns.of(pageId),
        isBetweenLives(condition, page, pageId) ? PageHeaderLayout.pageLsn(page) + 1 : 0);
  }

  private boolean isBetweenLives(PageCondition condition, MemorySegment page, int pageId) {
    return condition == PageCondition.GOOD
        && PageHeaderLayout.pageId(page) == pageId
        && check.isBetweenLives(page);
  }

  /** Whether damage concerns a page, and not the log. */
  boolean isOfPage(DamagedFileException damage) {
    return damage.file().equals(dataPath);
  }

  /** Whether the bytes read are good, or zeros, but not the last written version. */
  boolean isOlderThanWritten(PageCondition condition, MemorySegment page, int pageId) {
    return switch (condition) {
      case GOOD ->
          PageHeaderLayout.pageId(page) == pageId
              && PageHeaderLayout.pageLsn(page) < flushedLsns.of(pageId);
      case NEVER_WRITTEN -> flushedLsns.of(pageId) != 0;
      case BEYOND_END, DAMAGED -> false;
    };
  }

  /** Whether the page was written, in this life or a known former one. */
  boolean wasWritten(int pageId) {
    return flushedLsns.of(pageId) != 0;
  }

  /**
   * A page that was read is checked thoroughly before its first change, while nothing is logged.
   */
  void checkBeforeChange(Stay stay) {
    if (!stay.isFit()) {
      String problem = check.problemBeforeChange(stay.pageId(), stay.page());
      if (problem != null) {
        throw damage(stay.pageId(), problem);
      }
      stay.setFit();
    }
  }

  /** Like {@link #damage(int, String, Throwable)}, without a cause. */
  DamagedFileException damage(int pageId, String problem) {
    return damage(pageId, problem, /* cause= */ null);
  }

  /** Like {@link BufferPool#damage(int, String, Throwable)}. */
  DamagedFileException damage(int pageId, String problem, @Nullable Throwable cause) {
    return new DamagedFileException(dataPath, PageHeaderLayout.position(pageId), problem, cause);
  }
}

package org.revenantdb.engine.buffer;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.NullMarked;
import org.jspecify.annotations.Nullable;

/**
 * One frame of a pool, two pages that may be in it, and their entries in the translation, which is
 * package-private, for the jcstress tests. The steps are those of {@code FrameClaims.enter}, {@code
 * leave} and {@code release}, in their order, without files, clock and the list of free frames.
 *
 * <p>The translation is one for all: it is too large for one each, so each frame has two page ids
 * of its own in it, which come again after a million.
 */
@NullMarked
public final class OpenStays {
  /** What the frame holds in both words before any page of ours is in it. */
  public static final int BEFORE = 9;

  private static final int FRAME = 3;
  private static final int PAGES = 1 << 20;
  private static final Translation TRANSLATION = new Translation();
  private static final AtomicInteger NEXT = new AtomicInteger();

  static {
    for (int page = 0; page < PAGES; page++) {
      TRANSLATION.prepare(page);
    }
  }

  private final MemorySegment memory = MemorySegment.ofArray(new long[2]);
  private final int first = NEXT.getAndAdd(2) & (PAGES - 1);

  /** A frame without a page. */
  public OpenStays() {
    TRANSLATION.remove(first);
    TRANSLATION.remove(first + 1);
    write(BEFORE);
  }

  /** A stay in the frame, of the first page or the second, that nobody knows yet. */
  public Stay newStay(int page) {
    return new Stay(first + page, FRAME, memory);
  }

  /** Enters a stay; false if another was there. */
  public boolean install(Stay stay) {
    return TRANSLATION.install(stay);
  }

  /** Takes a stay out. */
  public void remove(Stay stay) {
    TRANSLATION.remove(stay.pageId());
  }

  /** The stay of the first page or the second. */
  public @Nullable Stay stayOf(int page) {
    return TRANSLATION.stayOf(first + page);
  }

  /** What the translation says of the frame of a page. */
  public int frameOf(int page) {
    return TRANSLATION.frameOf(first + page);
  }

  /** Whether a stay says of itself what this one's page and frame are. */
  public boolean isOf(Stay stay, int page) {
    return stay.pageId() == first + page && stay.frame() == FRAME && stay.page().equals(memory);
  }

  /** What a page that is brought in brings: both words. */
  public void write(int content) {
    memory.set(ValueLayout.JAVA_LONG, 0, content);
    memory.set(ValueLayout.JAVA_LONG, Long.BYTES, content);
  }

  /** Both words of a stay's page, as 10 * second + first. */
  public static int read(Stay stay) {
    long second = stay.page().get(ValueLayout.JAVA_LONG, Long.BYTES);
    long first = stay.page().get(ValueLayout.JAVA_LONG, 0);
    return (int) (10 * second + first);
  }
}

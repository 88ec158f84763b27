package org.revenantdb.engine.buffer;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.NullMarked;
import org.jspecify.annotations.Nullable;

/**
 * Gives the jcstress tests access to the package-private translation: one frame of a pool, two
 * pages that may be in it, and their entries. The steps are those of {@code FrameClaims.enter},
 * {@code leave} and {@code release}, in their order, without files, clock and the list of free
 * frames.
 *
 * <p>All instances share one translation, because it is too large for one each. So each frame has
 * two page ids of its own in it, which are used again after a million.
 */
@NullMarked
public final class OpenStays {
  /** The content of the frame, in both words, before a page of the test is in it. */
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

  /** A stay in the frame, of the first page or the second, that no other thread knows yet. */
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

  /** The frame of a page according to the translation. */
  public int frameOf(int page) {
    return TRANSLATION.frameOf(first + page);
  }

  /** Whether a stay has the page and frame of this one. */
  public boolean isOf(Stay stay, int page) {
    return stay.pageId() == first + page && stay.frame() == FRAME && stay.page().equals(memory);
  }

  /** Loads a page: writes both words. */
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

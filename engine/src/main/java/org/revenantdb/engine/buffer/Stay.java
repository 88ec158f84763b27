package org.revenantdb.engine.buffer;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.ConstantBootstraps;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.revenantdb.latch.HybridLatch;

/**
 * The stay of a page in a frame, from when it is brought in to when it is evicted, with the latch
 * of the page for that time.
 *
 * <p>Page and frame never change. When the page is evicted, the latch is marked obsolete for good
 * under its exclusive mode. So bytes that an optimistic reader validates were this page, and a
 * thread that latches it and does not find it obsolete has this page.
 *
 * {@snippet :
 * Stay stay = pool.resident(pageId);
 * long stamp = stay.readOptimistic();
 * int x = Page.getInt(stay.page(), offset); // perhaps torn, perhaps another page's
 * if (stay.validate(stamp)) {
 *   use(x);
 * }
 * }
 */
public final class Stay extends HybridLatch {
  private static final int MAX_HEAT = 3;

  private static final VarHandle HEAT =
      ConstantBootstraps.fieldVarHandle(
          MethodHandles.lookup(), "heat", VarHandle.class, Stay.class, byte.class);

  private static final VarHandle HOLDER =
      ConstantBootstraps.fieldVarHandle(
          MethodHandles.lookup(), "holder", VarHandle.class, Stay.class, long.class);

  private static final long NONE = 0;

  private final int pageId;
  private final int frame;
  private final MemorySegment page;

  private final boolean forScan;

  @SuppressWarnings("UnusedVariable") // through HEAT
  private byte heat;

  /**
   * Id of the thread that has fixed the page for changing it, {@link #NONE} if there is none.
   *
   * <p>The holder writes its own id after it has acquired the latch, and clears it before it
   * releases. A thread looks for its own id: it sees at least its own last write, and no other
   * thread writes that id. So {@link #isHeldByCaller} is exact without a fence. Ids of other
   * threads have no meaning.
   */
  @SuppressWarnings("UnusedVariable") // through HOLDER
  private long holder;

  /** Read and written under the latch; or read optimistically. */
  private boolean freed;

  /**
   * Whether the log has a FORMAT of the page at or above the first LSN of its frame. Set under the
   * exclusive latch, cleared under any latch by the page writer. So the page writer, which may look
   * without the latch, can only see too early a false.
   */
  private boolean formatted;

  /** Whether the page is known to be fit for changes; under the exclusive latch. */
  private boolean fit;

  /**
   * Whether the page has arrived. A reader of an old value only reports a wrong reason for its
   * wait.
   */
  private volatile boolean arrived;

  /** For {@link Clock}. A reader of an old value treats the page as it was a moment ago. */
  private volatile boolean onProbation;

  Stay(int pageId, int frame, MemorySegment page) {
    this(pageId, frame, page, /* forScan= */ false);
  }

  Stay(int pageId, int frame, MemorySegment page, boolean forScan) {
    this.pageId = pageId;
    this.frame = frame;
    this.page = page;
    this.forScan = forScan;
  }

  /** The page id. */
  public int pageId() {
    return pageId;
  }

  /**
   * Returns the frame's memory.
   *
   * @return 8192 bytes; valid under the latch, or after validation
   */
  public MemorySegment page() {
    return page;
  }

  /**
   * Returns the frame of the page.
   *
   * @return the frame's number
   */
  public int frame() {
    return frame;
  }

  /**
   * Returns whether the page was freed and not formatted since: its bytes are unchanged, but no
   * page leads to it. Under the latch, or to be validated.
   *
   * @return true from {@link BufferPool#markFreed} on, until it is used again
   */
  public boolean isFreed() {
    return freed;
  }

  void setFreed(boolean is) {
    freed = is;
  }

  /**
   * Returns whether a restart would build the page from its FORMAT, as long as what is dirty now is
   * not in the file.
   */
  boolean isFormatted() {
    return formatted;
  }

  void setFormatted(boolean is) {
    formatted = is;
  }

  /** Notes that the calling thread holds the page for a change; under the exclusive latch. */
  void setHeldByCaller() {
    HOLDER.setOpaque(this, Thread.currentThread().threadId());
  }

  /** Notes that the calling thread is about to release the exclusive latch. */
  void clearHolder() {
    HOLDER.setOpaque(this, NONE);
  }

  /** Whether the calling thread holds the page for a change, and would wait for itself. */
  boolean isHeldByCaller() {
    return (long) HOLDER.getOpaque(this) == Thread.currentThread().threadId();
  }

  /** Whether the page was created by the engine, or checked before a change. */
  boolean isFit() {
    return fit;
  }

  void setFit() {
    fit = true;
  }

  /**
   * Notes a use of the page. Two concurrent uses may count as one; a page used that often is warm
   * anyway.
   */
  void warm() {
    byte now = (byte) HEAT.getOpaque(this);
    if (now < MAX_HEAT) {
      HEAT.setOpaque(this, (byte) (now + 1));
    }
  }

  /** Reduces the heat by one; false if it was cold. */
  boolean cool() {
    byte now = (byte) HEAT.getOpaque(this);
    if (now == 0) {
      return false;
    }
    HEAT.setOpaque(this, (byte) (now - 1));
    return true;
  }

  boolean isCold() {
    return (byte) HEAT.getOpaque(this) == 0;
  }

  void setCold() {
    HEAT.setOpaque(this, (byte) 0);
  }

  void setHot() {
    HEAT.setOpaque(this, (byte) MAX_HEAT);
  }

  /** Whether a scan brought the page. */
  boolean isForScan() {
    return forScan;
  }

  /** Whether the page is there: it was read or created. */
  boolean hasArrived() {
    return arrived;
  }

  void setArrived() {
    arrived = true;
  }

  boolean isOnProbation() {
    return onProbation;
  }

  void setOnProbation(boolean is) {
    onProbation = is;
  }

  @Override
  public String toString() {
    return "page "
        + Integer.toUnsignedString(pageId)
        + " in frame "
        + frame
        + ": "
        + super.toString();
  }
}

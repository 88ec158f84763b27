package org.revenantdb.engine.buffer;

import org.revenantdb.engine.page.Page;
import org.revenantdb.latch.Tally;

/**
 * The counters of a pool.
 *
 * <p>It owns the counters of fixing, loading and claiming; the classes that do this work raise
 * them. The clock and the page writer have their own counters.
 *
 * <p>Threads: any, several at once; no latch is acquired. The numbers belong to about the same
 * time, not to one moment: pages may come, change and be evicted while they are read.
 */
final class PoolCounters {
  /** Requested pages that were there, by class; without optimistic descents. */
  final Tally[] hits = PageClasses.counters();

  /** Optimistic descents by number of pages: all but the last are inner pages. */
  final Tally[] descents = PageClasses.counters(BufferPool.MAX_LEVELS + 1);

  /** Pages that were read on request, by class. */
  final Tally[] misses = PageClasses.counters();

  /** Pages whose bytes were read, on request or ahead, good or not. */
  final Tally pagesRead = new Tally();

  /** Pages that were read ahead and good. */
  final Tally pagesAhead = new Tally();

  /** Waits for a frame. */
  final Tally frameWaits = new Tally();

  /** How often pages were asked for and there: a measure of how busy callers are. */
  long uses() {
    long uses = 0;
    for (Tally one : hits) {
      uses += one.sum();
    }
    for (Tally one : descents) {
      uses += one.sum();
    }
    return uses;
  }

  /**
   * Returns the present numbers.
   *
   * @param contents whether to examine every frame; otherwise resident and dirty pages are 0
   */
  BufferStatistics statistics(Frames frames, Clock clock, PageWriter writer, boolean contents) {
    PageClassCounts[] counts = countsByClass(frames, clock, contents);
    PageClassCounts all = new PageClassCounts(0, 0, 0, 0, 0);
    for (PageClassCounts one : counts) {
      all = all.plus(one);
    }
    return new BufferStatistics(
        frames.capacity(),
        frames.used(),
        writer.dirty(),
        all.hits(),
        all.misses(),
        all.evictions(),
        pagesRead.sum(),
        writer.pagesWritten(),
        writer.batches(),
        frameWaits.sum(),
        pagesAhead.sum(),
        counts[PageClasses.LEAF],
        counts[PageClasses.INNER],
        counts[PageClasses.OVERFLOW],
        counts[PageClasses.MAP],
        counts[PageClasses.OTHER]);
  }

  /** Counts the contents of every frame, because they are not counted while they change. */
  private PageClassCounts[] countsByClass(Frames frames, Clock clock, boolean contents) {
    long[] resident = new long[PageClasses.COUNT];
    long[] dirty = new long[PageClasses.COUNT];
    int used = contents ? frames.used() : 0;
    for (int frame = 0; frame < used; frame++) {
      Stay stay = frames.stayVolatile(frame);
      if (stay != null) {
        int pageClass = PageClasses.of(Page.type(stay.page()));
        resident[pageClass]++;
        dirty[pageClass] += frames.isDirty(frame) ? 1 : 0;
      }
    }
    long[] found = new long[PageClasses.COUNT];
    for (int levels = 1; levels <= BufferPool.MAX_LEVELS; levels++) {
      long ended = descents[levels].sum();
      found[PageClasses.LEAF] += ended;
      found[PageClasses.INNER] += ended * (levels - 1);
    }
    PageClassCounts[] counts = new PageClassCounts[PageClasses.COUNT];
    for (int i = 0; i < counts.length; i++) {
      counts[i] =
          new PageClassCounts(
              found[i] + hits[i].sum(), misses[i].sum(), clock.evictions(i), resident[i], dirty[i]);
    }
    return counts;
  }
}

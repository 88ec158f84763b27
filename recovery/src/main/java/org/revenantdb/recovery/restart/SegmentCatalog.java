package org.revenantdb.recovery.restart;

import java.util.NavigableSet;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.revenantdb.recovery.format.SegmentLayout;
import org.revenantdb.recovery.segment.SegmentDirectory;
import org.revenantdb.recovery.segment.SegmentHeader;
import org.revenantdb.recovery.segment.UnwrittenLog;

/**
 * The segments as a restart finds them: which files there are, and what their headers say. A file
 * without a good header of its own number is no segment of any life.
 */
final class SegmentCatalog {
  private final SegmentDirectory directory;
  private final NavigableSet<Long> present;
  private final TreeMap<Long, SegmentHeader> headers = new TreeMap<>();

  /** What follows the last segment; null if nothing does. Read by the threads that redo pages. */
  private volatile @Nullable UnwrittenLog unwritten;

  SegmentCatalog(SegmentDirectory directory) {
    this.directory = directory;
    present = directory.list();
    for (long number : present) {
      @Nullable SegmentHeader header = directory.header(number);
      if (header != null) {
        headers.put(number, header);
      }
    }
    refuseStrays();
  }

  /**
   * A free file is renamed before its header is written, never farther ahead of the segments that
   * have one.
   */
  private void refuseStrays() {
    long most = highest() + SegmentLayout.mostAhead(directory.segmentSize());
    for (long number : present.tailSet(most, /* inclusive= */ false)) {
      throw directory.stray(
          number, "the highest segment with a header is number " + highest() + ", and it has none");
    }
  }

  /** The highest number of a segment that has a header of its own; 0 if there is none. */
  long highest() {
    return headers.isEmpty() ? 0 : headers.lastKey();
  }

  /** Files that were renamed to become segments, and have no header yet: nobody reads them. */
  NavigableSet<Long> withoutHeader() {
    NavigableSet<Long> without = new TreeSet<>(present);
    without.removeAll(headers.keySet());
    return without;
  }

  SegmentDirectory directory() {
    return directory;
  }

  NavigableSet<Long> present() {
    return present;
  }

  @Nullable SegmentHeader header(long number) {
    return headers.get(number);
  }

  /** What was published by the last life and is in no segment. */
  @Nullable UnwrittenLog unwritten() {
    return unwritten;
  }

  /** Sets what follows the last segment; null when the segments have it. */
  void unwritten(@Nullable UnwrittenLog newUnwritten) {
    unwritten = newUnwritten;
  }

  /** A segment was made, or made anew. */
  void made(SegmentHeader header) {
    present.add(header.number());
    headers.put(header.number(), header);
  }

  /** The first LSN of a life, 0 if its first segment is not there. */
  long firstLsnOf(int life) {
    for (SegmentHeader header : headers.values()) {
      if (header.life() == life && header.firstLsn() != 0) {
        return header.firstLsn();
      }
    }
    return 0;
  }

  /** The life that writes in a segment, 0 if it is none. */
  int lifeOf(long number) {
    @Nullable SegmentHeader header = headers.get(number);
    return header == null ? 0 : header.life();
  }

  /**
   * Where restarts say that lives ended: seals, and the former ends in the headers of new lives.
   */
  LongLongMap namedEnds() {
    LongLongMap ends = new LongLongMap();
    for (SegmentHeader header : headers.values()) {
      if (header.sealedEnd() != 0) {
        ends.put(header.sealedEnd(), header.life());
      }
      if (header.firstLsn() != 0) {
        ends.put(header.formerEnd(), header.life());
      }
    }
    return ends;
  }

  /**
   * The first segment of the life that goes on where a life ended. Of several, all but the highest
   * came to nothing: their restart was killed before anything depended on them.
   */
  @Nullable SegmentHeader successor(long end, int life) {
    @Nullable SegmentHeader highest = null;
    for (SegmentHeader header : headers.values()) {
      if (header.firstLsn() >= end
          && header.formerEnd() == end
          && header.firstLsn() != 0
          && header.life() > life
          && (highest == null || header.life() > highest.life())) {
        highest = header;
      }
    }
    return highest;
  }

  /** The header of the highest life. */
  @Nullable SegmentHeader youngest() {
    @Nullable SegmentHeader youngest = null;
    for (SegmentHeader header : headers.values()) {
      if (youngest == null || header.life() > youngest.life()) {
        youngest = header;
      }
    }
    return youngest;
  }

  /** The highest durable LSN that a header names. */
  long highestDurable() {
    return headers.values().stream().mapToLong(SegmentHeader::durable).max().orElse(0);
  }

  /** The largest log buffer that was ever used: so far beyond a file LSNs may have been given. */
  int largestBuffer() {
    return headers.values().stream().mapToInt(SegmentHeader::buffer).max().orElse(0);
  }
}

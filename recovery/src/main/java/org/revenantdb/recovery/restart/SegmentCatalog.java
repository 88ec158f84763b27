package org.revenantdb.recovery.restart;

import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.revenantdb.recovery.file.DamagedFileException;
import org.revenantdb.recovery.format.SegmentLayout;
import org.revenantdb.recovery.segment.SegmentDirectory;
import org.revenantdb.recovery.segment.SegmentHeader;
import org.revenantdb.recovery.segment.SegmentMap;
import org.revenantdb.recovery.segment.SegmentPlace;
import org.revenantdb.recovery.segment.UnwrittenLog;

/**
 * The segments as a restart finds them: which files there are, and what their headers say. A file
 * without a good header of its own position is no segment of any life.
 *
 * <p>Threads: one makes it, and adds what the seal of a tail makes; any may read it meanwhile.
 */
final class SegmentCatalog {
  private final SegmentDirectory directory;
  private volatile SegmentMap present;

  /** Those that have a header of their own. No two of them have a position in common. */
  private volatile SegmentMap segments;

  private volatile NavigableMap<Long, SegmentHeader> headers;

  /**
   * What the ring of the last life has behind the segments; null if there is nothing. It stays when
   * segments have been made of it: a file that was opened before is not the one that has it.
   */
  private volatile @Nullable UnwrittenLog unwritten;

  SegmentCatalog(SegmentDirectory directory) {
    this.directory = directory;
    present = directory.list();
    segments = new SegmentMap();
    headers = new TreeMap<>();
    for (SegmentPlace place : present) {
      @Nullable SegmentHeader header = directory.header(place);
      if (header != null) {
        headers.put(place.begin(), header);
        segments.add(place);
      }
    }
    refuseOverlaps();
    refuseStrays();
  }

  /**
   * A life begins behind all segments there are, and each of its segments behind the one before.
   */
  private void refuseOverlaps() {
    @Nullable SegmentPlace before = null;
    for (SegmentPlace place : segments) {
      if (before != null && before.end() > place.begin()) {
        throw new DamagedFileException(
            directory.file(place.begin()),
            SegmentLayout.BEGIN,
            "the log segment begins at position "
                + place.begin()
                + ", but "
                + directory.file(before.begin()).getFileName()
                + " reaches up to "
                + before.end());
      }
      before = place;
    }
  }

  /**
   * A free file is renamed before its header is written, never farther ahead of the segments that
   * have one.
   */
  private void refuseStrays() {
    long most = highestEnd() + SegmentLayout.mostAhead(directory.segmentSize());
    for (SegmentPlace place : present.beginningIn(most + 1, Long.MAX_VALUE)) {
      throw directory.stray(
          place.begin(),
          "the segments that have a header end at position "
              + highestEnd()
              + ", and this one has none");
    }
  }

  /** Where the highest segment ends that has a header of its own. */
  long highestEnd() {
    return headers.isEmpty()
        ? SegmentLayout.FIRST_BEGIN
        : headers.lastEntry().getValue().place().end();
  }

  /** Files that were renamed to segments and have no header yet. They are not read. */
  List<Long> withoutHeader() {
    List<Long> without = new ArrayList<>();
    for (SegmentPlace place : present) {
      if (!headers.containsKey(place.begin())) {
        without.add(place.begin());
      }
    }
    return without;
  }

  SegmentDirectory directory() {
    return directory;
  }

  /** All files, those without a header of their own included. */
  SegmentMap present() {
    return present;
  }

  /** The segment that holds a position; null if none with a header of its own does. */
  @Nullable SegmentPlace at(long lsn) {
    return segments.at(lsn);
  }

  /** The segment of a life that holds a position. */
  @Nullable SegmentPlace at(long lsn, int life) {
    @Nullable SegmentPlace place = segments.at(lsn);
    return place != null && lifeAt(lsn) == life ? place : null;
  }

  /** The file that holds a position: a segment, or one without a header of its own. */
  @Nullable SegmentPlace fileAt(long lsn) {
    @Nullable SegmentPlace place = segments.at(lsn);
    return place != null ? place : present.at(lsn);
  }

  /** What was published by the last life and was in no segment when that life ended. */
  @Nullable UnwrittenLog unwritten() {
    return unwritten;
  }

  /** Sets the part of the ring behind the segments; null when it is no longer read. */
  void unwritten(@Nullable UnwrittenLog newUnwritten) {
    unwritten = newUnwritten;
  }

  /** The segments that {@link TailSeal} has made. Others may be reading meanwhile. */
  void made(List<SegmentHeader> made) {
    if (!made.isEmpty()) {
      NavigableMap<Long, SegmentHeader> newHeaders = new TreeMap<>(headers);
      SegmentMap newSegments = new SegmentMap(segments);
      SegmentMap newPresent = new SegmentMap(present);
      for (SegmentHeader header : made) {
        newHeaders.put(header.begin(), header);
        newSegments.add(header.place());
        newPresent.add(header.place());
      }
      headers = newHeaders; // first: a segment that is found has a header
      segments = newSegments;
      present = newPresent;
    }
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

  /**
   * The segments that hold a range of positions, as far as they are there.
   *
   * @param from the first position
   * @param to the position behind the last one
   */
  Iterable<SegmentPlace> holding(long from, long to) {
    @Nullable SegmentPlace first = segments.at(from);
    return segments.beginningIn(first == null ? from : first.begin(), to);
  }

  /**
   * Whether the log from one position to another is there, as far as can be told. A gap between two
   * lives is no hole. A position at which a segment ends is there: the next one may not be made
   * yet.
   *
   * @return false only if a segment is certainly missing
   */
  boolean isWhole(long from, long to) {
    if (segments.at(from) == null && segments.at(from - 1) == null) {
      return false;
    }
    long end = from;
    for (SegmentPlace place : holding(from, to)) {
      SegmentHeader header = headers.get(place.begin());
      boolean beginsLife = header != null && header.firstLsn() != 0 && header.formerEnd() <= end;
      if (place.begin() > end && !beginsLife) {
        return false;
      }
      end = place.end();
    }
    return true;
  }

  /**
   * Where the segment begins, or began, that holds a position. A missing one began where the one
   * before it ends, if the position is so near that no life can have begun in between. Else that is
   * not known: -1.
   */
  long beginAt(long lsn) {
    @Nullable SegmentPlace before = segments.upTo(lsn);
    if (before == null) {
      return lsn == SegmentLayout.FIRST_BEGIN ? lsn : -1;
    }
    if (before.holds(lsn)) {
      return before.begin();
    }
    return lsn - before.end() < largestBuffer() ? before.end() : -1;
  }

  /** Where all segments begin, in ascending order. */
  long[] begins() {
    long[] begins = new long[headers.size()];
    int count = 0;
    for (long begin : headers.keySet()) {
      begins[count++] = begin;
    }
    return begins;
  }

  /** The header of the segment that holds a position. */
  @Nullable SegmentHeader headerAt(long lsn) {
    @Nullable SegmentPlace place = segments.at(lsn);
    return place == null ? null : headers.get(place.begin());
  }

  /** The life that writes at a position, 0 if it is in no segment. */
  int lifeAt(long lsn) {
    @Nullable SegmentHeader header = headerAt(lsn);
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
    long highest = 0;
    for (SegmentHeader header : headers.values()) {
      highest = Math.max(highest, header.durable());
    }
    return highest;
  }

  /** The largest log buffer that was ever used: so far beyond a file LSNs may have been given. */
  int largestBuffer() {
    int largest = 0;
    for (SegmentHeader header : headers.values()) {
      largest = Math.max(largest, header.buffer());
    }
    return largest;
  }
}

package org.revenantdb.recovery.segment;

import java.util.Iterator;
import java.util.Map;
import java.util.NavigableMap;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Segments in the order of their first positions, with the sum of their sizes. A position is held
 * by the last segment that begins at or below it, if that segment reaches so far.
 *
 * <p>Threads: one thread that writes, or any number of threads that only read.
 */
public final class SegmentMap implements Iterable<SegmentPlace> {
  private final NavigableMap<Long, SegmentPlace> places = new TreeMap<>();
  private long bytes;

  /** Creates an empty map. */
  public SegmentMap() {}

  /**
   * Creates a copy.
   *
   * @param from the segments to copy
   */
  public SegmentMap(SegmentMap from) {
    places.putAll(from.places);
    bytes = from.bytes;
  }

  /**
   * Creates a map from sizes.
   *
   * @param sizes size of each, by its first position
   * @return the same segments
   */
  public static SegmentMap of(Map<Long, Integer> sizes) {
    SegmentMap map = new SegmentMap();
    for (Map.Entry<Long, Integer> size : sizes.entrySet()) {
      map.add(new SegmentPlace(size.getKey(), size.getValue()));
    }
    return map;
  }

  /**
   * Returns the sizes.
   *
   * @return size of each, by its first position
   */
  public SortedMap<Long, Integer> sizes() {
    SortedMap<Long, Integer> sizes = new TreeMap<>();
    for (SegmentPlace place : places.values()) {
      sizes.put(place.begin(), place.size());
    }
    return sizes;
  }

  /**
   * Adds a segment; one with the same first position is replaced.
   *
   * @param place the segment
   */
  public void add(SegmentPlace place) {
    @Nullable SegmentPlace before = places.put(place.begin(), place);
    bytes += place.size() - (before == null ? 0 : before.size());
  }

  /**
   * Removes a segment.
   *
   * @param begin its first position
   * @return the segment; null if none begins there
   */
  public @Nullable SegmentPlace remove(long begin) {
    @Nullable SegmentPlace removed = places.remove(begin);
    bytes -= removed == null ? 0 : removed.size();
    return removed;
  }

  /**
   * Returns the segment that begins at a position.
   *
   * @param begin the position
   * @return the segment, or null
   */
  public @Nullable SegmentPlace get(long begin) {
    return places.get(begin);
  }

  /**
   * Returns the segment that holds a position.
   *
   * @param lsn the position
   * @return the segment, or null
   */
  public @Nullable SegmentPlace at(long lsn) {
    @Nullable SegmentPlace before = upTo(lsn);
    return before != null && before.holds(lsn) ? before : null;
  }

  /**
   * Returns the last segment that begins at or below a position.
   *
   * @param lsn the position
   * @return the segment, or null
   */
  public @Nullable SegmentPlace upTo(long lsn) {
    Map.@Nullable Entry<Long, SegmentPlace> entry = places.floorEntry(lsn);
    return entry == null ? null : entry.getValue();
  }

  /**
   * Returns the segments that begin in a range of positions.
   *
   * @param from the first position
   * @param to the position behind the last one
   * @return a view of them, in order
   */
  public Iterable<SegmentPlace> beginningIn(long from, long to) {
    return from < to ? places.subMap(from, to).values() : new SegmentMap();
  }

  /**
   * Returns whether the map is empty.
   *
   * @return true without a segment
   */
  public boolean isEmpty() {
    return places.isEmpty();
  }

  /**
   * Returns the size of all segments together.
   *
   * @return the sum of the sizes
   */
  public long bytes() {
    return bytes;
  }

  @Override
  public Iterator<SegmentPlace> iterator() {
    return places.values().iterator();
  }
}

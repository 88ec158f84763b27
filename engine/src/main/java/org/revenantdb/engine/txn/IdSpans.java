package org.revenantdb.engine.txn;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.revenantdb.gc.SnapshotSet;

/**
 * The outcomes of transactions whose ids are older than the recent ones, by chunks of ids. There is
 * one value for all chunks that no snapshot distinguishes, and words where a snapshot may (R21).
 *
 * <p>Immutable, except for the words.
 */
final class IdSpans {
  /**
   * Adjacent chunks.
   *
   * @param first number of the first chunk
   * @param end number after that of the last chunk
   * @param words the words of the only chunk, if its ids are distinguished; else null
   * @param lowest the lowest commit of its ids, if there are no words; 0 if all are committed for
   *     all
   * @param highest the highest commit of its ids
   */
  record Span(long first, long end, @Nullable OutcomeWords words, long lowest, long highest) {
    /** A chunk whose ids are distinguished. */
    static Span of(long chunk, OutcomeWords words) {
      return new Span(chunk, chunk + 1, words, 0, 0);
    }

    /** A chunk whose ids have ended, and were committed between these two. */
    static Span ended(long chunk, long lowest, long highest) {
      return new Span(chunk, chunk + 1, null, lowest, highest);
    }

    private boolean isForAll() {
      return words == null && highest == 0;
    }

    private Span forAllUpTo(long horizon) {
      return words == null && highest <= horizon ? new Span(first, end, null, 0, 0) : this;
    }

    /** Both in one, or null if a snapshot distinguishes them. */
    private @Nullable Span with(Span next, SnapshotSet snapshots) {
      long low = Math.min(lowest, next.lowest);
      long high = Math.max(highest, next.highest);
      return words == null && next.words == null && !snapshots.needs(low, high)
          ? new Span(first, next.end, null, low, high)
          : null;
    }
  }

  static final IdSpans NONE = new IdSpans(List.of());

  /** In order, without gaps; everything before the first is committed for all. */
  private final List<Span> spans;

  private IdSpans(List<Span> spans) {
    this.spans = spans;
  }

  /**
   * Joins spans that no snapshot distinguishes.
   *
   * @param spans in order, without gaps; each that has no words has no snapshot between its lowest
   *     and its highest commit
   * @param horizon commits up to here are visible to all
   */
  static IdSpans join(List<Span> spans, SnapshotSet snapshots, long horizon) {
    List<Span> joined = new ArrayList<>();
    for (Span span : spans) {
      Span next = span.forAllUpTo(horizon);
      Span both = joined.isEmpty() ? null : joined.getLast().with(next, snapshots);
      if (both != null) {
        joined.set(joined.size() - 1, both);
      } else if (!joined.isEmpty() || !next.isForAll()) {
        joined.add(next);
      }
    }
    return joined.isEmpty() ? NONE : new IdSpans(List.copyOf(joined));
  }

  boolean isEmpty() {
    return spans.isEmpty();
  }

  List<Span> all() {
    return spans;
  }

  /** The span of a chunk; null if its ids are committed for all. */
  @Nullable Span of(long chunk) {
    int low = 0;
    int high = spans.size();
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (chunk < spans.get(middle).end()) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return low < spans.size() && chunk >= spans.get(low).first() ? spans.get(low) : null;
  }
}

package org.revenantdb.engine;

import java.util.function.Predicate;

/**
 * Options of a bulk load. Immutable.
 *
 * @param sortMemory most heap, in bytes, for the rows of {@link BulkLoad#addUnsorted}, from 1 MiB
 *     to 2^53; default a sixteenth of the maximum heap, at least 1 MiB and at most 64 MiB. More
 *     rows go to temporary files in the directory of the database. A load that receives no unsorted
 *     row does not use it
 * @param listener receives the progress, on the thread that uses the load: every 65,536 rows, when
 *     a temporary file was written, and at the end of {@link BulkLoad#finish}, before the commit.
 *     It returns whether the load continues. If it returns false or throws, the call throws {@link
 *     java.util.concurrent.CancellationException}, and nothing of the load is left. It must not use
 *     the load. The default does nothing
 */
public record BulkLoadOptions(long sortMemory, Predicate<BulkLoadProgress> listener) {
  private static final long LEAST = 1 << 20;
  private static final long MOST = 1L << 53;
  private static final long MOST_BY_DEFAULT = 64L << 20;
  private static final int SHARE_OF_THE_HEAP = 16;

  private static final BulkLoadOptions DEFAULTS =
      new BulkLoadOptions(
          Math.clamp(Runtime.getRuntime().maxMemory() / SHARE_OF_THE_HEAP, LEAST, MOST_BY_DEFAULT),
          progress -> true);

  /** Checks the options. */
  public BulkLoadOptions {
    OptionCheck.inRange(sortMemory, "sortMemory", LEAST, MOST, "");
    OptionCheck.present(listener, "listener", "a listener");
  }

  /**
   * Memory by the size of the heap, and a listener that does nothing.
   *
   * @return options
   */
  public static BulkLoadOptions defaults() {
    return DEFAULTS;
  }

  /**
   * The same with other memory.
   *
   * @param value most bytes of the heap for unsorted rows
   * @return options
   * @throws IllegalArgumentException if it is out of range
   */
  public BulkLoadOptions withSortMemory(long value) {
    return new BulkLoadOptions(value, listener);
  }

  /**
   * The same with another listener.
   *
   * @param value receives the progress, and returns whether the load continues
   * @return options
   */
  public BulkLoadOptions withListener(Predicate<BulkLoadProgress> value) {
    return new BulkLoadOptions(sortMemory, value);
  }
}

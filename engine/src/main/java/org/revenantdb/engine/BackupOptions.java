package org.revenantdb.engine;

import java.util.function.Predicate;

/**
 * Options of a backup. Immutable.
 *
 * @param bytesPerSecond most bytes of pages that are copied in a second; 0, the default, means no
 *     limit. The log is copied at the same time, as fast as it grows
 * @param listener receives the progress several times a second, and at the end, on the thread that
 *     has called {@link Database#backup}. It returns whether the backup continues. If it returns
 *     false, the call throws {@link java.util.concurrent.CancellationException}. The default does
 *     nothing
 */
public record BackupOptions(long bytesPerSecond, Predicate<BackupProgress> listener) {
  private static final BackupOptions DEFAULTS = new BackupOptions(0, progress -> true);

  /** Checks the options. */
  public BackupOptions {
    OptionCheck.inRange(bytesPerSecond, "bytesPerSecond", 0, Long.MAX_VALUE, "");
    OptionCheck.present(listener, "listener", "a listener");
  }

  /**
   * No limit, and a listener that does nothing.
   *
   * @return options
   */
  public static BackupOptions defaults() {
    return DEFAULTS;
  }

  /**
   * The same with another limit.
   *
   * @param value most bytes of pages in a second; 0 for no limit
   * @return options
   */
  public BackupOptions withBytesPerSecond(long value) {
    return new BackupOptions(value, listener);
  }

  /**
   * The same with another listener.
   *
   * @param value receives the progress, and returns whether the backup continues
   * @return options
   */
  public BackupOptions withListener(Predicate<BackupProgress> value) {
    return new BackupOptions(bytesPerSecond, value);
  }
}

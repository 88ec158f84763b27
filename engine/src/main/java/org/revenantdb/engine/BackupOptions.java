package org.revenantdb.engine;

import java.util.Locale;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Options of a backup. Immutable.
 *
 * @param bytesPerSecond most bytes of pages that are copied in a second; 0, the default, means no
 *     limit. The log is copied at the same time, as fast as it grows
 * @param listener receives the progress several times a second, and at the end, on the thread that
 *     has called {@link Database#backup}. It returns whether the backup continues. If it returns
 *     false, the call throws {@link java.util.concurrent.CancellationException}. The default does
 *     nothing
 * @param since the id of an earlier backup of this database, 32 hexadecimal digits; null, the
 *     default, for a whole backup. With it the backup is an increment: it has only the pages that
 *     have changed since
 */
public record BackupOptions(
    long bytesPerSecond, Predicate<BackupProgress> listener, @Nullable String since) {
  private static final Pattern ID = Pattern.compile("[0-9a-f]{32}");
  private static final String IDS = "the id of a backup, 32 hexadecimal digits";
  private static final int MOST_SHOWN = 40;

  private static final BackupOptions DEFAULTS =
      new BackupOptions(0, progress -> true, /* since= */ null);

  /** Checks the options. */
  public BackupOptions {
    OptionCheck.inRange(bytesPerSecond, "bytesPerSecond", 0, Long.MAX_VALUE, "");
    OptionCheck.present(listener, "listener", "a listener");
    if (since != null) {
      since = since.toLowerCase(Locale.ROOT);
      if (!ID.matcher(since).matches()) {
        throw OptionCheck.refused("since", IDS, shown(since), "use BackupReport.id");
      }
    }
  }

  /** It may come from anywhere. */
  private static String shown(String text) {
    String printable = text.replaceAll("[^ -~]", "?");
    return '"'
        + (printable.length() > MOST_SHOWN ? printable.substring(0, MOST_SHOWN) + "..." : printable)
        + '"';
  }

  /**
   * No limit, a listener that does nothing, and a whole backup.
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
    return new BackupOptions(value, listener, since);
  }

  /**
   * The same with another listener.
   *
   * @param value receives the progress, and returns whether the backup continues
   * @return options
   */
  public BackupOptions withListener(Predicate<BackupProgress> value) {
    return new BackupOptions(bytesPerSecond, value, since);
  }

  /**
   * The same, for an increment.
   *
   * @param value the id of an earlier backup of this database ({@link BackupReport#id}), which may
   *     be an increment itself
   * @return options
   * @throws IllegalArgumentException if it is not an id
   */
  public BackupOptions withSince(String value) {
    OptionCheck.present(value, "since", IDS);
    return new BackupOptions(bytesPerSecond, listener, value);
  }
}

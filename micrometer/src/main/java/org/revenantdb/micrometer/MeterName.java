package org.revenantdb.micrometer;

import java.util.Locale;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.Statistic;

/**
 * The name and unit of a meter.
 *
 * @param name as Micrometer writes names: lower case, separated by dots
 * @param unit null if it is a plain number
 * @param factor by which the statistic is multiplied to have that unit
 */
record MeterName(String name, @Nullable String unit, double factor) {
  private static final String PREFIX = "revenant.";

  private static final String NANOS = "Nanos";

  private static final String BYTES = "Bytes";

  /**
   * The name and unit of a statistic. Times are in seconds, as Micrometer's other meters have them.
   */
  static MeterName of(Statistic statistic) {
    String text = statistic.text();
    return switch (statistic.unit()) {
      case COUNT, ID -> new MeterName(dotted(text), null, 1);
      case PAGES -> named(text, "pages");
      case BYTES -> named(without(text, BYTES), "bytes");
      case LSN -> new MeterName(dotted(text), "bytes", 1); // positions in the log are bytes
      case NANOSECONDS -> new MeterName(dotted(without(text, NANOS) + "Time"), "seconds", 1e-9);
      case EPOCH_MILLISECONDS -> new MeterName(dotted(text), "seconds", 1e-3);
    };
  }

  /**
   * If a name contains its unit, the meter gets no unit. Otherwise most registries would write it
   * twice.
   */
  private static MeterName named(String text, String unit) {
    String name = dotted(text);
    return new MeterName(name, name.contains(unit) ? null : unit, 1);
  }

  /** Most registries write the unit after the name. */
  private static String without(String text, String unit) {
    return text.endsWith(unit) ? text.substring(0, text.length() - unit.length()) : text;
  }

  private static String dotted(String text) {
    return PREFIX + text.replaceAll("([A-Z])", ".$1").toLowerCase(Locale.ROOT);
  }
}

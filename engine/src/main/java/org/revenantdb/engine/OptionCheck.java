package org.revenantdb.engine;

import java.time.Duration;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Refuses options with illegal values. Every refusal has one form: the option, its legal range, the
 * value, and a cure if the range alone does not say what to do. A value that is missing throws
 * {@link NullPointerException}, any other illegal value {@link IllegalArgumentException}.
 *
 * <p>{@code OptionsTest} has a row for every option, and finds an option without a row.
 */
final class OptionCheck {
  /** The longest time that an option takes. */
  static final Duration YEAR = Duration.ofDays(365);

  private OptionCheck() {}

  /** An option that must not be null. */
  static void present(@Nullable Object value, String option, String range) {
    if (value == null) {
      throw new NullPointerException(text(option, range, "null", ""));
    }
  }

  /** An option that must be one of some constants. */
  static <E extends Enum<E>> void present(@Nullable E value, String option, Class<E> constants) {
    if (value == null) { // the text costs more than the check
      present(null, option, "one of " + Arrays.toString(constants.getEnumConstants()));
    }
  }

  /** A number with a least and a most value; the cure may be empty. */
  static void inRange(long value, String option, long least, long most, String cure) {
    if (value < least || value > most) {
      throw refused(option, "from " + least + " to " + most, value, cure);
    }
  }

  /** A time from zero to a longest one. */
  static void inRange(Duration value, String option, Duration most) {
    if (value == null || value.isNegative() || value.compareTo(most) > 0) {
      String range = "from PT0S to " + most;
      present(value, option, range);
      throw refused(option, range, value, "");
    }
  }

  /** Makes the exception. */
  static IllegalArgumentException refused(String option, String range, Object value, String cure) {
    return new IllegalArgumentException(text(option, range, value, cure));
  }

  static String text(String option, String range, Object value, String cure) {
    return option + " must be " + range + ", not " + value + (cure.isEmpty() ? "" : "; " + cure);
  }
}

package org.revenantdb.kafka.streams;

import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.BiFunction;
import org.apache.kafka.common.config.ConfigException;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.Durability;

/**
 * Properties of Kafka Streams that configure the database of an instance. They stand beside the
 * other properties of the application. Kafka Streams logs that it does not know them; that has no
 * effect. A property whose name begins with {@code revenant.} and is none of these is refused, with
 * a {@code ConfigException} that lists them.
 */
public final class RevenantConfig {
  /**
   * Memory for pages, off heap, which all stores of an instance share. Default: an eighth of the
   * memory of the machine or the container, from 64 MiB to 1 GiB.
   */
  public static final String POOL_BYTES = "revenant.pool.bytes";

  /**
   * {@code lazy}, the default, or {@code durable}. With {@code lazy} a power cut can undo the last
   * commits of the stores, and the changelog brings them back; the death of the process undoes
   * none. With {@code durable} each commit waits for the disk.
   */
  public static final String DURABILITY = "revenant.durability";

  /**
   * Longest time in milliseconds until a lazy commit is on the disk. Default 100; zero forces each
   * commit at once, in the background.
   */
  public static final String MAX_LAZY_DELAY_MS = "revenant.max.lazy.delay.ms";

  /**
   * Most bytes of log that a restart reads before the database is open. Default 268435456, which is
   * 256 MiB.
   */
  public static final String MAX_RECOVERY_LOG_BYTES = "revenant.max.recovery.log.bytes";

  /** How the names of all of them begin. */
  private static final String PREFIX = "revenant.";

  private static final Set<String> KNOWN =
      new TreeSet<>(Set.of(POOL_BYTES, DURABILITY, MAX_LAZY_DELAY_MS, MAX_RECOVERY_LOG_BYTES));

  /** Where the range begins in a message of the engine. */
  private static final String MUST = "must be ";

  private static final long LONGEST_DELAY_MS = Duration.ofDays(365).toMillis();

  private RevenantConfig() {}

  /**
   * Refuses properties that are not known, or whose values are not possible.
   *
   * @param properties of an application; those of others may be among them
   */
  static void check(Map<String, ?> properties) {
    options(properties);
  }

  /** Options of the database of an instance with these properties. */
  static DatabaseOptions options(Map<String, ?> properties) {
    demandKnown(properties);
    DatabaseOptions options = DatabaseOptions.defaults().withDurability(durability(properties));
    options = with(properties, POOL_BYTES, options, DatabaseOptions::withPoolBytes);
    options = with(properties, MAX_LAZY_DELAY_MS, options, RevenantConfig::withDelay);
    return with(properties, MAX_RECOVERY_LOG_BYTES, options, DatabaseOptions::withMaxRecoveryLog);
  }

  /** A misspelt name would have no effect, without a word. */
  private static void demandKnown(Map<String, ?> properties) {
    for (String name : properties.keySet()) {
      if (name.startsWith(PREFIX) && !KNOWN.contains(name)) {
        throw new ConfigException(
            name
                + " is not a property of the stores of RevenantDB. There are: "
                + String.join(", ", KNOWN));
      }
    }
  }

  private static DatabaseOptions withDelay(DatabaseOptions options, long millis) {
    if (millis < 0 || millis > LONGEST_DELAY_MS) {
      throw new IllegalArgumentException("must be from 0 to " + LONGEST_DELAY_MS);
    }
    return options.withMaxLazyDelay(Duration.ofMillis(millis));
  }

  /** Sets an option to a number, if there is one. */
  private static DatabaseOptions with(
      Map<String, ?> properties,
      String name,
      DatabaseOptions options,
      BiFunction<DatabaseOptions, Long, DatabaseOptions> set) {
    Object value = properties.get(name);
    if (value == null) {
      return options;
    }
    try {
      return set.apply(options, Long.valueOf(value.toString().trim()));
    } catch (NumberFormatException notOne) {
      throw new ConfigException(name, value, "must be a whole number, without a unit");
    } catch (IllegalArgumentException outOfRange) {
      throw new ConfigException(name, value, range(outOfRange));
    }
  }

  /** The legal values, without the name that the engine has for the option, and the value. */
  private static String range(IllegalArgumentException outOfRange) {
    String message = String.valueOf(outOfRange.getMessage());
    int from = Math.max(0, message.indexOf(MUST));
    int to = message.indexOf(", not ", from);
    return to < 0 ? message.substring(from) : message.substring(from, to);
  }

  private static Durability durability(Map<String, ?> properties) {
    Object value = properties.get(DURABILITY);
    if (value == null) {
      return Durability.LAZY;
    }
    return switch (value.toString().trim().toLowerCase(Locale.ROOT)) {
      case "lazy" -> Durability.LAZY;
      case "durable" -> Durability.DURABLE;
      default -> throw new ConfigException(DURABILITY, value, "must be lazy or durable");
    };
  }
}

package org.revenantdb.kafka.streams;

import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import org.apache.kafka.common.config.ConfigException;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.Durability;

/**
 * Properties of Kafka Streams that configure the database of an instance. They stand beside the
 * other properties of the application. Kafka Streams logs that it does not know them; that has no
 * effect.
 */
public final class RevenantConfig {
  /**
   * Memory for pages, off heap, which all stores of an instance share. Default 134217728, which is
   * 128 MiB.
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

  /**
   * Not the default of the engine, which can be large: a restoration takes a part of it as heap.
   */
  private static final long USUAL_POOL_BYTES = 128L << 20;

  private RevenantConfig() {}

  /** Options of the database of an instance with these properties. */
  static DatabaseOptions options(Map<String, ?> properties) {
    DatabaseOptions options = DatabaseOptions.defaults().withDurability(durability(properties));
    try {
      Long pool = number(properties, POOL_BYTES);
      options = options.withPoolBytes(pool == null ? USUAL_POOL_BYTES : pool);
      Long delay = number(properties, MAX_LAZY_DELAY_MS);
      if (delay != null) {
        options = options.withMaxLazyDelay(Duration.ofMillis(delay));
      }
      Long log = number(properties, MAX_RECOVERY_LOG_BYTES);
      if (log != null) {
        options = options.withMaxRecoveryLog(log);
      }
      return options;
    } catch (IllegalArgumentException refused) {
      ConfigException told = new ConfigException("revenant.*: " + refused.getMessage());
      told.initCause(refused);
      throw told;
    }
  }

  private static Durability durability(Map<String, ?> properties) {
    Object value = properties.get(DURABILITY);
    if (value == null) {
      return Durability.LAZY;
    }
    return switch (value.toString().toLowerCase(Locale.ROOT)) {
      case "lazy" -> Durability.LAZY;
      case "durable" -> Durability.DURABLE;
      default -> throw new ConfigException(DURABILITY, value, "use lazy or durable");
    };
  }

  private static @Nullable Long number(Map<String, ?> properties, String name) {
    Object value = properties.get(name);
    if (value == null) {
      return null;
    }
    try {
      return Long.valueOf(value.toString().trim());
    } catch (NumberFormatException notOne) {
      throw new ConfigException(name, value, "use a number");
    }
  }
}

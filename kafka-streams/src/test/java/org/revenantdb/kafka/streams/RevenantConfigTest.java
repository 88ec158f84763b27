package org.revenantdb.kafka.streams;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.time.Duration;
import java.util.Map;
import java.util.Properties;
import org.apache.kafka.common.config.ConfigException;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.kstream.Consumed;
import org.junit.jupiter.api.Test;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.Durability;

/** Properties of the stores, as a user writes them. */
class RevenantConfigTest {
  @Test
  void each_property_sets_its_option() {
    DatabaseOptions options =
        RevenantConfig.options(
            Map.of(
                "revenant.pool.bytes", " 4194304 ",
                "revenant.durability", " Durable ",
                "revenant.max.lazy.delay.ms", 0,
                "revenant.max.recovery.log.bytes", 64L << 20,
                "application.id", "app"));
    assertEquals(4 << 20, options.poolBytes());
    assertEquals(Durability.DURABLE, options.durability());
    assertEquals(Duration.ZERO, options.maxLazyDelay());
    assertEquals(64 << 20, options.maxRecoveryLog());
    DatabaseOptions defaults = RevenantConfig.options(Map.of());
    assertEquals(Durability.LAZY, defaults.durability());
    assertEquals(DatabaseOptions.defaults().poolBytes(), defaults.poolBytes());
    assertEquals(Duration.ofMillis(100), defaults.maxLazyDelay());
    assertEquals(256 << 20, defaults.maxRecoveryLog());
  }

  @Test
  void a_misspelt_property_is_refused_with_those_that_there_are() {
    String known =
        "There are: revenant.durability, revenant.max.lazy.delay.ms,"
            + " revenant.max.recovery.log.bytes, revenant.pool.bytes";
    for (String name : new String[] {"revenant.pool.byte", "revenant.durabilty", "revenant."}) {
      assertEquals(
          name + " is not a property of the stores of RevenantDB. " + known,
          refused(Map.of(name, "5")));
    }
  }

  @Test
  void a_value_that_is_not_possible_is_refused_with_its_property_and_the_range() {
    assertEquals(
        "Invalid value -1 for configuration revenant.pool.bytes:"
            + " must be from 2097152 to 8796093022208",
        refused(Map.of("revenant.pool.bytes", "-1")));
    assertEquals(
        "Invalid value 64MB for configuration revenant.pool.bytes:"
            + " must be a whole number, without a unit",
        refused(Map.of("revenant.pool.bytes", "64MB")));
    assertEquals(
        "Invalid value -1 for configuration revenant.max.lazy.delay.ms:"
            + " must be from 0 to 31536000000",
        refused(Map.of("revenant.max.lazy.delay.ms", "-1")));
    assertEquals(
        "Invalid value 9223372036854775807 for configuration revenant.max.lazy.delay.ms:"
            + " must be from 0 to 31536000000",
        refused(Map.of("revenant.max.lazy.delay.ms", Long.MAX_VALUE)));
    assertEquals(
        "Invalid value 5 for configuration revenant.max.recovery.log.bytes:"
            + " must be from 16777216 to 2305843009213693951",
        refused(Map.of("revenant.max.recovery.log.bytes", "5")));
    assertEquals(
        "Invalid value often for configuration revenant.durability: must be lazy or durable",
        refused(Map.of("revenant.durability", "often")));
  }

  private static String refused(Map<String, ?> properties) {
    return assertThrows(ConfigException.class, () -> RevenantConfig.options(properties))
        .getMessage();
  }

  /** Before there is a thread of the instance, which would fail with its first store. */
  @Test
  void the_constructor_of_an_instance_checks_them() {
    Properties properties = new Properties();
    properties.put(StreamsConfig.APPLICATION_ID_CONFIG, "app");
    properties.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, "localhost:1");
    properties.put(
        StreamsConfig.DSL_STORE_SUPPLIERS_CLASS_CONFIG, RevenantDslStoreSuppliers.class.getName());
    properties.put("revenant.durabilty", "durable");
    StreamsBuilder builder = new StreamsBuilder();
    builder.stream("words", Consumed.with(Serdes.String(), Serdes.String())).groupByKey().count();
    Topology topology = builder.build(properties);
    Throwable refused =
        assertThrows(RuntimeException.class, () -> new KafkaStreams(topology, properties).close());
    while (refused.getCause() != null) {
      refused = refused.getCause();
    }
    assertEquals(ConfigException.class, refused.getClass());
  }
}

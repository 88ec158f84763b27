package org.revenantdb.kafka.streams;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.streams.KafkaClientSupplier;
import org.apache.kafka.streams.StreamsConfig;
import org.junit.jupiter.api.Test;

/** What the clients of an application are configured with. */
class RevenantClientSupplierTest {
  private static final String WAIT = ConsumerConfig.FETCH_MAX_WAIT_MS_CONFIG;

  /** What each consumer was asked for with. */
  private final Map<String, Map<String, Object>> asked = new HashMap<>();

  private final RevenantClientSupplier clients =
      new RevenantClientSupplier(
          new KafkaClientSupplier() {
            @Override
            public Admin getAdmin(Map<String, Object> config) {
              throw new UnsupportedOperationException();
            }

            @Override
            public Producer<byte[], byte[]> getProducer(Map<String, Object> config) {
              throw new UnsupportedOperationException();
            }

            @Override
            public Consumer<byte[], byte[]> getConsumer(Map<String, Object> config) {
              asked.put("main", config);
              return null;
            }

            @Override
            public Consumer<byte[], byte[]> getRestoreConsumer(Map<String, Object> config) {
              asked.put("restore", config);
              return null;
            }

            @Override
            public Consumer<byte[], byte[]> getGlobalConsumer(Map<String, Object> config) {
              asked.put("global", config);
              return null;
            }
          });

  private static StreamsConfig config(String... more) {
    Map<String, Object> properties = new HashMap<>();
    properties.put(StreamsConfig.APPLICATION_ID_CONFIG, "app");
    properties.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, "localhost:1");
    for (int i = 0; i < more.length; i += 2) {
      properties.put(more[i], more[i + 1]);
    }
    return new StreamsConfig(properties);
  }

  @Test
  void a_restore_consumer_does_not_wait_half_a_second_at_the_end_of_a_changelog() {
    Map<String, Object> given = config().getRestoreConsumerConfigs("app-restore");
    Map<String, Object> before = new HashMap<>(given);
    clients.getRestoreConsumer(given);
    assertEquals(before, given);
    assertEquals(100, asked.get("restore").get(WAIT));
    before.put(WAIT, 100);
    assertEquals(before, asked.get("restore"));
  }

  @Test
  void the_wait_that_the_user_has_set_comes_first() {
    for (String prefix : List.of("restore.consumer.", "consumer.", "")) {
      clients.getRestoreConsumer(config(prefix + WAIT, "7").getRestoreConsumerConfigs("app"));
      assertEquals("7", asked.get("restore").get(WAIT).toString(), prefix);
    }
  }

  @Test
  void other_consumers_are_configured_as_the_user_did() {
    Map<String, Object> given = config().getGlobalConsumerConfigs("app-global");
    clients.getGlobalConsumer(given);
    clients.getConsumer(given);
    assertEquals(given, asked.get("global"));
    assertEquals(given, asked.get("main"));
  }
}
